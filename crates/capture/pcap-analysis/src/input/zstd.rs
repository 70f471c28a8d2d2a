//! Zstd: a sequence of frames as one stream of bytes (RFC 8878 §3.1).

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Reader of the content of all frames but skippable ones.
pub(super) struct Frames<R: BufRead> {
    input: R,
    decoder: FrameDecoder,
    /// Whether a frame has begun and not ended.
    is_in_frame: bool,
}

impl<R: BufRead> Frames<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            decoder: FrameDecoder::new(),
            is_in_frame: false,
        }
    }

    /// Begins the next frame; returns whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.input) {
                Ok(()) => {
                    self.is_in_frame = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(
                        &mut self.input.by_ref().take(length.into()),
                        &mut io::sink(),
                    )?;
                }
                Err(error) => return Err(invalid(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !out.is_empty() && (self.is_in_frame || self.begin()?) {
            while self.decoder.can_collect() < out.len() && !self.decoder.is_finished() {
                let strategy = BlockDecodingStrategy::UptoBytes(out.len());
                self.decoder
                    .decode_blocks(&mut self.input, strategy)
                    .map_err(invalid)?;
            }
            let read = self.decoder.read(out)?;
            if read > 0 {
                return Ok(read);
            }
            self.is_in_frame = false;
        }
        Ok(0)
    }
}

fn invalid(error: FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
