//! Acknowledged mode (TS 36.322 clauses 5.1.3 and 5.2).

mod receiver;
mod retransmission;
mod status;
mod transmitter;

use super::{Block, Forwarding, Sdu};
use crate::mac::subheader;
use crate::settings::{Rlc, StatusPlacement};
use receiver::Receiver;
use transmitter::Transmitter;
use units::Instant;

/// Length of the sequence number (clause 6.2.2.3; NR: TS 38.322 clause 6.2.3.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SnLength {
    /// 10 bits, window 512.
    Bits10,
    /// 12 bits of NR, window 2048.
    Bits12,
    /// 16 bits, window 32768 (from Release 13 on): for rates with more than 512 PDUs per round trip.
    Bits16,
    /// 18 bits of NR, window 131072.
    Bits18,
}

impl Rlc {
    fn am_sn(&self) -> SnLength {
        match self.sn_bits {
            Some(12) => SnLength::Bits12,
            Some(16) => SnLength::Bits16,
            Some(18) => SnLength::Bits18,
            _ => SnLength::Bits10,
        }
    }
}

impl SnLength {
    /// Returns one more than the maximum sequence number.
    pub(crate) const fn modulus(self) -> u64 {
        match self {
            Self::Bits10 => 1 << 10,
            Self::Bits12 => 1 << 12,
            Self::Bits16 => 1 << 16,
            Self::Bits18 => 1 << 18,
        }
    }

    /// Returns AM_Window_Size (clause 7.2).
    pub const fn window(self) -> u64 {
        self.modulus() / 2
    }

    /// Returns the bytes of the fixed part of the header of an AMD PDU, or of an AMD PDU segment (clauses 6.2.1.4 and
    /// 6.2.1.5; TS 38.322 clause 6.2.2.4).
    const fn header(self, is_segment: bool) -> u32 {
        match (self, is_segment) {
            (Self::Bits10 | Self::Bits12, false) => 2,
            (Self::Bits10 | Self::Bits12, true) => 4,
            (Self::Bits16 | Self::Bits18, false) => 3,
            (Self::Bits16 | Self::Bits18, true) => 5,
        }
    }

    /// Returns one more than the maximum segment offset (clause 6.2.2.7).
    const fn max_data(self) -> u32 {
        match self {
            Self::Bits10 => 1 << 15,
            Self::Bits12 | Self::Bits16 | Self::Bits18 => 1 << 16,
        }
    }
}

/// Entity in acknowledged mode: both its sides.
#[derive(Clone, Debug)]
pub struct Entity {
    config: Rlc,
    transmitter: Transmitter,
    receiver: Receiver,
}

impl Entity {
    /// Returns an entity in its initial state.
    pub fn new(config: Rlc) -> Self {
        Self {
            config,
            transmitter: Transmitter::new(config),
            receiver: Receiver::new(config),
        }
    }

    /// Queues an SDU for transmission; false if the buffer is full.
    pub fn enqueue(&mut self, sdu: Sdu) -> bool {
        self.transmitter.enqueue(sdu)
    }

    /// Returns whether an SDU of `bytes` fits into the buffer.
    pub fn has_room(&self, bytes: u32) -> bool {
        self.transmitter.buffer().has_room(bytes)
    }

    /// Discards the SDUs that `is_discarded` selects and of which nothing has been sent (clause 5.3); appends
    /// their ids to `out`.
    pub fn discard(
        &mut self,
        now: Instant,
        is_discarded: &dyn Fn(u64) -> bool,
        out: &mut Vec<u64>,
    ) {
        self.transmitter.discard(now, is_discarded, out);
    }

    /// Returns the number of SDUs that have not been sent completely.
    pub fn queued_packets(&self) -> usize {
        self.transmitter.buffer().packets()
    }

    /// Returns the bytes that have not been sent.
    pub fn queued_bytes(&self) -> u64 {
        self.transmitter.buffer().bytes()
    }

    /// Returns the bytes available for transmission, for schedulers and buffer status reports (clause 4.5): new data,
    /// data to be sent again, and a status report that is due.
    pub fn available(&self, now: Instant) -> u64 {
        self.transmitter.available() + self.receiver.status_bytes(now)
    }

    /// Returns whether a PDU has been retransmitted too often, which counts as radio link failure
    /// (TS 36.331 clause 5.3.11.3).
    pub fn has_failed(&self) -> bool {
        self.transmitter.has_failed()
    }

    /// Fills `block` with up to `bytes`, including MAC subheaders: status report first, then retransmissions, then
    /// new data (clause 5.1.3.1.1).
    pub fn fill(&mut self, now: Instant, bytes: u32, block: &mut Block) {
        block.clear();
        let mut room = bytes;
        if self.receiver.status_bytes(now) > 0 {
            let status_room = room.saturating_sub(1);
            if self
                .receiver
                .write_report(now, status_room, &mut block.status)
            {
                block.has_status = true;
                let size = block.status.bytes;
                let cost = size + subheader::bytes(size, false);
                if self.config.status == StatusPlacement::Alone || cost >= room {
                    block.bytes = (size + 1).min(bytes);
                    return;
                }
                room -= cost;
            }
        }
        while let Some(size) = self.transmitter.build(now, room.saturating_sub(1), block) {
            room = room.saturating_sub(size + subheader::bytes(size, size + 1 >= room));
        }
        block.bytes = bytes - room;
    }

    /// Processes a decoded block. SDUs in order go to `delivered`, and SDUs that the peer has confirmed
    /// completely go to `confirmed`.
    pub fn receive(
        &mut self,
        now: Instant,
        block: &Block,
        delivered: &mut Vec<Sdu>,
        confirmed: &mut Vec<Sdu>,
    ) {
        if block.has_status {
            self.transmitter.on_status(&block.status, confirmed);
        }
        for pdu in &block.pdus {
            let segments = block.segments_of(pdu);
            self.receiver.receive(now, pdu, segments, delivered);
        }
    }

    /// Returns the time at which [`advance`](Self::advance) is to be called next; [`Instant::NEVER`] if no timer
    /// runs.
    pub fn next_deadline(&self) -> Instant {
        self.transmitter.deadline().min(self.receiver.deadline())
    }

    /// Lets the timers expire that are due at `now`.
    pub fn advance(&mut self, now: Instant) {
        self.transmitter.advance(now);
        self.receiver.advance(now);
    }

    /// Empties the transmitting side for a handover. SDUs to be forwarded go to `out` in order.
    pub fn forward(&mut self, mode: Forwarding, out: &mut Vec<Sdu>) {
        self.transmitter.forward(mode, out);
    }

    /// Re-establishes the entity (clause 5.4). Complete SDUs beyond gaps go to `delivered`; everything else is
    /// discarded, including SDUs to be sent ([`forward`](Self::forward) returns them before).
    pub fn reestablish(&mut self, delivered: &mut Vec<Sdu>) {
        self.receiver.deliver_complete_sdus(delivered);
        *self = Self::new(self.config);
    }
}
