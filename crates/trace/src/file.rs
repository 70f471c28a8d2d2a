//! Files of traces as texts, compressed by gzip or not.

use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// First bytes of a file that gzip compressed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Returns the text of a file; one that gzip compressed is unpacked.
///
/// # Errors
/// If the file cannot be read, is damaged, or is no text in UTF-8.
pub fn file_text(file: &Path) -> io::Result<String> {
    let bytes = std::fs::read(file)?;
    let bytes = if bytes.starts_with(&GZIP) {
        let mut unpacked = Vec::new();
        MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked)?;
        unpacked
    } else {
        bytes
    };
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "is no text in UTF-8"))
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
}
