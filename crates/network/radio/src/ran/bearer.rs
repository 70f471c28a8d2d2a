//! Bearer of a user: PDCP and RLC on both sides, and the packets in them by the caller's ids.

use std::collections::VecDeque;

use units::Instant;

use super::Direction;
use crate::rlc::{Block, Forwarding, Sdu, Segment, am, pdcp, um};
use crate::settings::{self, RlcMode};

/// Bytes of a packet that have its connection and flags: the headers of IPv4 and TCP without options.
const HEAD: u32 = 40;

/// RLC of one side.
#[derive(Clone, Debug)]
enum Rlc {
    Am(Box<am::Entity>),
    Um(Box<um::Entity>),
}

impl Rlc {
    fn new(mut settings: settings::Rlc, user_side: bool) -> Self {
        if user_side {
            settings.buffer = settings.uplink_buffer;
        }
        match settings.mode {
            RlcMode::Am => Self::Am(Box::new(am::Entity::new(settings))),
            RlcMode::Um => Self::Um(Box::new(um::Entity::new(settings))),
        }
    }

    fn enqueue(&mut self, sdu: Sdu) -> bool {
        match self {
            Self::Am(rlc) => rlc.enqueue(sdu).is_ok(),
            Self::Um(rlc) => rlc.enqueue(sdu).is_ok(),
        }
    }

    fn has_room(&self, bytes: u32) -> bool {
        match self {
            Self::Am(rlc) => rlc.has_room(bytes),
            Self::Um(rlc) => rlc.has_room(bytes),
        }
    }

    fn queued(&self) -> (usize, u64) {
        match self {
            Self::Am(rlc) => (rlc.queued_packets(), rlc.queued_bytes()),
            Self::Um(rlc) => (rlc.queued_packets(), rlc.queued_bytes()),
        }
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

    fn discard(&mut self, now: Instant, gone: &dyn Fn(u64) -> bool, out: &mut Vec<u64>) {
        match self {
            Self::Am(rlc) => rlc.discard(now, gone, out),
            Self::Um(rlc) => rlc.discard(gone, out),
        }
    }

    fn next_deadline(&self) -> Instant {
        match self {
            Self::Am(rlc) => rlc.next_deadline(),
            Self::Um(rlc) => rlc.next_deadline(),
        }
    }

    fn forward(&mut self, mode: Forwarding, out: &mut Vec<Sdu>) {
        match self {
            Self::Am(rlc) => rlc.forward(mode, out),
            Self::Um(rlc) => rlc.forward(mode, out),
        }
    }

    fn reestablish(&mut self, delivered: &mut Vec<Sdu>) {
        match self {
            Self::Am(rlc) => rlc.reestablish(delivered),
            Self::Um(rlc) => rlc.reestablish(delivered),
        }
    }

    fn has_failed(&self) -> bool {
        match self {
            Self::Am(rlc) => rlc.has_failed(),
            Self::Um(_) => false,
        }
    }
}

/// Fate of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketOutcome {
    /// Its direction.
    pub direction: Direction,
    /// The caller's name of it.
    pub packet_id: u64,
    /// Whether it has arrived; if not it never will: HARQ has failed in unacknowledged mode, or a
    /// handover has left it behind.
    pub delivered: bool,
}

/// A downlink packet on its way over X2.
#[derive(Clone, Copy, Debug)]
enum Forwarded {
    /// With the COUNT that it had in the cell of before.
    Numbered(Sdu),
    /// From the gateway: the next cell numbers it (TS 36.300 clause 10.1.2.3.1). One that finds no room
    /// leaves no gap among the numbers.
    Fresh { name: u64, bytes: u32 },
}

/// PDCP state of a direction: COUNT, pending packets.
#[derive(Clone, Debug)]
struct PdcpState {
    sn: pdcp::SnLength,
    sender: pdcp::Sender,
    receiver: pdcp::Receiver,
    /// COUNT and name of packets accepted and neither delivered nor lost.
    under_way: VecDeque<(u64, u64)>,
}

impl PdcpState {
    fn new(sn: pdcp::SnLength) -> Self {
        Self {
            sn,
            sender: pdcp::Sender::new(sn),
            receiver: pdcp::Receiver::new(sn),
            under_way: VecDeque::new(),
        }
    }

    /// Removes PDUs from RLC, and reports the packets that have arrived or never will.
    fn take(
        &mut self,
        direction: Direction,
        pdus: &[Sdu],
        reestablishing: bool,
        scratch: &mut Vec<Sdu>,
        fates: &mut Vec<PacketOutcome>,
    ) {
        scratch.clear();
        for pdu in pdus {
            self.receiver.receive(*pdu, reestablishing, scratch);
        }
        for pdu in scratch.iter() {
            while let Some(&(count, name)) = self.under_way.front() {
                if count > pdu.id {
                    break;
                }
                self.under_way.pop_front();
                fates.push(PacketOutcome {
                    direction,
                    packet_id: name,
                    delivered: count == pdu.id,
                });
            }
        }
    }

    /// Returns the name of the packet with a COUNT, if its fate is open.
    fn name(&self, count: u64) -> Option<u64> {
        let place = self
            .under_way
            .binary_search_by_key(&count, |&(count, _)| count);
        place.ok().map(|place| self.under_way[place].1)
    }

    /// Restarts for a new connection. Packets of the old one no longer arrive.
    fn restart(&mut self, direction: Direction, fates: &mut Vec<PacketOutcome>) {
        fates.extend(self.under_way.drain(..).map(|(_, name)| PacketOutcome {
            direction,
            packet_id: name,
            delivered: false,
        }));
        *self = Self::new(self.sn);
    }
}

/// The bearer of one user.
#[derive(Clone, Debug)]
pub(super) struct Bearer {
    settings: settings::Rlc,
    /// RLC at the base station and at the user.
    base: Rlc,
    user: Rlc,
    down: PdcpState,
    up: PdcpState,
    /// Uplink bytes that wait above PDCP, which buffer status reports include.
    waiting: u64,
    /// Downlink packets on their way over X2, and when they arrive.
    forwarded: VecDeque<(Instant, Forwarded)>,
    /// Whether the user is between two cells.
    detached: bool,
    /// Uplink PDUs that are sent in the new cell.
    uplink_forwarded: Vec<Sdu>,
    /// Names of uplink packets whose headers the base station has got; `None` if nobody asks for them.
    headers: Option<Vec<u64>>,
    pdus: Vec<Sdu>,
    confirmed: Vec<Sdu>,
    in_order: Vec<Sdu>,
}

impl Bearer {
    pub(super) fn new(settings: settings::Rlc, sn: pdcp::SnLength) -> Self {
        Self {
            settings,
            base: Rlc::new(settings, false),
            user: Rlc::new(settings, true),
            down: PdcpState::new(sn),
            up: PdcpState::new(sn),
            waiting: 0,
            forwarded: VecDeque::new(),
            detached: false,
            uplink_forwarded: Vec::new(),
            headers: None,
            pdus: Vec::new(),
            confirmed: Vec::new(),
            in_order: Vec::new(),
        }
    }

    /// Returns the side that sends in a direction.
    fn sending(&mut self, direction: Direction) -> &mut Rlc {
        match direction {
            Direction::Down => &mut self.base,
            Direction::Up => &mut self.user,
        }
    }

    /// Queues a packet; false if the buffer is full.
    pub(super) fn enqueue(&mut self, direction: Direction, name: u64, bytes: u32) -> bool {
        let numbering = self.numbering(direction);
        let mut sender = numbering.sender;
        let pdu = sender.number(bytes);
        if self.detached && direction == Direction::Up {
            // Behind the stored packets: RLC of the new cell gets it after all earlier ones.
            self.uplink_forwarded.push(pdu);
        } else if !self.sending(direction).enqueue(pdu) {
            return false;
        }
        let numbering = self.numbering(direction);
        numbering.sender = sender;
        numbering.under_way.push_back((pdu.id, name));
        true
    }

    /// Queues a downlink packet that reaches the serving cell over X2 at `due`.
    pub(super) fn forward_fresh(&mut self, due: Instant, name: u64, bytes: u32) {
        self.push_forwarded(due, Forwarded::Fresh { name, bytes });
    }

    fn push_forwarded(&mut self, due: Instant, packet: Forwarded) {
        let after = self
            .forwarded
            .back()
            .map_or(due, |&(last, _)| last.max(due));
        self.forwarded.push_back((after, packet));
    }

    fn numbering(&mut self, direction: Direction) -> &mut PdcpState {
        match direction {
            Direction::Down => &mut self.down,
            Direction::Up => &mut self.up,
        }
    }

    /// Returns whether packets are on their way over X2, behind which others have to stay.
    pub(super) fn is_forwarding(&self) -> bool {
        !self.forwarded.is_empty()
    }

    /// Queues packets that arrived over X2 for transmission; those without room are lost.
    pub(super) fn take_forwarded(&mut self, now: Instant, fates: &mut Vec<PacketOutcome>) {
        while let Some(&(due, packet)) = self.forwarded.front() {
            if due > now {
                return;
            }
            self.forwarded.pop_front();
            match packet {
                Forwarded::Numbered(pdu) => {
                    self.base.enqueue(pdu);
                }
                Forwarded::Fresh { name, bytes } => {
                    if !self.enqueue(Direction::Down, name, bytes) {
                        fates.push(lost(name));
                    }
                }
            }
        }
    }

    /// Names of the packets on their way over X2 that have no number.
    fn fresh(&self) -> impl Iterator<Item = u64> + '_ {
        self.forwarded
            .iter()
            .filter_map(|(_, packet)| match packet {
                Forwarded::Numbered(_) => None,
                Forwarded::Fresh { name, .. } => Some(*name),
            })
    }

    /// Returns whether RLC of the serving cell has less than `enough` bytes to send and room for a packet of so many, and
    /// none is forwarded.
    pub(super) fn wants(&self, direction: Direction, enough: u64, bytes: u32) -> bool {
        let pdu = bytes + self.down.sn.header();
        let (is_idle, rlc) = match direction {
            Direction::Down => (self.forwarded.is_empty(), &self.base),
            Direction::Up => (!self.detached, &self.user),
        };
        is_idle && rlc.queued().1 < enough && rlc.has_room(pdu)
    }

    /// Sets the uplink bytes that wait above PDCP.
    pub(super) fn set_waiting(&mut self, bytes: u64) {
        self.waiting = bytes;
    }

    /// Packets and bytes that have not been sent.
    pub(super) fn queued(&self, direction: Direction) -> (usize, u64) {
        match direction {
            Direction::Down => self.base.queued(),
            Direction::Up => self.user.queued(),
        }
    }

    /// Returns the number of accepted packets that are neither delivered nor lost.
    pub(super) fn under_way(&self, direction: Direction) -> usize {
        match direction {
            Direction::Down => self.down.under_way.len() + self.fresh().count(),
            Direction::Up => self.up.under_way.len(),
        }
    }

    /// Bytes to be sent: data, repetitions and status reports.
    pub(super) fn available(&self, direction: Direction, now: Instant) -> u64 {
        match direction {
            Direction::Down => self.base.available(now),
            Direction::Up => self.user.available(now) + self.waiting,
        }
    }

    pub(super) fn fill(
        &mut self,
        direction: Direction,
        now: Instant,
        bytes: u32,
        block: &mut Block,
    ) {
        self.sending(direction).fill(now, bytes, block);
    }

    /// Handles a block that was sent in `direction` and decoded by the other side.
    pub(super) fn receive(
        &mut self,
        direction: Direction,
        now: Instant,
        block: &Block,
        fates: &mut Vec<PacketOutcome>,
    ) {
        if direction == Direction::Up {
            self.note_headers(block);
        }
        self.pdus.clear();
        self.confirmed.clear();
        let receiving = match direction {
            Direction::Down => &mut self.user,
            Direction::Up => &mut self.base,
        };
        match receiving {
            Rlc::Am(rlc) => rlc.receive(now, block, &mut self.pdus, &mut self.confirmed),
            Rlc::Um(rlc) => rlc.receive(now, block, &mut self.pdus),
        }
        self.pass_up(direction, false, fates);
    }

    /// Enables reporting of packets whose header arrived.
    pub(super) fn report_headers(&mut self) {
        self.headers = Some(Vec::new());
    }

    /// Removes and returns the ids of uplink packets whose headers have arrived.
    pub(super) fn take_headers(&mut self) -> impl Iterator<Item = u64> + '_ {
        self.headers.iter_mut().flat_map(|heads| heads.drain(..))
    }

    /// Notes the packets whose headers are in `block`: their first segments, if these are long enough.
    fn note_headers(&mut self, block: &Block) {
        let Some(heads) = &mut self.headers else {
            return;
        };
        let min_len = self.up.sn.header() + HEAD;
        let first = |segment: &&Segment| segment.offset == 0 && segment.len >= min_len;
        let started = block.segments.iter().filter(first);
        heads.extend(started.filter_map(|segment| self.up.name(segment.sdu.id)));
    }

    /// Discards downlink packets that `gone` selects by their names and of which nothing has been sent; returns their
    /// names.
    pub(super) fn discard(&mut self, now: Instant, gone: &dyn Fn(u64) -> bool) -> Vec<u64> {
        let mut names = Vec::new();
        self.forwarded.retain(|(_, packet)| match packet {
            Forwarded::Fresh { name, .. } if gone(*name) => {
                names.push(*name);
                false
            }
            _ => true,
        });
        let (down, mut counts) = (&self.down, Vec::new());
        let of_count = |count: u64| down.name(count).is_some_and(gone);
        self.base.discard(now, &of_count, &mut counts);
        names.extend(counts.iter().filter_map(|&count| down.name(count)));
        let is_open = |(count, _): &(u64, u64)| counts.binary_search(count).is_err();
        self.down.under_way.retain(is_open);
        names
    }

    fn pass_up(
        &mut self,
        direction: Direction,
        reestablishing: bool,
        fates: &mut Vec<PacketOutcome>,
    ) {
        let numbering = match direction {
            Direction::Down => &mut self.down,
            Direction::Up => &mut self.up,
        };
        numbering.take(
            direction,
            &self.pdus,
            reestablishing,
            &mut self.in_order,
            fates,
        );
    }

    /// Lets timers of RLC expire that are due.
    pub(super) fn advance(&mut self, now: Instant, fates: &mut Vec<PacketOutcome>) {
        for (direction, receiving) in [
            (Direction::Down, &mut self.user),
            (Direction::Up, &mut self.base),
        ] {
            if receiving.next_deadline() > now {
                continue;
            }
            match receiving {
                Rlc::Am(rlc) => rlc.advance(now),
                Rlc::Um(rlc) => {
                    self.pdus.clear();
                    rlc.advance(now, &mut self.pdus);
                    let numbering = match direction {
                        Direction::Down => &mut self.down,
                        Direction::Up => &mut self.up,
                    };
                    numbering.take(direction, &self.pdus, false, &mut self.in_order, fates);
                }
            }
        }
    }

    /// Detaches the user from its cell. Packets that are forwarded reach the next cell over X2 at `due`.
    pub(super) fn detach(
        &mut self,
        forwarding: Forwarding,
        due: Instant,
        fates: &mut Vec<PacketOutcome>,
    ) {
        self.detached = true;
        let under_way = core::mem::take(&mut self.forwarded);
        self.confirmed.clear();
        self.base.forward(forwarding, &mut self.confirmed);
        for index in 0..self.confirmed.len() {
            self.push_forwarded(due, Forwarded::Numbered(self.confirmed[index]));
        }
        for (at, packet) in under_way {
            self.push_forwarded(at, packet);
        }
        self.user
            .forward(Forwarding::Lossless, &mut self.uplink_forwarded);
        self.pdus.clear();
        self.user.reestablish(&mut self.pdus);
        self.pass_up(Direction::Down, true, fates);
        self.pdus.clear();
        self.base.reestablish(&mut self.pdus);
        self.pass_up(Direction::Up, true, fates);
    }

    /// Attaches the user to a cell, with the context of before.
    pub(super) fn attach(&mut self) {
        self.detached = false;
        for pdu in self.uplink_forwarded.drain(..) {
            self.user.enqueue(pdu);
        }
    }

    /// Empties the buffers for a new connection.
    pub(super) fn restart(&mut self, fates: &mut Vec<PacketOutcome>) {
        self.down.restart(Direction::Down, fates);
        self.up.restart(Direction::Up, fates);
        fates.extend(self.fresh().map(lost));
        *self = Self {
            headers: self.headers.take(),
            waiting: self.waiting,
            ..Self::new(self.settings, self.down.sn)
        };
    }

    /// Returns whether RLC has reached its maximum of retransmissions.
    pub(super) fn has_failed(&self) -> bool {
        self.base.has_failed() || self.user.has_failed()
    }
}

/// Returns the fate of a downlink packet that found no room, or that a new connection left behind.
const fn lost(name: u64) -> PacketOutcome {
    PacketOutcome {
        direction: Direction::Down,
        packet_id: name,
        delivered: false,
    }
}
