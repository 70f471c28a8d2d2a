//! Decompression: the bytes of a capture, from a file or a pipe, plain, gzip or zstd.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::zstd::Frames;

/// Source of the bytes of a capture.
pub type Bytes = Box<dyn Read + Send>;

/// Magic number of a gzip member (RFC 1952 §2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Magic number of a zstd frame (RFC 8878 §3.1.1).
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bytes read from the system at a time.
const CHUNK: usize = 256 * 1024;

/// Opens and decompresses the capture at `path`; `-` is the standard input.
pub fn open(path: &Path) -> io::Result<Bytes> {
    if path.as_os_str() == "-" {
        return decompress(Box::new(io::stdin()));
    }
    decompress(Box::new(File::open(path)?))
}

/// Returns the decompressed bytes of `input`; its first bytes identify the format.
pub fn decompress(mut input: Bytes) -> io::Result<Bytes> {
    let mut first = Vec::with_capacity(ZSTD.len());
    input
        .by_ref()
        .take(ZSTD.len() as u64)
        .read_to_end(&mut first)?;
    let (is_gzip, is_zstd) = (first.starts_with(&GZIP), first.starts_with(&ZSTD));
    let whole = BufReader::with_capacity(CHUNK, Cursor::new(first).chain(input));
    Ok(if is_gzip {
        Box::new(MultiGzDecoder::new(whole))
    } else if is_zstd {
        Box::new(Frames::new(whole))
    } else {
        Box::new(whole)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    fn read(bytes: Vec<u8>) -> Vec<u8> {
        let mut out = Vec::new();
        let mut source = decompress(Box::new(Cursor::new(bytes))).unwrap();
        source.read_to_end(&mut out).unwrap();
        out
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn compressed_and_plain_bytes_are_the_same() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|i| (i % 251) as u8).collect();
        assert_eq!(read(bytes.clone()), bytes);
        assert_eq!(read(gzip(&bytes)), bytes);
        assert_eq!(
            read(compress_to_vec(&bytes[..], CompressionLevel::Fastest)),
            bytes
        );
    }

    #[test]
    fn members_and_frames_that_follow_each_other_are_read_on() {
        let two = |pack: &dyn Fn(&[u8]) -> Vec<u8>| [pack(b"one "), pack(b"two")].concat();
        assert_eq!(read(two(&gzip)), b"one two");
        let zstd = |bytes: &[u8]| compress_to_vec(bytes, CompressionLevel::Fastest);
        assert_eq!(read(two(&zstd)), b"one two");
    }

    #[test]
    fn fewer_bytes_than_a_magic_number_are_plain() {
        assert_eq!(read(vec![0x1f]), [0x1f]);
        assert_eq!(read(Vec::new()), b"");
    }
}
