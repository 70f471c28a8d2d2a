//! Reassembly: the data beyond holes, and the blocks of it that ACKs report.

use super::{PriorStateAck, Receiver};

/// Blocks that are stored for reports, the latest first (`TCP_NUM_SACKS`).
pub(super) const REPORTED_BLOCKS: usize = 4;
/// Blocks that merged ACKs may report without losing one (`TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED_BLOCKS: usize = 2;

impl Receiver {
    pub(super) fn ofo_bytes(&self) -> u64 {
        let ranges = self.out_of_order.iter();
        let memory = ranges.map(|(from, to)| self.window.memory_of(to - from));
        memory.sum()
    }

    /// Returns the distance from the next expected number to the end of the data beyond holes.
    pub(super) fn ofo_span(&self) -> u64 {
        self.out_of_order
            .last()
            .map_or(0, |&(_, to)| to - self.rcv_nxt)
    }

    /// Drops what lies beyond the end of the stream, and the report of duplicates (the kernel's `tcp_fin`).
    pub(super) fn end_stream(&mut self) {
        self.out_of_order.clear();
        self.recent.clear();
        self.duplicate = None;
    }

    /// Adds a range to the report of duplicates if it touches the range there (the kernel's `tcp_dsack_extend`).
    pub(super) fn extend_duplicate(&mut self, from: u64, to: u64) {
        self.duplicate = Some(match self.duplicate {
            Some((left, right)) if from <= right && left <= to => (left.min(from), right.max(to)),
            Some(other) => other,
            None => (from, to),
        });
    }

    pub(super) fn take_in_order(&mut self) {
        let high = self.rcv_nxt;
        while let Some(&(from, to)) = self.out_of_order.first() {
            if from > self.rcv_nxt {
                break;
            }
            if from < high {
                // The new segment has repeated it (the kernel's `tcp_ofo_queue`).
                self.extend_duplicate(from, to.min(high));
            }
            self.rcv_nxt = self.rcv_nxt.max(to);
            self.out_of_order.remove(0);
        }
        let next = self.rcv_nxt;
        self.recent.retain(|&(from, _)| from > next);
    }

    pub(super) fn store_out_of_order(&mut self, seq: u64, end: u64) {
        let at = self.out_of_order.partition_point(|&(_, to)| to < seq);
        let mut merged = (seq, end);
        let mut last = at;
        while let Some(&(from, to)) = self.out_of_order.get(last) {
            if from > end {
                break;
            }
            if from <= seq && end <= to {
                self.duplicate = Some((seq, end));
            }
            merged = (merged.0.min(from), merged.1.max(to));
            last += 1;
        }
        self.out_of_order.splice(at..last, [merged]);
        self.report(seq, end);
    }

    /// Puts the block with new data before the other ones to be reported (the kernel's `tcp_sack_new_ofo_skb`). While
    /// ACKs are being merged, one leaves first if the blocks that it reports would be displaced.
    pub(super) fn report(&mut self, seq: u64, end: u64) {
        let touches = |&(from, to): &(u64, u64)| seq <= to && from <= end;
        let known = self.recent.iter().position(touches);
        let index = known.unwrap_or(self.recent.len());
        if index >= EXPECTED_BLOCKS && self.compressed > 0 {
            let duplicate = self.duplicate.take();
            let (number, sack) = self.acknowledge();
            self.duplicate = duplicate;
            self.prior_state_ack = Some(PriorStateAck {
                number,
                sack,
                window: self.window_field(),
                echo: self.echoes(),
            });
        }
        let mut block = (seq, end);
        if known.is_some() {
            self.recent.retain(|&(from, to)| {
                let joins = block.0 <= to && from <= block.1;
                if joins {
                    block = (block.0.min(from), block.1.max(to));
                }
                !joins
            });
        }
        self.recent.insert(0, block);
        self.recent.truncate(REPORTED_BLOCKS);
    }
}
