//! Transmission buffer: SDUs that have not been sent completely.

use super::{LengthIndicator, Sdu, Segment};
use config::Buffer as Room;
use std::collections::VecDeque;

/// SDU that did not fit into the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dropped(pub Sdu);

/// Buffer of SDUs in order of arrival. The first may have been sent in part.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    room: Room,
    sdus: VecDeque<Sdu>,
    /// Bytes of the first SDU already sent.
    sent: u32,
    /// Bytes not yet sent.
    bytes: u64,
}

impl Buffer {
    pub(super) fn new(room: Room) -> Self {
        Self {
            room,
            sdus: VecDeque::new(),
            sent: 0,
            bytes: 0,
        }
    }

    /// Returns whether an SDU of `bytes` fits.
    pub(super) fn has_room(&self, bytes: u32) -> bool {
        match self.room {
            Room::Packets(packets) => (self.sdus.len() as u64) < packets,
            Room::Bytes(limit) => self.bytes + u64::from(bytes) <= limit.get(),
            // Rejected by the check of the settings.
            Room::Bdp(_) => false,
        }
    }

    pub(super) fn push(&mut self, sdu: Sdu) -> Result<(), Dropped> {
        // An SDU without bytes cannot be sent.
        if !self.has_room(sdu.len) || sdu.len == 0 {
            return Err(Dropped(sdu));
        }
        self.sdus.push_back(sdu);
        self.bytes += u64::from(sdu.len);
        Ok(())
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

    /// Fills a data field: calls `each` with segments until `room` bytes for the length indicators and the data are
    /// used up. Returns the bytes of data and the number of elements.
    pub(super) fn take(
        &mut self,
        room: u32,
        indicator: LengthIndicator,
        mut each: impl FnMut(Segment),
    ) -> (u32, u32) {
        let (mut data, mut elements) = (0, 0);
        while let Some(&sdu) = self.sdus.front() {
            let used = data + indicator.extension(elements + 1);
            if used >= room {
                break;
            }
            let left = sdu.len - self.sent;
            let len = left.min(room - used);
            each(Segment {
                sdu,
                offset: self.sent,
                len,
            });
            data += len;
            elements += 1;
            self.bytes -= u64::from(len);
            if len == left {
                self.sdus.pop_front();
                self.sent = 0;
            } else {
                self.sent += len;
            }
            if len > indicator.longest() {
                break;
            }
        }
        (data, elements)
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

    /// Empties the buffer and appends the SDUs to `out`: first the one sent in part, if `with_begun`.
    pub(super) fn drain(&mut self, with_begun: bool, out: &mut Vec<Sdu>) {
        let has_partial = usize::from(self.sent > 0 && !with_begun);
        out.extend(self.sdus.drain(..).skip(has_partial));
        self.sent = 0;
        self.bytes = 0;
    }
}
