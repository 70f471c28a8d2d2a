//! Text of trace files, which may be compressed by gzip.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// First bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Maximum length of a text, bytes: a few kilobytes of gzip can unpack to any length.
const MAX_LENGTH: u64 = 1 << 30;

/// Returns the text of a file, after unpacking if it is a gzip file.
///
/// # Errors
/// If the file cannot be read, is damaged, is no text in UTF-8, or is longer than 1 GiB.
pub fn file_text(file: &Path) -> io::Result<String> {
    text_of(File::open(file)?)
}

/// Returns the text in the bytes of `input`, as [`file_text`] does.
///
/// # Errors
/// Those of [`file_text`].
pub fn text_of(input: impl Read) -> io::Result<String> {
    text_up_to(input, MAX_LENGTH)
}

/// Returns the magic 64 KiB of the text of a file; empty if it cannot be read or is no text.
pub fn file_head(file: &Path) -> String {
    const LENGTH: u64 = 1 << 16;
    let Ok(input) = File::open(file) else {
        return String::new();
    };
    let Ok(mut bytes) = unpack(input, LENGTH) else {
        return String::new();
    };
    // A character may be cut at the end.
    if let Err(error) = core::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Returns the magic `max` bytes of `input`, counted after unpacking.
fn unpack(mut input: impl Read, max: u64) -> io::Result<Vec<u8>> {
    let mut magic = Vec::with_capacity(GZIP_MAGIC.len());
    input
        .by_ref()
        .take(GZIP_MAGIC.len() as u64)
        .read_to_end(&mut magic)?;
    let is_gzip = magic == GZIP_MAGIC;
    let file = Cursor::new(magic).chain(input);
    let mut bytes = Vec::new();
    if is_gzip {
        let decoder = MultiGzDecoder::new(BufReader::new(file));
        decoder.take(max).read_to_end(&mut bytes)?;
    } else {
        file.take(max).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn text_up_to(input: impl Read, max: u64) -> io::Result<String> {
    let bytes = unpack(input, max + 1)?;
    let reject = |message: String| Err(io::Error::new(io::ErrorKind::InvalidData, message));
    if bytes.len() as u64 > max {
        return reject(format!("is longer than {max} bytes of text"));
    }
    String::from_utf8(bytes).or_else(|_| reject("is no text in UTF-8".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn a_packed_file_has_the_text_of_the_plain_one() {
        let folder = std::env::temp_dir().join(format!("celltcp-trace-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (plain, packed) = (folder.join("a.csv"), folder.join("a.csv.gz"));
        std::fs::write(&plain, "time,Mbit/s\n0,5\n").unwrap();
        let mut encoder =
            GzEncoder::new(std::fs::File::create(&packed).unwrap(), Compression::fast());
        encoder.write_all(b"time,Mbit/s\n0,5\n").unwrap();
        encoder.finish().unwrap();
        assert_eq!(file_text(&packed).unwrap(), file_text(&plain).unwrap());
        std::fs::write(&packed, [0x1f, 0x8b, 1]).unwrap();
        assert!(file_text(&packed).is_err());
        std::fs::write(&plain, [0xff, 0xfe, 0x00]).unwrap();
        let error = file_text(&plain).unwrap_err().to_string();
        assert_eq!(error, "is no text in UTF-8");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_text_above_the_limit_is_rejected_however_small_its_file_is() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&vec![b'0'; 1_000_000]).unwrap();
        let packed = encoder.finish().unwrap();
        assert!(packed.len() < 10_000);
        let error = text_up_to(packed.as_slice(), 999_999).unwrap_err();
        assert_eq!(error.to_string(), "is longer than 999999 bytes of text");
        assert!(text_up_to(packed.as_slice(), 1_000_000).is_ok());
        assert!(text_up_to([b'0'; 11].as_slice(), 10).is_err());
    }
}
