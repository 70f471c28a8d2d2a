//! Counts of one direction, and the highest rate in it.

/// Segments per segment captured after its ACK, below which the two directions were captured by different clocks.
const MIN_SEGMENTS_PER_LATE: u64 = 10;

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
    /// Packets with the mark of congestion (CE).
    pub(super) marked: u64,
    /// Segments that echo such a mark (ECE).
    pub(super) congestion_echoes: u64,
    /// Acknowledged bytes that were not captured.
    pub(super) missed: u64,
    /// Segments captured after their own ACK.
    pub(super) captured_late: u64,
    pub(super) timeouts: u64,
    /// Retransmissions of segments longer than any that had been acknowledged.
    pub(super) oversize_retransmissions: u64,
    /// ACKs of the other side with SACK blocks far from all data.
    pub(super) sack_outside: u32,
    /// Retransmissions since the last packet of the other side.
    pub(super) unanswered: u32,
}

impl Counts {
    /// Returns the bytes of payload that passed, again or not.
    pub(super) fn passed_bytes(&self) -> u64 {
        self.bytes + self.retransmitted_bytes
    }

    /// Returns whether too many segments are captured after their ACK for times between the two directions to be valid.
    pub(super) fn is_captured_late(&self) -> bool {
        self.captured_late * MIN_SEGMENTS_PER_LATE > self.segments
    }
}

/// Largest number of bytes acknowledged in a second.
#[derive(Default)]
pub(super) struct PeakRate {
    second: u64,
    bytes: u64,
    max: u64,
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

    /// Returns the maximum, the current second included.
    pub(super) fn bytes_per_s(&self) -> u64 {
        self.max.max(self.bytes)
    }
}
