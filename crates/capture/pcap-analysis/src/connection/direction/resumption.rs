//! Resumption after a silence: detects an outage before the capture by the sender's first segments after it.
//!
//! An outage looks like a pause of the application in a capture away from the sender: nothing comes. The first
//! segments after it differ. After a time-out the sender repeats one segment. It had passed the capture if
//! only its ACK was lost; otherwise it continues what had passed. An RTT later, F-RTO sends new data (RFC 5682 §2.1),
//! behind a gap of all lost data. After a pause, a burst of new data comes.

use super::SeenSegment;

/// Minimum length of a silence, ns: that of the shortest retransmission time-out of Linux.
const MIN_NS: u64 = 200_000_000;
/// Minimum number of segments in a gap behind the first segment; a single one may be lost at random.
const MIN_LOST: u64 = 2;

/// First segment after a silence, until others show why it was silent.
#[derive(Clone, Copy, Debug)]
struct First {
    at_ns: u64,
    /// Whether it had passed before, as a retransmission after a time-out.
    is_repeated: bool,
}

/// State of a sender with regard to silences.
#[derive(Default)]
pub(super) struct Resumption {
    last_ns: Option<u64>,
    first: Option<First>,
}

impl Resumption {
    /// Processes a segment with payload; `highest` is the end of what has passed, `full` the length of a full segment.
    /// Returns whether an outage caused the gap before it.
    pub(super) fn on_data(&mut self, segment: &SeenSegment, highest: u64, full: u64) -> bool {
        let before_ns = self.last_ns.replace(segment.at_ns);
        let silent_ns = before_ns.map_or(0, |before| segment.at_ns.saturating_sub(before));
        // Data that answer ACKs in a long queue come as late.
        let is_silent = silent_ns >= MIN_NS.max(2 * segment.near_usual_ns);
        let is_repeated = segment.start < highest;
        if segment.start > highest {
            let first = self.first.take();
            let lost = segment.start - highest;
            return lost >= MIN_LOST * full
                && first.is_some_and(|first| first.is_repeated || first.is_alone_before(segment));
        }
        if is_silent {
            self.first = Some(First {
                at_ns: segment.at_ns,
                is_repeated,
            });
        } else if !is_repeated {
            self.first = None;
        }
        false
    }
}

impl First {
    /// Returns whether the next segment comes an RTT later, after an ACK, and not in the same burst.
    fn is_alone_before(&self, next: &SeenSegment) -> bool {
        let passed = next.at_ns.saturating_sub(self.at_ns);
        next.near_ns > 0 && passed >= next.near_ns - next.near_ns / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const FULL: u64 = 1_000;

    /// Returns whether a gap is that of an outage: before it, a segment was sent again after a silence of 600 ms.
    fn is_outage(near_usual_ms: u64) -> bool {
        let mut state = Resumption::default();
        let mut pass = |at_ms: u64, number: u64, highest: u64| {
            let segment = SeenSegment {
                at_ns: at_ms * MS,
                start: number * FULL,
                end: (number + 1) * FULL,
                len: FULL as u32,
                is_fin: false,
                timestamp: None,
                identification: 0,
                near_ns: 40 * MS,
                near_usual_ns: near_usual_ms * MS,
            };
            state.on_data(&segment, highest * FULL, FULL)
        };
        for number in 0..10 {
            assert!(!pass(number, number, number));
        }
        assert!(!pass(610, 9, 10));
        pass(660, 15, 10)
    }

    #[test]
    fn a_silence_as_long_as_acks_queue_is_no_outage() {
        assert!(is_outage(50));
        assert!(!is_outage(400));
    }
}
