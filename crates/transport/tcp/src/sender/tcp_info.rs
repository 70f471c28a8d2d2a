//! State of the sender for `TCP_INFO`, and what the handshake and the application set.

use cca::SendLimit;
use units::{Duration, Instant};

use super::Sender;
use crate::connection::Info;

impl Sender {
    /// Sets the negotiated values of the handshake. A segment takes at most half of the window, but at min_mss `min_mss` bytes
    /// (the kernel's `tcp_bound_to_half_wnd`).
    pub(crate) fn negotiate(&mut self, mss: u32, min_mss: u32, sack: bool, window: u64) {
        let half = if window > 536 { window / 2 } else { window };
        let mss = if half > 0 && u64::from(mss) > half {
            half.max(u64::from(min_mss)) as u32
        } else {
            mss
        };
        self.config.mss = mss;
        self.congestion.window.mss = mss;
        self.config.sack = sack;
    }

    /// Returns the largest window that the peer has offered, bytes.
    pub(crate) fn max_wnd(&self) -> u64 {
        self.seq.max_window
    }

    /// Changes the memory that the send buffer may take.
    pub(crate) fn set_send_buffer(&mut self, bytes: u64) {
        self.buffer.set_limit(bytes);
    }

    pub(crate) fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        self.config.user_timeout = timeout;
    }

    /// Fills in the state of the sender.
    pub(crate) fn fill_info(&self, now: Instant, info: &mut Info) {
        let times = self.chronograph.times(now);
        info.busy = times.busy();
        info.window_limited = times.get(SendLimit::ReceiveWindow);
        info.buffer_limited = times.get(SendLimit::SendBuffer);
        info.retransmits = self.timeouts.retransmits;
        info.probes = self.window_probes.probes_out;
        info.backoff = self.timeouts.backoff;
        info.sacked = self.board.sacked_out();
        info.lost = self.board.lost_out();
        info.retransmissions_out = self.board.retrans_out();
        info.since_data_sent = now.saturating_since(self.output.lsndtime);
        info.rtt_variation = self.rtt.variation();
        info.reordering = self.reordering.degree;
        info.reordering_seen = self.reordering.reord_seen;
        info.unsent = self.seq.unsent();
        info.unacknowledged = self.seq.write_seq - self.retained_from();
        info.duplicates_reported = self.reordering.dsack_dups;
    }
}
