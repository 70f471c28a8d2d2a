//! Reading by request: data in order waits, and the window closes and opens with the reads.

use units::Instant;

use super::Receiver;

impl Receiver {
    /// Makes data in order wait for [`Receiver::read`] from now on.
    pub(crate) fn set_manual_read(&mut self) {
        if self.copied_seq.is_none() {
            self.copied_seq =
                Some(self.first + self.delivered() - core::mem::take(&mut self.pending_read));
        }
    }

    /// Returns the bytes in order that wait for [`Receiver::read`].
    pub(crate) fn unread(&self) -> u64 {
        self.copied_seq
            .map_or(0, |copied_seq| self.first + self.delivered() - copied_seq)
    }

    /// Reads up to `bytes` of the data in order and returns how many were there.
    pub(crate) fn read(&mut self, now: Instant, bytes: u64) -> u64 {
        self.set_manual_read();
        let read_bytes = bytes.min(self.unread());
        if read_bytes == 0 {
            return 0;
        }
        let copied_seq = self.copied_seq.unwrap_or(self.first) + read_bytes;
        self.copied_seq = Some(copied_seq);
        self.after_read(now, copied_seq, read_bytes);
        read_bytes
    }
}
