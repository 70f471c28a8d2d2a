//! `/dev/celltcp`: message channel to the engine.

use std::fs::File;
use std::io::{self, Read, Write};

use kernel_protocol::{DEVICE, Message, Reply};

/// Longest reply, bytes.
const MAX_REPLY: usize = 64 * 1024;

/// The open device.
pub(crate) struct Device {
    file: File,
}

impl Device {
    pub(crate) fn open() -> io::Result<Self> {
        let file = File::options().read(true).write(true).open(DEVICE)?;
        Ok(Self { file })
    }

    /// Sends a message to the path.
    pub(crate) fn send(&mut self, message: &Message) -> io::Result<()> {
        self.file.write_all(&kernel_protocol::encode(message)?)
    }

    /// Sends a request to the path and returns the reply.
    pub(crate) fn request(&mut self, message: &Message) -> io::Result<Reply> {
        self.send(message)?;
        let mut reply = vec![0; MAX_REPLY];
        let length = self.file.read(&mut reply)?;
        kernel_protocol::decode(&reply[..length])
    }
}
