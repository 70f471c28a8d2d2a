//! Output queue of the sender: data that the connection puts into segments.

use std::collections::VecDeque;

use units::Instant;

/// Data to be put into a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) seq: u64,
    /// Payload bytes.
    pub(crate) len: u32,
    pub(crate) fin: bool,
    /// Whether the segment has the push flag.
    pub(crate) push: bool,
    pub(crate) is_retransmission: bool,
    /// Whether the next data leaves in the same burst.
    pub(crate) more_in_burst: bool,
    /// Time at which it may leave the host.
    pub(crate) departure: Instant,
}

/// Queue of data to be put into segments.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) queue: VecDeque<Outgoing>,
    /// Time of the last segment with data.
    pub(super) lsndtime: Instant,
}

impl Output {
    pub(super) fn new() -> Self {
        Self {
            queue: VecDeque::with_capacity(64),
            lsndtime: Instant::ZERO,
        }
    }

    /// Adds data that is sent at `now`.
    pub(super) fn push(&mut self, now: Instant, outgoing: Outgoing) {
        self.queue.push_back(outgoing);
        self.lsndtime = now;
    }

    /// Sets or clears the push flag of the last segment.
    pub(super) fn set_push(&mut self, push: bool) {
        if let Some(last) = self.queue.back_mut() {
            last.push = push;
        }
    }

    /// Marks the segments from index `start` on as one burst.
    pub(super) fn mark_burst(&mut self, start: usize) {
        let last = self.queue.len().saturating_sub(1);
        for outgoing in self.queue.range_mut(start.min(last)..last) {
            outgoing.more_in_burst = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Outgoing, Output};
    use units::{Duration, Instant};

    #[test]
    fn a_burst_continues_up_to_its_last_segment() {
        let mut output = Output::new();
        let now = Instant::ZERO + Duration::from_millis(3);
        let piece = |seq| Outgoing {
            seq,
            len: 10,
            fin: false,
            push: false,
            is_retransmission: false,
            more_in_burst: false,
            departure: now,
        };
        output.mark_burst(0);
        for seq in [0, 10, 20, 30] {
            output.push(now, piece(seq));
        }
        output.mark_burst(1);
        output.set_push(true);
        let flags: Vec<_> = output
            .queue
            .iter()
            .map(|out| (out.more_in_burst, out.push))
            .collect();
        assert_eq!(
            flags,
            [(false, false), (true, false), (true, false), (false, true)]
        );
        assert_eq!(output.lsndtime, now);
    }
}
