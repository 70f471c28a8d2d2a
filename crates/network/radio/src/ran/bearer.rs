//! Bearer of a user: PDCP and RLC on both sides, and the packets in them by the caller's ids.

use std::collections::VecDeque;

use units::Instant;

use super::Direction;
use crate::rlc::{Block, Forwarding, Sdu, Segment, am, pdcp, um};
use crate::settings::{self, RlcMode};

/// Bytes of a packet that identify its connection and flags: the headers of IPv4 and TCP without options.
const HEADER_BYTES: u32 = 40;

/// RLC entity of one side.
#[derive(Clone, Debug)]
enum Rlc {
    Am(Box<am::Entity>),
    Um(Box<um::Entity>),
}

/// Evaluates an expression with the entity of either mode.
macro_rules! with_entity {
    ($rlc:expr, $entity:ident => $value:expr) => {
        match $rlc {
            Rlc::Am($entity) => $value,
            Rlc::Um($entity) => $value,
        }
    };
}

impl Rlc {
    fn new(settings: settings::Rlc) -> Self {
        match settings.mode {
            RlcMode::Am => Self::Am(Box::new(am::Entity::new(settings))),
            RlcMode::Um => Self::Um(Box::new(um::Entity::new(settings))),
        }
    }

    fn enqueue(&mut self, sdu: Sdu) -> bool {
        with_entity!(self, rlc => rlc.enqueue(sdu))
    }

    fn has_room(&self, bytes: u32) -> bool {
        with_entity!(self, rlc => rlc.has_room(bytes))
    }

    fn queued(&self) -> (usize, u64) {
        with_entity!(self, rlc => (rlc.queued_packets(), rlc.queued_bytes()))
    }

    fn available(&self, now: Instant) -> u64 {
        match self {
            Self::Am(rlc) => rlc.available(now),
            Self::Um(rlc) => rlc.queued_bytes(),
        }
    }

    fn fill(&mut self, now: Instant, bytes: u32, block: &mut Block) {
        match self {
            Self::Am(rlc) => rlc.fill(now, bytes, block),
            Self::Um(rlc) => rlc.fill(bytes, block),
        }
    }

    fn discard(&mut self, now: Instant, is_discarded: &dyn Fn(u64) -> bool, out: &mut Vec<u64>) {
        match self {
            Self::Am(rlc) => rlc.discard(now, is_discarded, out),
            Self::Um(rlc) => rlc.discard(is_discarded, out),
        }
    }

    fn next_deadline(&self) -> Instant {
        with_entity!(self, rlc => rlc.next_deadline())
    }

    fn forward(&mut self, mode: Forwarding, out: &mut Vec<Sdu>) {
        with_entity!(self, rlc => rlc.forward(mode, out));
    }

    fn reestablish(&mut self, delivered: &mut Vec<Sdu>) {
        with_entity!(self, rlc => rlc.reestablish(delivered));
    }

    fn has_failed(&self) -> bool {
        matches!(self, Self::Am(rlc) if rlc.has_failed())
    }
}

/// Outcome of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketOutcome {
    /// Direction of the packet.
    pub direction: Direction,
    /// Id of the packet, which the caller has chosen.
    pub packet_id: u64,
    /// Whether it has arrived. If not, it never will: HARQ has failed in unacknowledged mode, or the packet was lost in
    /// a handover.
    pub delivered: bool,
}

/// A downlink packet on its way over X2.
#[derive(Clone, Copy, Debug)]
enum Forwarded {
    /// A packet with the COUNT that it had in the previous cell.
    Numbered(Sdu),
    /// A packet from the gateway, which the next cell numbers (TS 36.300 clause 10.1.2.3.1). If it finds no room, it
    /// leaves no gap among the numbers.
    Unnumbered { packet_id: u64, bytes: u32 },
}

/// PDCP of a direction: COUNT, pending packets.
#[derive(Clone, Debug)]
struct PdcpState {
    sn: pdcp::SnLength,
    sender: pdcp::Sender,
    receiver: pdcp::Receiver,
    /// COUNT and id of packets that were accepted and are neither delivered nor lost.
    pending: VecDeque<(u64, u64)>,
}

impl PdcpState {
    fn new(sn: pdcp::SnLength) -> Self {
        Self {
            sn,
            sender: pdcp::Sender::new(sn),
            receiver: pdcp::Receiver::new(sn),
            pending: VecDeque::new(),
        }
    }

    /// Processes PDUs from RLC. Appends the outcomes of the packets that have arrived, or never will.
    fn receive(
        &mut self,
        direction: Direction,
        pdus: &[Sdu],
        is_reestablishing: bool,
        scratch: &mut Vec<Sdu>,
        outcomes: &mut Vec<PacketOutcome>,
    ) {
        scratch.clear();
        for pdu in pdus {
            self.receiver.receive(*pdu, is_reestablishing, scratch);
        }
        for pdu in scratch.iter() {
            while let Some(&(count, packet_id)) = self.pending.front() {
                if count > pdu.id {
                    break;
                }
                self.pending.pop_front();
                outcomes.push(PacketOutcome {
                    direction,
                    packet_id,
                    delivered: count == pdu.id,
                });
            }
        }
    }

    /// Returns the id of the packet with a COUNT, if it is pending.
    fn packet_id(&self, count: u64) -> Option<u64> {
        let index = self
            .pending
            .binary_search_by_key(&count, |&(count, _)| count);
        index.ok().map(|index| self.pending[index].1)
    }

    /// Restarts for a new connection. Packets of the old one are lost.
    fn restart(&mut self, direction: Direction, outcomes: &mut Vec<PacketOutcome>) {
        let lost = self.pending.drain(..);
        outcomes.extend(lost.map(|(_, packet_id)| PacketOutcome {
            direction,
            packet_id,
            delivered: false,
        }));
        *self = Self::new(self.sn);
    }
}

/// The bearer of one user. Arrays are indexed by direction.
#[derive(Clone, Debug)]
pub(super) struct Bearer {
    settings: settings::Rlc,
    /// RLC of the side that sends in a direction: the base station, and the user.
    rlc: [Rlc; 2],
    pdcp: [PdcpState; 2],
    /// Uplink bytes that wait above PDCP, which buffer status reports include.
    waiting_bytes: u64,
    /// Downlink packets on their way over X2, with the times at which they arrive.
    forwarded: VecDeque<(Instant, Forwarded)>,
    /// Whether the user is between two cells.
    is_detached: bool,
    /// Uplink PDUs that are sent in the new cell.
    uplink_forwarded: Vec<Sdu>,
    /// Ids of uplink packets whose headers the base station has received; `None` if they are not reported.
    headers: Option<Vec<u64>>,
    /// Buffers for reuse: PDUs from RLC, those that the peer has confirmed, and those that PDCP delivers.
    pdus: Vec<Sdu>,
    confirmed: Vec<Sdu>,
    in_order: Vec<Sdu>,
}

impl Bearer {
    pub(super) fn new(settings: settings::Rlc, sn: pdcp::SnLength) -> Self {
        let of_user = settings::Rlc {
            buffer: settings.uplink_buffer,
            ..settings
        };
        Self {
            settings,
            rlc: [settings, of_user].map(Rlc::new),
            pdcp: [PdcpState::new(sn), PdcpState::new(sn)],
            waiting_bytes: 0,
            forwarded: VecDeque::new(),
            is_detached: false,
            uplink_forwarded: Vec::new(),
            headers: None,
            pdus: Vec::new(),
            confirmed: Vec::new(),
            in_order: Vec::new(),
        }
    }

    /// Queues a packet; false if the buffer is full.
    pub(super) fn enqueue(&mut self, direction: Direction, packet_id: u64, bytes: u32) -> bool {
        let pdcp = &mut self.pdcp[direction as usize];
        let mut sender = pdcp.sender;
        let pdu = sender.number(bytes);
        if self.is_detached && direction == Direction::Up {
            // Behind the stored packets: RLC of the new cell gets it after all earlier ones.
            self.uplink_forwarded.push(pdu);
        } else if !self.rlc[direction as usize].enqueue(pdu) {
            return false;
        }
        pdcp.sender = sender;
        pdcp.pending.push_back((pdu.id, packet_id));
        true
    }

    /// Queues a downlink packet of the gateway that reaches the serving cell over X2 at `due`.
    pub(super) fn forward_from_gateway(&mut self, due: Instant, packet_id: u64, bytes: u32) {
        self.push_forwarded(due, Forwarded::Unnumbered { packet_id, bytes });
    }

    fn push_forwarded(&mut self, due: Instant, packet: Forwarded) {
        let last = self.forwarded.back();
        let due = last.map_or(due, |&(last, _)| last.max(due));
        self.forwarded.push_back((due, packet));
    }

    /// Returns whether packets are on their way over X2, behind which later ones have to stay.
    pub(super) fn is_forwarding(&self) -> bool {
        !self.forwarded.is_empty()
    }

    /// Queues packets that arrived over X2 for transmission; those without room are lost.
    pub(super) fn take_forwarded(&mut self, now: Instant, outcomes: &mut Vec<PacketOutcome>) {
        while let Some(&(due, packet)) = self.forwarded.front() {
            if due > now {
                return;
            }
            self.forwarded.pop_front();
            match packet {
                Forwarded::Numbered(pdu) => {
                    self.rlc[0].enqueue(pdu);
                }
                Forwarded::Unnumbered { packet_id, bytes } => {
                    if !self.enqueue(Direction::Down, packet_id, bytes) {
                        outcomes.push(lost(packet_id));
                    }
                }
            }
        }
    }

    /// Returns the ids of the packets on their way over X2 that have no number.
    fn unnumbered(&self) -> impl Iterator<Item = u64> + '_ {
        self.forwarded
            .iter()
            .filter_map(|(_, packet)| match packet {
                Forwarded::Numbered(_) => None,
                Forwarded::Unnumbered { packet_id, .. } => Some(*packet_id),
            })
    }

    /// Returns whether RLC of the serving cell has less than `max_queued` bytes to send and room for a packet of `bytes`,
    /// and no packet is forwarded.
    pub(super) fn wants(&self, direction: Direction, max_queued: u64, bytes: u32) -> bool {
        let pdu = bytes + self.pdcp[0].sn.header();
        let is_idle = match direction {
            Direction::Down => self.forwarded.is_empty(),
            Direction::Up => !self.is_detached,
        };
        let rlc = &self.rlc[direction as usize];
        is_idle && rlc.queued().1 < max_queued && rlc.has_room(pdu)
    }

    /// Sets the uplink bytes that wait above PDCP.
    pub(super) fn set_waiting(&mut self, bytes: u64) {
        self.waiting_bytes = bytes;
    }

    /// Returns the number of packets and bytes that have not been sent.
    pub(super) fn queued(&self, direction: Direction) -> (usize, u64) {
        self.rlc[direction as usize].queued()
    }

    /// Returns the bytes to be sent: data, retransmissions and status reports.
    pub(super) fn available(&self, direction: Direction, now: Instant) -> u64 {
        let available = self.rlc[direction as usize].available(now);
        match direction {
            Direction::Down => available,
            Direction::Up => available + self.waiting_bytes,
        }
    }

    pub(super) fn fill(
        &mut self,
        direction: Direction,
        now: Instant,
        bytes: u32,
        block: &mut Block,
    ) {
        self.rlc[direction as usize].fill(now, bytes, block);
    }

    /// Handles a block that was sent in `direction` and decoded by the other side.
    pub(super) fn receive(
        &mut self,
        direction: Direction,
        now: Instant,
        block: &Block,
        outcomes: &mut Vec<PacketOutcome>,
    ) {
        if direction == Direction::Up {
            self.note_headers(block);
        }
        self.pdus.clear();
        self.confirmed.clear();
        match &mut self.rlc[1 - direction as usize] {
            Rlc::Am(rlc) => rlc.receive(now, block, &mut self.pdus, &mut self.confirmed),
            Rlc::Um(rlc) => rlc.receive(now, block, &mut self.pdus),
        }
        self.pass_up(direction, false, outcomes);
    }

    /// Enables reporting of packets whose header arrived.
    pub(super) fn report_headers(&mut self) {
        self.headers = Some(Vec::new());
    }

    /// Removes and returns the ids of uplink packets whose headers have arrived.
    pub(super) fn take_headers(&mut self) -> impl Iterator<Item = u64> + '_ {
        self.headers
            .iter_mut()
            .flat_map(|headers| headers.drain(..))
    }

    /// Stores the ids of the packets whose headers are in `block`: their first segments, if these are long enough.
    fn note_headers(&mut self, block: &Block) {
        let (Some(headers), pdcp) = (&mut self.headers, &self.pdcp[1]) else {
            return;
        };
        let min_len = pdcp.sn.header() + HEADER_BYTES;
        let has_header = |segment: &&Segment| segment.offset == 0 && segment.len >= min_len;
        let segments = block.segments.iter().filter(has_header);
        headers.extend(segments.filter_map(|segment| pdcp.packet_id(segment.sdu.id)));
    }

    /// Discards downlink packets whose ids `is_discarded` selects and of which nothing has been sent; returns their ids.
    pub(super) fn discard(&mut self, now: Instant, is_discarded: &dyn Fn(u64) -> bool) -> Vec<u64> {
        let mut ids = Vec::new();
        self.forwarded.retain(|(_, packet)| match packet {
            Forwarded::Unnumbered { packet_id, .. } if is_discarded(*packet_id) => {
                ids.push(*packet_id);
                false
            }
            _ => true,
        });
        let (pdcp, mut counts) = (&mut self.pdcp[0], Vec::new());
        let of_count = |count: u64| pdcp.packet_id(count).is_some_and(is_discarded);
        self.rlc[0].discard(now, &of_count, &mut counts);
        ids.extend(counts.iter().filter_map(|&count| pdcp.packet_id(count)));
        pdcp.pending
            .retain(|(count, _)| counts.binary_search(count).is_err());
        ids
    }

    /// Passes the PDUs from RLC to PDCP.
    fn pass_up(
        &mut self,
        direction: Direction,
        is_reestablishing: bool,
        outcomes: &mut Vec<PacketOutcome>,
    ) {
        self.pdcp[direction as usize].receive(
            direction,
            &self.pdus,
            is_reestablishing,
            &mut self.in_order,
            outcomes,
        );
    }

    /// Lets timers of RLC expire that are due.
    pub(super) fn advance(&mut self, now: Instant, outcomes: &mut Vec<PacketOutcome>) {
        for direction in [Direction::Down, Direction::Up] {
            let receiver = &mut self.rlc[1 - direction as usize];
            if receiver.next_deadline() > now {
                continue;
            }
            self.pdus.clear();
            match receiver {
                Rlc::Am(rlc) => rlc.advance(now),
                Rlc::Um(rlc) => rlc.advance(now, &mut self.pdus),
            }
            self.pass_up(direction, false, outcomes);
        }
    }

    /// Detaches the user from its cell. Packets that are forwarded reach the next cell over X2 at `due`.
    pub(super) fn detach(
        &mut self,
        forwarding: Forwarding,
        due: Instant,
        outcomes: &mut Vec<PacketOutcome>,
    ) {
        self.is_detached = true;
        let earlier = core::mem::take(&mut self.forwarded);
        let mut unsent = Vec::new();
        self.rlc[0].forward(forwarding, &mut unsent);
        for pdu in unsent {
            self.push_forwarded(due, Forwarded::Numbered(pdu));
        }
        for (due, packet) in earlier {
            self.push_forwarded(due, packet);
        }
        self.rlc[1].forward(Forwarding::Lossless, &mut self.uplink_forwarded);
        for direction in [Direction::Down, Direction::Up] {
            self.pdus.clear();
            self.rlc[1 - direction as usize].reestablish(&mut self.pdus);
            self.pass_up(direction, true, outcomes);
        }
    }

    /// Attaches the user to a cell, with its previous context.
    pub(super) fn attach(&mut self) {
        self.is_detached = false;
        for pdu in self.uplink_forwarded.drain(..) {
            self.rlc[1].enqueue(pdu);
        }
    }

    /// Empties the buffers for a new connection.
    pub(super) fn restart(&mut self, outcomes: &mut Vec<PacketOutcome>) {
        for direction in [Direction::Down, Direction::Up] {
            self.pdcp[direction as usize].restart(direction, outcomes);
        }
        outcomes.extend(self.unnumbered().map(lost));
        *self = Self {
            headers: self.headers.take(),
            waiting_bytes: self.waiting_bytes,
            ..Self::new(self.settings, self.pdcp[0].sn)
        };
    }

    /// Returns whether RLC has reached its maximum of retransmissions.
    pub(super) fn has_failed(&self) -> bool {
        self.rlc.iter().any(Rlc::has_failed)
    }
}

/// Returns the outcome of a downlink packet that found no room, or was lost with the old connection.
const fn lost(packet_id: u64) -> PacketOutcome {
    PacketOutcome {
        direction: Direction::Down,
        packet_id,
        delivered: false,
    }
}
