//! Output of the sender: data that waits to be put into segments.

use std::collections::VecDeque;

use units::Instant;

/// Data to be put into a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) seq: u64,
    /// Payload bytes.
    pub(crate) len: u32,
    pub(crate) fin: bool,
    /// Whether nothing follows for now.
    pub(crate) push: bool,
    /// Whether it was sent before.
    pub(crate) is_retransmission: bool,
    /// Whether more of the same burst follows.
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

    /// Returns the number of pieces.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Puts a segment out that is sent at `now`.
    pub(super) fn push(&mut self, now: Instant, piece: Outgoing) {
        self.queue.push_back(piece);
        self.lsndtime = now;
    }

    /// Sets or clears the push flag of the last piece.
    pub(super) fn set_push(&mut self, push: bool) {
        if let Some(last) = self.queue.back_mut() {
            last.push = push;
        }
    }

    /// Marks what was put out after the first `before` pieces as one burst.
    pub(super) fn join_burst(&mut self, before: usize) {
        let last = self.queue.len().saturating_sub(1);
        for piece in self.queue.range_mut(before.min(last)..last) {
            piece.more_in_burst = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Outgoing, Output};
    use units::{Duration, Instant};

    #[test]
    fn a_burst_goes_on_up_to_its_last_piece() {
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
        output.join_burst(0);
        for seq in [0, 10, 20, 30] {
            output.push(now, piece(seq));
        }
        output.join_burst(1);
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
