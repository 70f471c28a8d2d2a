//! Retransmissions: the queue of data to be retransmitted, and its segmentation (clause 5.2.1).

use crate::rlc::{Block, DataPdu, Part, Segment};
use crate::settings::Rlc;
use std::collections::VecDeque;

/// Bytes `from..to` of the data field of one PDU that are to be sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct NackedRange {
    pub(super) sn: u64,
    from: u32,
    to: u32,
}

/// Part of a [`NackedRange`] that has been sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentPart {
    /// Bytes of the data field.
    pub(super) data: u32,
    /// Bytes with the header.
    pub(super) size: u32,
}

/// Queue of retransmissions, in the order in which they were reported missing.
#[derive(Clone, Debug, Default)]
pub(super) struct Retransmissions {
    queue: VecDeque<NackedRange>,
}

impl Retransmissions {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn bytes(&self) -> u64 {
        let size = |range: &NackedRange| u64::from(range.to - range.from);
        self.queue.iter().map(size).sum()
    }

    pub(super) fn push(&mut self, sn: u64, from: u32, to: u32) {
        self.queue.push_back(NackedRange { sn, from, to });
    }

    /// Returns whether some bytes of `sn` are queued already.
    pub(super) fn has_range_of(&self, sn: u64) -> bool {
        self.queue.iter().any(|range| range.sn == sn)
    }

    /// Returns whether these bytes are queued already.
    pub(super) fn covers(&self, sn: u64, from: u32, to: u32) -> bool {
        self.queue
            .iter()
            .any(|range| range.sn == sn && range.from <= from && to <= range.to)
    }

    /// Returns the first entry whose PDU `is_unacknowledged`, and removes those before it.
    pub(super) fn first(&mut self, is_unacknowledged: impl Fn(u64) -> bool) -> Option<NackedRange> {
        while let Some(&first) = self.queue.front() {
            if is_unacknowledged(first.sn) {
                return Some(first);
            }
            self.queue.pop_front();
        }
        None
    }

    /// Handles the transmission of the first `data` bytes of the first entry.
    pub(super) fn on_sent(&mut self, data: u32) {
        if let Some(first) = self.queue.front_mut() {
            first.from += data;
            if first.from >= first.to {
                self.queue.pop_front();
            }
        }
    }
}

impl NackedRange {
    /// Puts as much of the range into `block` as fits into `room` bytes. The result is the original AMD PDU if the range
    /// is all of it and fits, otherwise an AMD PDU segment. `total` and `segments` are those of the original PDU.
    pub(super) fn cut<'a>(
        &self,
        config: &Rlc,
        total: u32,
        segments: impl Iterator<Item = &'a Segment> + Clone,
        room: u32,
        block: &mut Block,
    ) -> Option<SentPart> {
        let indicator = config.length_indicator();
        let whole_header = {
            let segment_count = segments.clone().count() as u32;
            let is_segment = false;
            config.am_sn().header(is_segment) + indicator.extension(segment_count)
        };
        let is_whole = self.from == 0 && self.to == total && whole_header + total <= room;
        let fixed = config.am_sn().header(!is_whole);
        let first_segment = block.segments.len() as u32;
        let (mut at, mut data, mut segment_count) = (0, 0, 0);
        for segment in segments {
            let start = at.max(self.from);
            let end = (at + segment.len).min(self.to);
            if start < end {
                let used = fixed + data + indicator.extension(segment_count + 1);
                if used >= room {
                    break;
                }
                let len = (end - start).min(room - used);
                block.segments.push(Segment {
                    sdu: segment.sdu,
                    offset: segment.offset + (start - at),
                    len,
                });
                data += len;
                segment_count += 1;
                if len < end - start {
                    break;
                }
            }
            at += segment.len;
        }
        if segment_count == 0 {
            return None;
        }
        let header = fixed + indicator.extension(segment_count);
        block.pdus.push(DataPdu {
            sn: (self.sn % config.am_sn().modulus()) as u32,
            poll: false,
            part: (!is_whole).then_some(Part {
                offset: self.from,
                last: self.from + data == total,
            }),
            data,
            header,
            first_segment,
            segments: segment_count,
        });
        Some(SentPart {
            data,
            size: header + data,
        })
    }
}
