//! Reordering on the path: its degree, and what SACK and D-SACK have reported.

/// Initial degree of reordering, segments (`tcp_reordering`, the three duplicate ACKs of RFC 5681).
pub(super) const INITIAL_REORDERING: u32 = 3;

/// Upper bound of the degree of reordering (`tcp_max_reordering`).
const MAX_REORDERING: u32 = 300;

/// Reordering that a sender has seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reordering {
    /// Degree of reordering, segments (`reordering`).
    pub(super) degree: u32,
    /// Times that reordering was seen.
    pub(super) reord_seen: u32,
    /// End of the highest segment that SACK has reported.
    pub(super) highest_sacked: u64,
    /// Segments that D-SACK has reported.
    pub(super) dsack_dups: u64,
}

impl Reordering {
    /// Returns the initial state of a sender whose first data byte is `first`.
    pub(super) fn new(degree: u32, first: u64) -> Self {
        Self {
            degree,
            reord_seen: 0,
            highest_sacked: first,
            dsack_dups: 0,
        }
    }

    /// Handles the delivery of a segment at `low` that was never retransmitted. It was reordered if a higher one was
    /// delivered earlier (the kernel's `tcp_check_sack_reordering`).
    pub(super) fn check_sack(&mut self, low: u64, mss: u32) {
        if low >= self.highest_sacked {
            return;
        }
        let distance = (self.highest_sacked - low).div_ceil(u64::from(mss)) as u32;
        if distance > self.degree {
            self.degree = distance.min(MAX_REORDERING);
        }
        self.reord_seen += 1;
    }

    /// Handles more duplicate ACKs than `packets_out` segments can have caused (the kernel's `tcp_check_reno_reordering`).
    pub(super) fn check_reno(&mut self, packets_out: u32) {
        self.degree = packets_out.min(MAX_REORDERING);
        self.reord_seen += 1;
    }

    /// Lowers the degree to its initial value, because a time-out shows that it was overestimated.
    pub(super) fn reset_degree(&mut self) {
        self.degree = self.degree.min(INITIAL_REORDERING);
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_REORDERING, Reordering};

    /// Linux `tcp_check_sack_reordering`: the degree is the distance in segments, which never falls by it.
    #[test]
    fn the_degree_is_the_longest_distance() {
        let mut reordering = Reordering::new(3, 1_000);
        reordering.highest_sacked = 2_000;
        reordering.check_sack(2_000, 100);
        assert_eq!((reordering.degree, reordering.reord_seen), (3, 0));
        for (low, degree, seen) in [(1_900, 3, 1), (1_510, 5, 2), (1_499, 6, 3), (1_900, 6, 4)] {
            reordering.check_sack(low, 100);
            assert_eq!((reordering.degree, reordering.reord_seen), (degree, seen));
        }
        reordering.check_sack(0, 1);
        assert_eq!(reordering.degree, MAX_REORDERING);
        reordering.reset_degree();
        assert_eq!(reordering.degree, 3);
    }

    /// Linux `tcp_check_reno_reordering`: duplicate ACKs set the degree, also to less.
    #[test]
    fn duplicate_acks_set_the_degree() {
        let mut reordering = Reordering::new(20, 0);
        for (segments, degree) in [(8, 8), (1_000, MAX_REORDERING)] {
            reordering.check_reno(segments);
            assert_eq!(reordering.degree, degree);
        }
        assert_eq!(reordering.reord_seen, 2);
    }
}
