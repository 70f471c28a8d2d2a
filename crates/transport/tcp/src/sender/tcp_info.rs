//! State of the sender for `TCP_INFO`, and what the handshake and the application set.

use cca::SendLimit;
use units::{Duration, Instant};

use super::Sender;
use crate::connection::Info;

impl Sender {
    /// Sets what the handshake has agreed on. A segment takes at most half of the window, but at least `least` bytes
    /// (the kernel's `tcp_bound_to_half_wnd`).
    pub(crate) fn negotiate(&mut self, mss: u32, least: u32, sack: bool, window: u64) {
        let half = if window > 536 { window / 2 } else { window };
        let mss = if half > 0 && u64::from(mss) > half {
            half.max(u64::from(least)) as u32
        } else {
            mss
        };
        self.config.mss = mss;
        self.congestion.window.mss = mss;
        self.config.sack = sack;
    }

    /// Returns the largest window that the other end has offered, bytes.
    pub(crate) fn max_wnd(&self) -> u64 {
        self.max_wnd
    }

    /// Changes the memory that the send buffer may take.
    pub(crate) fn set_send_buffer(&mut self, bytes: u64) {
        self.buffer.set_limit(bytes);
    }

    pub(crate) fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        self.config.user_timeout = timeout;
    }

    /// Fills in what the sender knows.
    pub(crate) fn fill_info(&self, now: Instant, info: &mut Info) {
        let times = self.chronograph.times(now);
        info.busy = times.busy();
        info.window_limited = times.get(SendLimit::ReceiveWindow);
        info.buffer_limited = times.get(SendLimit::SendBuffer);
        info.retransmits = self.retransmits;
        info.probes = self.probes;
        info.backoff = self.backoff;
        info.sacked = self.board.sacked_out();
        info.lost = self.board.lost_out();
        info.retransmissions_out = self.board.retrans_out();
        info.since_data_sent = now.saturating_since(self.last_sent);
        info.rtt_variation = self.rtt.variation();
        info.reordering = self.reordering;
        info.reordering_seen = self.reordering_seen;
        info.unsent = self.write_end - self.snd_nxt;
        info.unacknowledged = self.write_end - self.retained_from();
        info.duplicates_reported = self.duplicates_reported;
    }
}
