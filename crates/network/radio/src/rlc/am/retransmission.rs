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
    pub(super) data: u32,
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
        let size = |wanted: &NackedRange| u64::from(wanted.to - wanted.from);
        self.queue.iter().map(size).sum()
    }

    pub(super) fn push(&mut self, sn: u64, from: u32, to: u32) {
        self.queue.push_back(NackedRange { sn, from, to });
    }

    /// Returns whether some bytes of `sn` wait already.
    pub(super) fn has(&self, sn: u64) -> bool {
        self.queue.iter().any(|wanted| wanted.sn == sn)
    }

    /// Returns whether these bytes wait already.
    pub(super) fn covers(&self, sn: u64, from: u32, to: u32) -> bool {
        self.queue
            .iter()
            .any(|wanted| wanted.sn == sn && wanted.from <= from && to <= wanted.to)
    }

    /// Returns the first entry that is still wanted, and removes those before it.
    pub(super) fn first(&mut self, still_wanted: impl Fn(u64) -> bool) -> Option<NackedRange> {
        while let Some(&first) = self.queue.front() {
            if still_wanted(first.sn) {
                return Some(first);
            }
            self.queue.pop_front();
        }
        None
    }

    /// Notes that the first `data` bytes of the first entry have been sent.
    pub(super) fn sent(&mut self, data: u32) {
        if let Some(first) = self.queue.front_mut() {
            first.from += data;
            if first.from >= first.to {
                self.queue.pop_front();
            }
        }
    }
}

impl NackedRange {
    /// Puts as much of the entry as `room` bytes hold into `block`. The result is the AMD PDU as it was if all of it
    /// is wanted and fits, otherwise an AMD PDU segment. `total` and `segments` are of the original PDU.
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
            let elements = segments.clone().count() as u32;
            config.am_sn().header(false) + indicator.extension(elements)
        };
        let whole = self.from == 0 && self.to == total && whole_header + total <= room;
        let fixed = config.am_sn().header(!whole);
        let first_segment = block.segments.len() as u32;
        let (mut at, mut data, mut elements) = (0, 0, 0);
        for segment in segments {
            let start = at.max(self.from);
            let end = (at + segment.len).min(self.to);
            if start < end {
                let used = fixed + data + indicator.extension(elements + 1);
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
                elements += 1;
                if len < end - start {
                    break;
                }
            }
            at += segment.len;
        }
        if elements == 0 {
            return None;
        }
        let header = fixed + indicator.extension(elements);
        block.pdus.push(DataPdu {
            sn: (self.sn % config.am_sn().modulus()) as u32,
            poll: false,
            part: (!whole).then_some(Part {
                offset: self.from,
                last: self.from + data == total,
            }),
            data,
            header,
            first_segment,
            segments: elements,
        });
        Some(SentPart {
            data,
            size: header + data,
        })
    }
}
