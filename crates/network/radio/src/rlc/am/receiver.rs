//! Receiving side of acknowledged mode: window, reordering and delivery (clause 5.1.3.2).

use crate::rlc::assembler::Assembler;
use crate::rlc::{DataPdu, Sdu, Segment};
use crate::settings::Rlc;
use std::collections::VecDeque;
use units::Instant;

/// Received parts of one PDU in the window.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    pub(super) is_complete: bool,
    /// Length of the data field, known once its end has arrived.
    total: Option<u32>,
    /// Segments with their offset in the data field, in order, without overlap.
    pieces: Vec<(u32, Segment)>,
}

impl Slot {
    fn clear(&mut self) {
        self.is_complete = false;
        self.total = None;
        self.pieces.clear();
    }

    /// Calls `on_range` with the ranges not received. The last one ends at [`u32::MAX`] if the length of the data field
    /// is not known. A PDU of which nothing has arrived has no ranges.
    pub(super) fn missing(&self, mut on_range: impl FnMut(u32, u32)) {
        let mut at = 0;
        for (start, segment) in &self.pieces {
            if *start > at {
                on_range(at, *start);
            }
            at = start + segment.len;
        }
        match self.total {
            Some(total) if at < total => on_range(at, total),
            None if at > 0 => on_range(at, u32::MAX),
            _ => {}
        }
    }

    /// Adds the new bytes of a PDU or of a part of one, whose data field has `len` bytes. Returns whether there were any.
    fn add(&mut self, offset: u32, is_last: bool, len: u32, segments: &[Segment]) -> bool {
        let end = offset + len;
        let known_end = self.pieces.last().map_or(0, |(at, piece)| at + piece.len);
        let contradicts = match self.total {
            Some(total) => end > total || (is_last && end != total),
            None => is_last && known_end > end,
        };
        if self.is_complete || contradicts {
            return false;
        }
        if is_last {
            self.total = Some(end);
        }
        let old_count = self.pieces.len();
        let mut at = offset;
        for segment in segments {
            let stop = at + segment.len;
            self.add_segment(at, segment, old_count);
            at = stop;
        }
        let added = self.pieces.len() > old_count;
        self.pieces.sort_unstable_by_key(|(at, _)| *at);
        let received: u32 = self.pieces.iter().map(|(_, piece)| piece.len).sum();
        self.is_complete = self.total == Some(received);
        added
    }

    /// Adds the bytes of `segment` that none of the first `old_count` pieces has. The pieces are in order.
    fn add_segment(&mut self, at: u32, segment: &Segment, old_count: usize) {
        let end = at + segment.len;
        let mut from = at;
        for index in 0..=old_count {
            let (start, stop) = if index < old_count {
                let (start, piece) = self.pieces[index];
                (start, start + piece.len)
            } else {
                // After the last piece, a gap without an end.
                (u32::MAX, u32::MAX)
            };
            let until = end.min(start);
            if from < until {
                let piece = Segment {
                    sdu: segment.sdu,
                    offset: segment.offset + (from - at),
                    len: until - from,
                };
                self.pieces.push((from, piece));
            }
            from = from.max(stop);
            if from >= end {
                break;
            }
        }
    }
}

/// Receiving side of an entity. Sequence numbers do not wrap here.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    pub(super) config: Rlc,
    /// VR(R), the first sequence number that is not complete.
    pub(super) next: u64,
    /// VR(MS), the highest ACK_SN that a status report may have.
    pub(super) max_status: u64,
    /// VR(H), the number after the highest that was received.
    highest: u64,
    /// VR(X), the number after the one that started t-Reordering.
    awaited: u64,
    /// Time at which t-Reordering expires; [`Instant::NEVER`] if it does not run.
    t_reordering_expiry: Instant,
    /// Time until which t-StatusProhibit runs.
    pub(super) prohibited_until: Instant,
    pub(super) status_triggered: bool,
    /// Sequence numbers of polls that wait until VR(MS) has passed them.
    delayed_polls: Vec<u64>,
    /// PDUs from VR(R) to VR(H).
    window: VecDeque<Slot>,
    /// Empty slots for reuse.
    slot_pool: Vec<Slot>,
    assembler: Assembler,
}

impl Receiver {
    pub(super) fn new(config: Rlc) -> Self {
        Self {
            config,
            next: 0,
            max_status: 0,
            highest: 0,
            awaited: 0,
            t_reordering_expiry: Instant::NEVER,
            prohibited_until: Instant::ZERO,
            status_triggered: false,
            delayed_polls: Vec::new(),
            window: VecDeque::new(),
            slot_pool: Vec::new(),
            assembler: Assembler::default(),
        }
    }

    /// Processes a PDU. Invalid ones are discarded (clause 5.5.1).
    pub(super) fn receive(
        &mut self,
        now: Instant,
        pdu: &DataPdu,
        segments: &[Segment],
        delivered: &mut Vec<Sdu>,
    ) {
        let modulus = self.config.am_sn().modulus();
        let offset = pdu.part.map_or(0, |part| part.offset);
        let data_len: u64 = segments.iter().map(|segment| u64::from(segment.len)).sum();
        let max_data = u64::from(self.config.am_sn().max_data());
        let valid = u64::from(pdu.sn) < modulus
            && data_len == u64::from(pdu.data)
            && data_len > 0
            && u64::from(offset) + data_len <= max_data
            && segments.iter().all(Segment::is_valid);
        if !valid {
            return;
        }
        let distance = (u64::from(pdu.sn) + modulus - self.next % modulus) % modulus;
        let sn = self.next + distance;
        let inside = distance < self.config.am_sn().window();
        let is_stored = inside && self.store(sn, pdu, offset, segments, delivered);
        if is_stored {
            self.update_reordering(now);
        }
        if pdu.poll {
            if !is_stored || sn < self.max_status {
                self.status_triggered = true;
            } else if !self.delayed_polls.contains(&sn) {
                self.delayed_polls.push(sn);
            }
        }
        self.release_delayed_polls();
    }

    /// Puts the PDU into the reception buffer. Returns false if it is discarded (clause 5.1.3.2.2).
    fn store(
        &mut self,
        sn: u64,
        pdu: &DataPdu,
        offset: u32,
        segments: &[Segment],
        delivered: &mut Vec<Sdu>,
    ) -> bool {
        if sn == self.next && self.window.is_empty() && pdu.part.is_none() {
            for segment in segments {
                self.assembler.push(segment, delivered);
            }
            self.next = sn + 1;
            self.highest = self.next;
            self.max_status = self.next;
            return true;
        }
        let at = (sn - self.next) as usize;
        while self.window.len() <= at {
            self.window
                .push_back(self.slot_pool.pop().unwrap_or_default());
        }
        self.highest = self.highest.max(sn + 1);
        let is_last = pdu.part.is_none_or(|part| part.last);
        if !self.window[at].add(offset, is_last, pdu.data, segments) {
            return false;
        }
        if self.window[at].is_complete {
            if sn == self.max_status {
                self.max_status = self.first_incomplete(sn + 1);
            }
            if at == 0 {
                self.deliver(delivered);
            }
        }
        true
    }

    /// Returns the first sequence number from `sn` on that is not complete.
    fn first_incomplete(&self, sn: u64) -> u64 {
        let skip = (sn - self.next) as usize;
        let run = self.window.iter().skip(skip);
        sn + run.take_while(|slot| slot.is_complete).count() as u64
    }

    fn deliver(&mut self, delivered: &mut Vec<Sdu>) {
        while self.window.front().is_some_and(|slot| slot.is_complete) {
            let mut slot = self.window.pop_front().expect("there is a front");
            for (_, segment) in &slot.pieces {
                self.assembler.push(segment, delivered);
            }
            self.next += 1;
            slot.clear();
            self.slot_pool.push(slot);
        }
        self.max_status = self.max_status.max(self.next);
    }

    /// Updates t-Reordering after a PDU was placed (clause 5.1.3.2.3).
    fn update_reordering(&mut self, now: Instant) {
        // The clause also stops the timer for a VR(X) outside the window: here it can only be below VR(R).
        if self.t_reordering_expiry != Instant::NEVER && self.awaited <= self.next {
            self.t_reordering_expiry = Instant::NEVER;
        }
        if self.t_reordering_expiry == Instant::NEVER && self.highest > self.next {
            self.t_reordering_expiry = now + self.config.reordering;
            self.awaited = self.highest;
        }
    }

    fn release_delayed_polls(&mut self) {
        let waiting = self.delayed_polls.len();
        let passed = self.max_status;
        self.delayed_polls.retain(|&sn| sn >= passed);
        self.status_triggered |= self.delayed_polls.len() < waiting;
    }

    pub(super) fn deadline(&self) -> Instant {
        self.t_reordering_expiry
    }

    /// Lets t-Reordering expire (clause 5.1.3.2.4).
    pub(super) fn advance(&mut self, now: Instant) {
        if self.t_reordering_expiry > now {
            return;
        }
        self.t_reordering_expiry = Instant::NEVER;
        self.max_status = self.first_incomplete(self.awaited.max(self.next));
        if self.highest > self.max_status {
            self.t_reordering_expiry = now + self.config.reordering;
            self.awaited = self.highest;
        }
        self.status_triggered = true;
        self.release_delayed_polls();
    }

    /// Returns the received parts of a PDU; `None` if there are none.
    pub(super) fn slot(&self, sn: u64) -> Option<&Slot> {
        let slot = self.window.get((sn - self.next) as usize)?;
        (!slot.pieces.is_empty()).then_some(slot)
    }

    /// Delivers the complete SDUs, whatever is missing before them (clause 5.4).
    pub(super) fn deliver_complete_sdus(&mut self, delivered: &mut Vec<Sdu>) {
        for slot in &self.window {
            let mut at = 0;
            for (start, segment) in &slot.pieces {
                if *start != at {
                    self.assembler.on_gap();
                }
                self.assembler.push(segment, delivered);
                at = start + segment.len;
            }
            if !slot.is_complete {
                self.assembler.on_gap();
            }
        }
    }
}
