//! Unacknowledged mode (TS 36.322 clause 5.1.2): data that HARQ loses stays lost.

use super::assembler::Assembler;
use super::buffer::Buffer;
use super::{Block, DataPdu, Forwarding, Sdu, Segment};
use crate::mac::subheader;
use crate::settings::Rlc;
use std::collections::VecDeque;
use units::Instant;

/// Length of the sequence number (clause 6.2.2.3; NR: TS 38.322 clause 6.2.3.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SnLength {
    /// 5 bits, window 16, a header of one byte.
    Bits5,
    /// 6 bits of NR, window 32, a header of one byte.
    Bits6,
    /// 10 bits, window 512, a header of two bytes.
    Bits10,
    /// 12 bits of NR, window 2048, a header of two bytes.
    Bits12,
}

impl Rlc {
    fn um_sn(&self) -> SnLength {
        match self.sn_bits {
            Some(5) => SnLength::Bits5,
            Some(6) => SnLength::Bits6,
            Some(12) => SnLength::Bits12,
            _ => SnLength::Bits10,
        }
    }
}

impl SnLength {
    const fn modulus(self) -> u64 {
        match self {
            Self::Bits5 => 1 << 5,
            Self::Bits6 => 1 << 6,
            Self::Bits10 => 1 << 10,
            Self::Bits12 => 1 << 12,
        }
    }

    /// Returns UM_Window_Size (clause 7.2).
    const fn window(self) -> u64 {
        self.modulus() / 2
    }

    /// Returns the bytes of the fixed part of the header (clause 6.2.1.3).
    const fn header(self) -> u32 {
        match self {
            Self::Bits5 | Self::Bits6 => 1,
            Self::Bits10 | Self::Bits12 => 2,
        }
    }
}

/// Entity in unacknowledged mode: both its sides.
#[derive(Clone, Debug)]
pub struct Entity {
    config: Rlc,
    buffer: Buffer,
    /// VT(US), not wrapped.
    next_sn: u64,
    receiver: Receiver,
}

impl Entity {
    /// Returns an entity in its initial state.
    pub fn new(config: Rlc) -> Self {
        Self {
            config,
            buffer: Buffer::new(config.buffer),
            next_sn: 0,
            receiver: Receiver::new(config),
        }
    }

    /// Queues an SDU for transmission; false if the buffer is full.
    pub fn enqueue(&mut self, sdu: Sdu) -> bool {
        self.buffer.push(sdu)
    }

    /// Returns whether an SDU of `bytes` fits into the buffer.
    pub fn has_room(&self, bytes: u32) -> bool {
        self.buffer.has_room(bytes)
    }

    /// Discards unsent SDUs whose id `is_discarded` selects (clause 5.3); appends their ids to `out`.
    pub fn discard(&mut self, is_discarded: &dyn Fn(u64) -> bool, out: &mut Vec<u64>) {
        self.buffer.discard(is_discarded, out);
    }

    /// Returns the number of SDUs that have not been sent completely.
    pub fn queued_packets(&self) -> usize {
        self.buffer.packets()
    }

    /// Returns the bytes that have not been sent.
    pub fn queued_bytes(&self) -> u64 {
        self.buffer.bytes()
    }

    /// Fills `block` with up to `bytes`, including MAC subheaders.
    pub fn fill(&mut self, bytes: u32, block: &mut Block) {
        block.clear();
        let mut room = bytes;
        while let Some(size) = self.build(room.saturating_sub(1), block) {
            room = room.saturating_sub(size + subheader::bytes(size, size + 1 >= room));
        }
        block.bytes = bytes - room;
    }

    fn build(&mut self, room: u32, block: &mut Block) -> Option<u32> {
        let fixed = self.config.um_sn().header();
        if self.buffer.is_empty() || room <= fixed {
            return None;
        }
        let first_segment = block.segments.len() as u32;
        let indicator = self.config.length_indicator();
        let (data_bytes, segment_count) = self.buffer.take(room - fixed, indicator, |segment| {
            block.segments.push(segment)
        });
        let header_bytes = fixed + indicator.extension(segment_count);
        block.pdus.push(DataPdu {
            sn: (self.next_sn % self.config.um_sn().modulus()) as u32,
            poll: false,
            part: None,
            data: data_bytes,
            header: header_bytes,
            first_segment,
            segments: segment_count,
        });
        self.next_sn += 1;
        Some(header_bytes + data_bytes)
    }

    /// Processes a decoded block: complete SDUs go to `delivered` in order, incomplete ones are dropped.
    pub fn receive(&mut self, now: Instant, block: &Block, delivered: &mut Vec<Sdu>) {
        for pdu in &block.pdus {
            let segments = block.segments_of(pdu);
            self.receiver.receive(now, pdu, segments, delivered);
        }
    }

    /// Returns the time at which t-Reordering expires; [`Instant::NEVER`] if it does not run.
    pub fn next_deadline(&self) -> Instant {
        self.receiver.t_reordering_expiry
    }

    /// Lets t-Reordering expire if it is due at `now`.
    pub fn advance(&mut self, now: Instant, delivered: &mut Vec<Sdu>) {
        self.receiver.advance(now, delivered);
    }

    /// Empties the transmitting side for a handover. SDUs to be forwarded go to `out` in order.
    pub fn forward(&mut self, mode: Forwarding, out: &mut Vec<Sdu>) {
        let old_len = out.len();
        self.buffer.drain(mode == Forwarding::Lossless, out);
        if mode == Forwarding::Discard {
            out.truncate(old_len);
        }
        self.next_sn = 0;
    }

    /// Re-establishes the entity (clause 5.4): SDUs that can be assembled go to `delivered`, the others are dropped.
    pub fn reestablish(&mut self, delivered: &mut Vec<Sdu>) {
        let end = self.receiver.highest;
        self.receiver.move_to(end, delivered);
        *self = Self::new(self.config);
    }
}

/// Place of one PDU in the reception window.
#[derive(Clone, Debug, Default)]
struct Slot {
    is_received: bool,
    segments: Vec<Segment>,
}

/// Receiving side of an entity. Sequence numbers do not wrap; they start at one modulus, so that the window may start
/// before the first one.
#[derive(Clone, Debug)]
struct Receiver {
    config: Rlc,
    /// VR(UR), the first sequence number that is not assembled.
    next: u64,
    /// VR(UX), the sequence number after the one that started t-Reordering.
    awaited: u64,
    /// VR(UH), the number after the highest that was received.
    highest: u64,
    t_reordering_expiry: Instant,
    /// PDUs from VR(UR) to VR(UH).
    window: VecDeque<Slot>,
    /// Empty slots for reuse.
    slot_pool: Vec<Slot>,
    assembler: Assembler,
}

impl Receiver {
    fn new(config: Rlc) -> Self {
        let first = config.um_sn().modulus();
        Self {
            config,
            next: first,
            awaited: first,
            highest: first,
            t_reordering_expiry: Instant::NEVER,
            window: VecDeque::new(),
            slot_pool: Vec::new(),
            assembler: Assembler::default(),
        }
    }

    fn receive(
        &mut self,
        now: Instant,
        pdu: &DataPdu,
        segments: &[Segment],
        delivered: &mut Vec<Sdu>,
    ) {
        let modulus = self.config.um_sn().modulus();
        let valid = u64::from(pdu.sn) < modulus
            && pdu.part.is_none()
            && !segments.is_empty()
            && segments.iter().all(Segment::is_valid);
        if !valid {
            return;
        }
        let base = self.highest - self.config.um_sn().window();
        let sn = base + (u64::from(pdu.sn) + modulus - base % modulus) % modulus;
        // Clause 5.1.2.2.2: the PDU is too old, or a duplicate.
        if sn < self.next
            || (sn < self.highest && self.window[(sn - self.next) as usize].is_received)
        {
            return;
        }
        if sn >= self.highest {
            self.highest = sn + 1;
            let base = self.highest - self.config.um_sn().window();
            if self.next < base {
                self.move_to(base, delivered);
            }
        }
        let at = (sn - self.next) as usize;
        while self.window.len() <= at {
            self.window
                .push_back(self.slot_pool.pop().unwrap_or_default());
        }
        let slot = &mut self.window[at];
        slot.is_received = true;
        slot.segments.extend_from_slice(segments);
        if at == 0 {
            self.move_to(self.first_missing(self.next), delivered);
        }
        if self.t_reordering_expiry != Instant::NEVER && self.awaited <= self.next {
            self.t_reordering_expiry = Instant::NEVER;
        }
        self.start_t_reordering(now);
    }

    fn start_t_reordering(&mut self, now: Instant) {
        if self.t_reordering_expiry == Instant::NEVER && self.highest > self.next {
            self.t_reordering_expiry = now + self.config.reordering;
            self.awaited = self.highest;
        }
    }

    fn first_missing(&self, sn: u64) -> u64 {
        let skip = (sn - self.next) as usize;
        let run = self.window.iter().skip(skip);
        sn + run.take_while(|slot| slot.is_received).count() as u64
    }

    /// Moves VR(UR) to `sn` and assembles the PDUs before it.
    fn move_to(&mut self, sn: u64, delivered: &mut Vec<Sdu>) {
        while self.next < sn {
            self.next += 1;
            let Some(mut slot) = self.window.pop_front() else {
                self.assembler.on_gap();
                continue;
            };
            if !slot.is_received {
                self.assembler.on_gap();
            }
            for segment in &slot.segments {
                self.assembler.push(segment, delivered);
            }
            slot.is_received = false;
            slot.segments.clear();
            self.slot_pool.push(slot);
        }
    }

    fn advance(&mut self, now: Instant, delivered: &mut Vec<Sdu>) {
        if self.t_reordering_expiry > now {
            return;
        }
        self.t_reordering_expiry = Instant::NEVER;
        let next = self.first_missing(self.awaited.max(self.next));
        self.move_to(next, delivered);
        self.start_t_reordering(now);
    }
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(milliseconds)
    }

    fn blocks(sender: &mut Entity, bytes: u32) -> Vec<Block> {
        let mut blocks = Vec::new();
        loop {
            let mut block = Block::default();
            sender.fill(bytes, &mut block);
            if block.is_empty() {
                return blocks;
            }
            blocks.push(block);
        }
    }

    fn sender(sdus: u64) -> Entity {
        let mut sender = Entity::new(Rlc::default());
        for id in 0..sdus {
            assert!(sender.enqueue(Sdu { id, len: 1_000 }));
        }
        sender
    }

    fn ids(sdus: &[Sdu]) -> Vec<u64> {
        sdus.iter().map(|sdu| sdu.id).collect()
    }

    /// TS 36.322 clause 5.1.2.2.4: on expiry of t-Reordering the hole is skipped; SDUs with bytes
    /// in the lost PDU are gone, the others are delivered.
    #[test]
    fn a_hole_is_given_up_when_the_reordering_timer_expires() {
        let blocks = blocks(&mut sender(4), 1_003);
        let mut receiver = Entity::new(Rlc::default());
        let mut delivered = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            if index != 1 {
                receiver.receive(at(index as u64), block, &mut delivered);
            }
        }
        assert_eq!(ids(&delivered), [0]);
        assert_eq!(receiver.next_deadline(), at(2 + 35));
        receiver.advance(at(37), &mut delivered);
        assert_eq!(ids(&delivered), [0, 2, 3]);
    }

    /// Clause 5.1.2.2.3: PDUs that HARQ brought out of order are put in order.
    #[test]
    fn order_is_restored_within_the_window() {
        let mut blocks = blocks(&mut sender(9), 700);
        blocks.swap(1, 4);
        let mut receiver = Entity::new(Rlc::default());
        let mut delivered = Vec::new();
        for block in &blocks {
            receiver.receive(at(1), block, &mut delivered);
        }
        assert_eq!(ids(&delivered), (0..9).collect::<Vec<_>>());
        assert_eq!(receiver.next_deadline(), Instant::NEVER);
    }

    /// Clause 5.1.2.2.2: a PDU below VR(UR), or one received before, is discarded.
    #[test]
    fn a_duplicate_is_discarded() {
        let blocks = blocks(&mut sender(3), 1_003);
        let mut receiver = Entity::new(Rlc::default());
        let mut delivered = Vec::new();
        for index in [0, 2, 2, 0, 1, 1] {
            receiver.receive(at(1), &blocks[index], &mut delivered);
        }
        assert_eq!(ids(&delivered), [0, 1, 2]);
    }

    /// Clause 5.1.2.2.3: a PDU beyond the window pulls it along.
    #[test]
    fn the_window_moves_with_the_newest_pdu() {
        let mut sender = Entity::new(Rlc {
            sn_bits: Some(5),
            ..Rlc::default()
        });
        for id in 0..40 {
            assert!(sender.enqueue(Sdu { id, len: 1_000 }));
        }
        // Each block holds one SDU: 1000 bytes, a header of 1, a subheader of 1.
        let blocks = blocks(&mut sender, 1_002);
        let mut receiver = Entity::new(sender.config);
        let mut delivered = Vec::new();
        for index in [0, 2, 18, 19] {
            receiver.receive(at(1), &blocks[index], &mut delivered);
        }
        // Number 19 makes the window 4..20: 2 is delivered, 1 and 3 are skipped.
        assert_eq!(ids(&delivered), [0, 2]);
    }
}
