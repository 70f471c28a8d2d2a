//! Capture: the packets that a host sends and receives, in a file for Wireshark.

use std::io;
use std::path::Path;

use measurement::SNAPLEN;
use net::HostId;
use packet::pcap::Writer;
use units::Instant;

use crate::background_file::BackgroundFile;

/// Writer of a capture at one host.
pub struct CaptureWriter {
    host: HostId,
    file: Writer<BackgroundFile>,
}

impl CaptureWriter {
    /// Creates the file of a capture at `host`.
    pub fn create(file: &Path, host: HostId) -> io::Result<Self> {
        let file = Writer::new(BackgroundFile::create(file)?, SNAPLEN)?;
        Ok(Self { host, file })
    }

    /// Adds a packet that `host` sends or receives, if that is the host of the capture.
    pub fn packet(&mut self, at: Instant, host: HostId, bytes: &[u8]) -> io::Result<()> {
        if host != self.host {
            return Ok(());
        }
        let captured = &bytes[..bytes.len().min(SNAPLEN as usize)];
        self.file.write(at, bytes.len() as u32, captured)
    }

    /// Ends the capture.
    pub fn finish(self) -> io::Result<()> {
        self.file.finish()?.finish()
    }
}
