//! Send sequence variables (RFC 9293 §3.3.1): what is acknowledged, sent and written, and the window of the peer.

/// Sequence numbers of the sending half, and the window that the peer offers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendSequence {
    /// Oldest unacknowledged number.
    pub(crate) snd_una: u64,
    /// Next number to be sent.
    pub(crate) snd_nxt: u64,
    /// End of the data that the application has written, and of the FIN.
    pub(crate) write_seq: u64,
    pub(crate) fin_queued: bool,
    /// End of the last segment sent that was not full (`snd_sml`).
    snd_sml: u64,
    /// Window that the peer offers, bytes.
    pub(crate) snd_wnd: u64,
    /// Sequence number of the segment that set the window.
    snd_wl1: u64,
    /// Largest window that the peer has offered, bytes.
    pub(crate) max_window: u64,
}

impl SendSequence {
    /// Returns the variables before anything was sent; `first` is the first data byte.
    pub(crate) fn new(first: u64) -> Self {
        Self {
            snd_una: first,
            snd_nxt: first,
            write_seq: first,
            fin_queued: false,
            snd_sml: first,
            snd_wnd: 0,
            snd_wl1: 0,
            max_window: 0,
        }
    }

    /// Sets the window of the handshake.
    pub(crate) fn set_first_window(&mut self, window: u64) {
        self.snd_wnd = window;
        self.max_window = window;
    }

    /// Returns whether an ACK may change the window (the kernel's `tcp_may_update_window`). A smaller window counts only
    /// together with new data of either end.
    pub(crate) fn may_update_window(&self, ack: u64, seq: u64, window: u64) -> bool {
        ack > self.snd_una
            || seq > self.snd_wl1
            || (seq == self.snd_wl1 && (window > self.snd_wnd || window == 0))
    }

    /// Sets the window that the segment `seq` offers.
    pub(crate) fn update_window(&mut self, seq: u64, window: u64) {
        self.snd_wl1 = seq;
        self.snd_wnd = window;
        self.max_window = self.max_window.max(window);
    }

    /// Returns the end of the peer's window (`tcp_wnd_end`).
    pub(crate) fn wnd_end(&self) -> u64 {
        self.snd_una + self.snd_wnd
    }

    /// Returns the room in the peer's window, bytes.
    pub(crate) fn window_room(&self) -> u64 {
        self.wnd_end().saturating_sub(self.snd_nxt)
    }

    /// Returns the sequence numbers written and not sent.
    pub(crate) fn unsent(&self) -> u64 {
        self.write_seq - self.snd_nxt
    }

    /// Returns whether the application has written more than was sent.
    pub(crate) fn has_unsent(&self) -> bool {
        self.snd_nxt < self.write_seq
    }

    /// Returns the end of the next segment of up to `mss` bytes, with the FIN if it is the last one.
    pub(crate) fn next_end(&self, mss: u32) -> u64 {
        let fin = u64::from(self.fin_queued);
        let end = self.snd_nxt + u64::from(mss);
        if end + fin >= self.write_seq {
            self.write_seq
        } else {
            end
        }
    }

    /// Queues the FIN after the data written. Returns false if it is queued already.
    pub(crate) fn queue_fin(&mut self) -> bool {
        let is_new = !self.fin_queued;
        if is_new {
            self.fin_queued = true;
            self.write_seq += 1;
        }
        is_new
    }

    /// Returns whether the FIN was sent.
    pub(crate) fn fin_sent(&self) -> bool {
        self.fin_queued && self.snd_nxt == self.write_seq
    }

    /// Returns whether everything written, including the FIN, is acknowledged.
    pub(crate) fn all_acked(&self) -> bool {
        self.snd_una == self.write_seq
    }

    /// Notes that the last segment sent was not full (`tcp_minshall_update`).
    pub(crate) fn minshall_update(&mut self) {
        self.snd_sml = self.snd_nxt;
    }

    /// Returns whether a segment that was not full is unacknowledged.
    pub(crate) fn has_short_outstanding(&self) -> bool {
        self.snd_sml > self.snd_una
    }
}

#[cfg(test)]
mod tests {
    use super::SendSequence;

    /// Linux `tcp_may_update_window`: of segments with the same number only one with a larger or no window counts.
    #[test]
    fn a_smaller_window_counts_with_new_data_alone() {
        let mut seq = SendSequence::new(1_000);
        seq.set_first_window(500);
        seq.update_window(10, 400);
        assert!(!seq.may_update_window(1_000, 10, 300));
        assert!(!seq.may_update_window(1_000, 9, 500));
        assert!(seq.may_update_window(1_000, 10, 401));
        assert!(seq.may_update_window(1_000, 10, 0));
        assert!(seq.may_update_window(1_000, 11, 300));
        assert!(seq.may_update_window(1_001, 9, 300));
        assert_eq!((seq.wnd_end(), seq.max_window), (1_400, 500));
    }

    /// A receiver may withdraw its window (RFC 9293 §3.8.6): there is no room then, rather than a negative one.
    #[test]
    fn a_withdrawn_window_has_no_room() {
        let mut seq = SendSequence::new(1_000);
        seq.update_window(1, 300);
        seq.snd_nxt = 1_200;
        assert_eq!(seq.window_room(), 100);
        seq.update_window(2, 50);
        assert_eq!(seq.window_room(), 0);
    }

    /// The FIN takes a number (RFC 9293 §3.4), and leaves with the last segment.
    #[test]
    fn the_last_segment_takes_the_fin_along() {
        let mut seq = SendSequence::new(1_000);
        seq.write_seq = 1_150;
        assert_eq!(seq.next_end(100), 1_100);
        assert!(seq.queue_fin());
        assert!(!seq.queue_fin());
        assert_eq!(seq.unsent(), 151);
        seq.snd_nxt = seq.next_end(100);
        assert!(!seq.fin_sent());
        seq.snd_nxt = seq.next_end(100);
        assert_eq!(seq.snd_nxt, 1_151);
        assert!(seq.fin_sent() && !seq.all_acked() && !seq.has_unsent());
        seq.snd_una = 1_151;
        assert!(seq.all_acked());
    }

    /// Minshall's modification of Nagle's algorithm looks at segments that were not full.
    #[test]
    fn a_short_segment_is_outstanding_until_it_is_acknowledged() {
        let mut seq = SendSequence::new(1_000);
        seq.snd_nxt = 1_010;
        assert!(!seq.has_short_outstanding());
        seq.minshall_update();
        assert!(seq.has_short_outstanding());
        seq.snd_una = 1_010;
        assert!(!seq.has_short_outstanding());
    }
}
