//! Counts of one direction, and the highest rate in it.

/// Divisor of the segments: if more than this part is captured after its ACK, the two directions have other clocks.
const LATE_SHARE: u64 = 10;

/// Counts of one direction.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) packets: u64,
    pub(super) segments: u64,
    pub(super) bytes: u64,
    pub(super) retransmissions: u64,
    pub(super) retransmitted_bytes: u64,
    pub(super) out_of_order: u64,
    /// Segments that were overtaken behind the capture.
    pub(super) overtaken: u64,
    pub(super) acks: u64,
    pub(super) duplicate_acks: u64,
    pub(super) zero_windows: u64,
    pub(super) keep_alives: u64,
    pub(super) resets: u64,
    pub(super) marked: u64,
    /// Segments that echo a mark of congestion.
    pub(super) congestion_echoes: u64,
    pub(super) missed: u64,
    pub(super) captured_late: u64,
    pub(super) timeouts: u64,
    /// Retransmissions of segments longer than any that had been acknowledged.
    pub(super) oversize: u64,
    /// ACKs of the other side with SACK blocks far from all data.
    pub(super) sack_outside: u32,
    /// Retransmissions since the last packet of the other side.
    pub(super) unanswered: u32,
}

impl Counts {
    /// Returns whether too many segments are captured after their ACK for times between the two directions to be valid.
    pub(super) fn is_captured_late(&self) -> bool {
        self.captured_late * LATE_SHARE > self.segments
    }
}

/// Highest number of bytes acknowledged in a second.
#[derive(Default)]
pub(super) struct PeakRate {
    second: u64,
    bytes: u64,
    pub(super) max: u64,
}

impl PeakRate {
    pub(super) fn add(&mut self, since_ns: u64, bytes: u64) {
        let second = since_ns / 1_000_000_000;
        if second != self.second {
            self.max = self.max.max(self.bytes);
            (self.second, self.bytes) = (second, 0);
        }
        self.bytes += bytes;
    }

    /// Returns the maximum, with the current second.
    pub(super) fn finish(&self) -> u64 {
        self.max.max(self.bytes)
    }
}
