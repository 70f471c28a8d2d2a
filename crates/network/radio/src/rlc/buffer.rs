//! Transmission buffer: SDUs that have not been sent completely.

use super::{LengthIndicator, Sdu, Segment};
use config::Buffer as Limit;
use std::collections::VecDeque;

/// Buffer of SDUs in order of arrival. The first may have been sent in part.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    limit: Limit,
    sdus: VecDeque<Sdu>,
    /// Bytes of the first SDU already sent.
    sent: u32,
    /// Bytes not yet sent.
    bytes: u64,
}

impl Buffer {
    pub(super) fn new(limit: Limit) -> Self {
        Self {
            limit,
            sdus: VecDeque::new(),
            sent: 0,
            bytes: 0,
        }
    }

    /// Returns whether an SDU of `bytes` fits.
    pub(super) fn has_room(&self, bytes: u32) -> bool {
        match self.limit {
            Limit::Packets(max) => (self.sdus.len() as u64) < max,
            Limit::Bytes(max) => self.bytes + u64::from(bytes) <= max.get(),
            // The check of the settings rejects it.
            Limit::Bdp(_) | Limit::Time(_) => false,
        }
    }

    /// Queues an SDU; false if it does not fit.
    pub(super) fn push(&mut self, sdu: Sdu) -> bool {
        // An SDU without bytes cannot be sent.
        if !self.has_room(sdu.len) || sdu.len == 0 {
            return false;
        }
        self.sdus.push_back(sdu);
        self.bytes += u64::from(sdu.len);
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sdus.is_empty()
    }

    pub(super) fn packets(&self) -> usize {
        self.sdus.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Fills a data field: calls `add_segment` until `room` bytes for the length indicators and the data are used up.
    /// Returns the bytes of data and the number of segments.
    pub(super) fn take(
        &mut self,
        room: u32,
        indicator: LengthIndicator,
        mut add_segment: impl FnMut(Segment),
    ) -> (u32, u32) {
        let (mut data, mut segments) = (0, 0);
        while let Some(&sdu) = self.sdus.front() {
            let used = data + indicator.extension(segments + 1);
            if used >= room {
                break;
            }
            let rest = sdu.len - self.sent;
            let len = rest.min(room - used);
            add_segment(Segment {
                sdu,
                offset: self.sent,
                len,
            });
            data += len;
            segments += 1;
            self.bytes -= u64::from(len);
            if len == rest {
                self.sdus.pop_front();
                self.sent = 0;
            } else {
                self.sent += len;
            }
            if len > indicator.max_len() {
                break;
            }
        }
        (data, segments)
    }

    /// Discards unsent SDUs whose id `is_discarded` selects (clause 5.3); appends their ids to `out`.
    pub(super) fn discard(&mut self, is_discarded: &dyn Fn(u64) -> bool, out: &mut Vec<u64>) {
        let mut has_partial = self.sent > 0;
        let bytes = &mut self.bytes;
        self.sdus.retain(|sdu| {
            let stays = core::mem::take(&mut has_partial) || !is_discarded(sdu.id);
            if !stays {
                *bytes -= u64::from(sdu.len);
                out.push(sdu.id);
            }
            stays
        });
    }

    /// Empties the buffer and appends the SDUs to `out`, with the one that was sent in part if `with_partial`.
    pub(super) fn drain(&mut self, with_partial: bool, out: &mut Vec<Sdu>) {
        let has_partial = usize::from(self.sent > 0 && !with_partial);
        out.extend(self.sdus.drain(..).skip(has_partial));
        self.sent = 0;
        self.bytes = 0;
    }
}
