//! Reassembly: the data beyond holes, and the SACK blocks that report it.

use super::{FlushedAck, Receiver};

/// SACK blocks that are stored (`TCP_NUM_SACKS`).
pub(super) const REPORTED_BLOCKS: usize = 4;
/// Blocks that merged ACKs may report without losing one (`TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED_BLOCKS: usize = 2;

impl Receiver {
    /// Returns the memory of the data beyond holes, bytes.
    pub(super) fn ofo_memory(&self) -> u64 {
        let ranges = self.out_of_order.iter();
        let memory = ranges.map(|(from, to)| self.window.truesize_of(to - from));
        memory.sum()
    }

    /// Returns the distance from the next expected number to the end of the data beyond holes.
    pub(super) fn ofo_span(&self) -> u64 {
        self.out_of_order
            .last()
            .map_or(0, |&(_, to)| to - self.rcv_nxt)
    }

    /// Drops the data beyond the FIN, and the report of duplicates (the kernel's `tcp_fin`).
    pub(super) fn end_stream(&mut self) {
        self.out_of_order.clear();
        self.sack_blocks.clear();
        self.duplicate_sack = None;
    }

    /// Adds a range to the report of duplicates, if none is to be reported or it touches that (the kernel's
    /// `tcp_dsack_extend`).
    pub(super) fn extend_duplicate_sack(&mut self, from: u64, to: u64) {
        self.duplicate_sack = Some(match self.duplicate_sack {
            Some((left, right)) if from <= right && left <= to => (left.min(from), right.max(to)),
            Some(other) => other,
            None => (from, to),
        });
    }

    /// Moves data that follows in order out of the ranges beyond holes (the kernel's `tcp_ofo_queue`).
    pub(super) fn merge_in_order(&mut self) {
        let high = self.rcv_nxt;
        while let Some(&(from, to)) = self.out_of_order.first() {
            if from > self.rcv_nxt {
                break;
            }
            if from < high {
                // The new segment has repeated this range.
                self.extend_duplicate_sack(from, to.min(high));
            }
            self.rcv_nxt = self.rcv_nxt.max(to);
            self.out_of_order.remove(0);
        }
        let next = self.rcv_nxt;
        self.sack_blocks.retain(|&(from, _)| from > next);
    }

    /// Stores a segment beyond a hole, and reports it.
    pub(super) fn store_out_of_order(&mut self, seq: u64, end: u64) {
        let first = self.out_of_order.partition_point(|&(_, to)| to < seq);
        let mut merged = (seq, end);
        let mut last = first;
        while let Some(&(from, to)) = self.out_of_order.get(last) {
            if from > end {
                break;
            }
            if from <= seq && end <= to {
                self.duplicate_sack = Some((seq, end));
            }
            merged = (merged.0.min(from), merged.1.max(to));
            last += 1;
        }
        self.out_of_order.splice(first..last, [merged]);
        self.report_block(seq, end);
    }

    /// Puts the block with new data before the other SACK blocks (the kernel's `tcp_sack_new_ofo_skb`). If that displaces
    /// blocks that a merged ACK has to report, this ACK leaves first.
    pub(super) fn report_block(&mut self, seq: u64, end: u64) {
        let touches = |&(from, to): &(u64, u64)| seq <= to && from <= end;
        let touched = self.sack_blocks.iter().position(touches);
        let index = touched.unwrap_or(self.sack_blocks.len());
        if index >= EXPECTED_BLOCKS && self.compressed_acks > 0 {
            let duplicate = self.duplicate_sack.take();
            let (number, sack) = self.acknowledge();
            self.duplicate_sack = duplicate;
            self.flushed_ack = Some(FlushedAck {
                number,
                sack,
                window: self.window_field(),
                ece: self.sends_ece(),
            });
        }
        let mut block = (seq, end);
        if touched.is_some() {
            self.sack_blocks.retain(|&(from, to)| {
                let joins = block.0 <= to && from <= block.1;
                if joins {
                    block = (block.0.min(from), block.1.max(to));
                }
                !joins
            });
        }
        self.sack_blocks.insert(0, block);
        self.sack_blocks.truncate(REPORTED_BLOCKS);
    }
}
