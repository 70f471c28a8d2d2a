//! Manual reading: an application that reads on request, and the window that closes and opens with it.

use units::Instant;

use super::Receiver;

impl Receiver {
    /// Ends the reading at once: from now on data in order waits for [`Receiver::read`].
    pub(crate) fn set_manual_read(&mut self) {
        if self.read_to.is_none() {
            self.read_to = Some(self.first + self.delivered() - core::mem::take(&mut self.waiting));
        }
    }

    /// Returns the bytes in order that wait for [`Receiver::read`].
    pub(crate) fn unread(&self) -> u64 {
        self.read_to
            .map_or(0, |read_to| self.first + self.delivered() - read_to)
    }

    /// Reads up to `bytes` of the data in order and returns how many were there. The peer hears of the room at
    /// once if it was waiting for it.
    pub(crate) fn read(&mut self, now: Instant, bytes: u64) -> u64 {
        self.set_manual_read();
        let read_bytes = bytes.min(self.unread());
        if read_bytes == 0 {
            return 0;
        }
        let read_to = self.read_to.unwrap_or(self.first) + read_bytes;
        self.read_to = Some(read_to);
        self.after_read(now, read_to, read_bytes);
        read_bytes
    }
}
