//! Capture file, whose error messages have its path.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// File of a capture, written in blocks.
#[derive(Debug)]
pub struct CaptureFile {
    out: BufWriter<File>,
    path: PathBuf,
}

impl CaptureFile {
    /// Creates the file, or replaces an existing one.
    pub fn create(path: &Path) -> io::Result<Self> {
        let created = File::create(path).map_err(|error| with_path(path, &error))?;
        Ok(Self {
            out: BufWriter::new(created),
            path: path.to_owned(),
        })
    }
}

fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl Write for CaptureFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        written.map_err(|error| with_path(&self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        flushed.map_err(|error| with_path(&self.path, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file() {
        let missing = Path::new("/nowhere/a.pcap");
        let error = CaptureFile::create(missing).unwrap_err();
        assert!(
            error.to_string().starts_with("/nowhere/a.pcap: "),
            "{error}"
        );
        let mut full = CaptureFile::create(Path::new("/dev/full")).unwrap();
        let error = full.write_all(&[0; 1 << 16]).unwrap_err();
        assert!(
            error.to_string().starts_with("/dev/full: No space left"),
            "{error}"
        );
    }
}
