//! Frames: messages as bytes, with their length in front.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longest frame that is accepted; a larger length shows that the stream is broken.
const MAX_FRAME: usize = 1 << 30;

/// Encodes a message.
pub fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    postcard::to_stdvec(message).map_err(io::Error::other)
}

/// Decodes a message.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    postcard::from_bytes(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Writes a message as a frame.
pub fn write_frame(out: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = encode(message)?;
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&bytes)?;
    out.flush()
}

/// Splits a stream, which arrives in chunks, into frames.
#[derive(Default, Debug)]
pub struct FrameReader {
    buffer: Vec<u8>,
}

impl FrameReader {
    /// Returns the next message, if all of it has arrived.
    pub fn next_message<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some((length, rest)) = self.buffer.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MAX_FRAME {
            return Err(io::Error::other(format!("a frame of {length} bytes")));
        }
        let Some(bytes) = rest.get(..length) else {
            return Ok(None);
        };
        let message = decode(bytes)?;
        self.buffer.drain(..4 + length);
        Ok(Some(message))
    }

    /// Reads the bytes that the stream has now; returns their number, zero at its end.
    pub fn fill(&mut self, from: &mut impl Read) -> io::Result<usize> {
        let mut chunk = [0; 64 * 1024];
        let count = from.read(&mut chunk)?;
        self.buffer.extend_from_slice(&chunk[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use cca::SwitchMode;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn messages_come_out_as_they_went_in(count in 1_usize..20, cut in 1_usize..50) {
            let sent: Vec<Message> = (0..count as u32)
                .map(|connection| Message::Switched {
                    connection,
                    to: "bbr".repeat(connection as usize),
                    mode: SwitchMode::Context,
                    cwnd: connection,
                })
                .collect();
            let mut stream = Vec::new();
            for message in &sent {
                write_frame(&mut stream, message).unwrap();
            }
            let (mut reader, mut got) = (FrameReader::default(), Vec::new());
            for mut piece in stream.chunks(cut) {
                reader.fill(&mut piece).unwrap();
                while let Some(message) = reader.next_message::<Message>().unwrap() {
                    got.push(message);
                }
            }
            prop_assert_eq!(got, sent);
        }
    }

    #[test]
    fn bytes_of_something_else_are_rejected() {
        assert!(decode::<Message>(&[250, 1, 2]).is_err());
        let mut reader = FrameReader::default();
        reader.fill(&mut [255_u8; 8].as_slice()).unwrap();
        assert!(reader.next_message::<Message>().is_err());
    }
}
