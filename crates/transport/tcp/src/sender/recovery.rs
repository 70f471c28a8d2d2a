//! State of a recovery or reduction: its end, the time of its first retransmission, F-RTO and CWR.

use units::Instant;

/// State of the current recovery or reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    /// Number whose acknowledgement ends it.
    pub(super) high_seq: u64,
    /// Time of its first retransmission, milliseconds.
    pub(super) retrans_stamp: Option<u64>,
    /// Whether F-RTO tests if the time-out was spurious.
    pub(super) frto: bool,
    /// Whether CWR has to be sent (`TCP_ECN_QUEUE_CWR`).
    cwr_queued: bool,
}

impl Recovery {
    /// Returns the state of a sender whose first data byte is `first`.
    pub(super) fn new(first: u64) -> Self {
        Self {
            high_seq: first,
            retrans_stamp: None,
            frto: false,
            cwr_queued: false,
        }
    }

    /// Starts a reduction of the window, until data up to `snd_nxt` is acknowledged; with `ecn` CWR is sent.
    pub(super) fn start_reduction(&mut self, snd_nxt: u64, ecn: bool) {
        self.high_seq = snd_nxt;
        self.cwr_queued = ecn;
    }

    /// Returns whether CWR must be sent (RFC 3168 §6.1.2): true once for each reduction.
    pub(super) fn take_cwr(&mut self) -> bool {
        core::mem::take(&mut self.cwr_queued)
    }

    /// Notes the time of a retransmission, if it is the first one.
    pub(super) fn stamp_retransmission(&mut self, now: Instant) {
        self.retrans_stamp.get_or_insert(now.as_nanos() / 1_000_000);
    }
}

#[cfg(test)]
mod tests {
    use super::Recovery;
    use units::{Duration, Instant};

    /// RFC 3168 §6.1.2: the first segment after a reduction has CWR, and no other.
    #[test]
    fn cwr_is_sent_once_per_reduction() {
        let mut recovery = Recovery::new(0);
        assert!(!recovery.take_cwr());
        recovery.start_reduction(100, true);
        assert!(recovery.take_cwr());
        assert!(!recovery.take_cwr());
        recovery.start_reduction(200, false);
        assert!(!recovery.take_cwr());
        assert_eq!(recovery.high_seq, 200);
    }

    /// RFC 3522 §3.2: the time of the first retransmission counts, in the ticks of the timestamps.
    #[test]
    fn the_first_retransmission_is_stamped() {
        let mut recovery = Recovery::new(0);
        let at = |micros| Instant::ZERO + Duration::from_micros(micros);
        recovery.stamp_retransmission(at(7_900));
        recovery.stamp_retransmission(at(9_000));
        assert_eq!(recovery.retrans_stamp, Some(7));
    }
}
