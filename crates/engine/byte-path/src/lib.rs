//! Byte path: the path of a run for packets that have bytes, which an engine takes from network devices.
//!
//! [`BytePath`] is an [`ObservedPath`] that answers with a [`Verdict`] on each packet. An engine reads the [`Headers`]
//! of a packet, puts it on the path, and carries out the verdicts. It owns the clock: the path is a state machine
//! without I/O, in virtual time or in real time.

mod created;
mod fates;
mod headers;
mod reassembly;
mod sysctls;

use std::collections::VecDeque;

use measurement::{NewConnection, ObservedPath};
use net::{CREATED_FROM, Delivery, HostId, Packet};
use tcp::{Ecn, Flags, SeqUnwrapper};
use units::Instant;

pub use created::{CreatedPacketError, End};
use fates::PacketFates;
pub use headers::Headers;
use reassembly::Reassembly;
pub use sysctls::{route_min_rto_ms, sysctls};

/// Verdict on a packet, by its identity on the path.
#[derive(PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The packet has arrived at a host.
    Deliver {
        /// Identity; from [`CREATED_FROM`] on if a middlebox has created the packet.
        packet: u64,
        /// The host.
        host: HostId,
        /// Time of the arrival.
        at: Instant,
        /// Time at which it was sent.
        sent_at: Instant,
        /// Whether it has a congestion mark.
        congestion: bool,
        /// Its stored bytes; the whole packet if a middlebox has created it. They are to be given back to
        /// [`BytePath::recycle`].
        bytes: Option<Vec<u8>>,
    },
    /// The packet was lost or absorbed.
    Drop {
        /// Identity.
        packet: u64,
        /// The host that it was sent to.
        host: HostId,
    },
}

/// A connection whose data is followed to its receiver.
#[derive(Debug)]
struct FollowedConnection {
    ends: [End; 2],
    receiver: Reassembly,
    /// Sequence numbers of its data.
    stream: SeqUnwrapper,
}

/// The path of a run for packets with bytes.
pub struct BytePath {
    path: ObservedPath,
    fates: PacketFates,
    followed: Vec<FollowedConnection>,
    verdicts: VecDeque<Verdict>,
    deliveries: Vec<Delivery>,
}

impl BytePath {
    /// Creates a byte path.
    pub fn new(path: ObservedPath) -> Self {
        Self {
            path,
            fates: PacketFates::default(),
            followed: Vec::new(),
            verdicts: VecDeque::new(),
            deliveries: Vec::new(),
        }
    }

    /// Keeps the bytes of packets from now on, for middleboxes and for their delivery.
    pub fn enable_contents(&mut self) {
        self.path.enable_contents();
    }

    /// Returns the path, to change what is recorded.
    pub fn path(&mut self) -> &mut ObservedPath {
        &mut self.path
    }

    /// Returns the path.
    pub fn observed(&self) -> &ObservedPath {
        &self.path
    }

    /// Returns the path, without the packets on it.
    pub fn into_path(self) -> ObservedPath {
        self.path
    }

    /// Returns the number of connections that are followed.
    pub fn connections(&self) -> u32 {
        self.followed.len() as u32
    }

    /// Notes that the next connection by number is requested, between these ends.
    pub fn open(&mut self, now: Instant, new: NewConnection, ends: [End; 2]) {
        self.path.open(now, new);
        self.followed.push(FollowedConnection {
            ends,
            receiver: Reassembly::default(),
            stream: SeqUnwrapper::default(),
        });
    }

    /// Notes the number of the SYN of the sender of a connection's data, if the connection was opened after it.
    pub fn begin(&mut self, connection: u32, seq: u32) {
        let followed = &mut self.followed[connection as usize];
        followed.receiver.begin(followed.stream.segment(seq) + 1);
    }

    /// Stores a copy of the bytes of `packet` until its verdict, if contents are enabled.
    pub fn store(&mut self, packet: &Packet, bytes: &[u8]) {
        if let Some(contents) = self.path.contents() {
            let payload = packet.segment().map_or(0, |segment| segment.len);
            let payload = bytes.len().saturating_sub(payload as usize);
            contents.insert(packet.id, bytes, payload);
        }
    }

    /// Recycles the buffer of a verdict.
    pub fn recycle(&mut self, bytes: Vec<u8>) {
        if let Some(contents) = self.path.contents() {
            contents.recycle(bytes);
        }
    }

    /// Sends a packet from its source towards its destination.
    pub fn inject(&mut self, now: Instant, packet: Packet) {
        self.path.inject(now, packet, &mut self.fates);
        self.drain_gone();
    }

    /// Returns the time of the next event on the path; [`Instant::NEVER`] without any event.
    pub fn next_event(&self) -> Instant {
        self.path.next_event()
    }

    /// Returns the time at which the current slot ends.
    pub fn next_slot(&self) -> Instant {
        self.path.next_slot()
    }

    /// Advances the path to `now`.
    ///
    /// # Errors
    /// If a packet that a middlebox has created cannot have bytes.
    pub fn advance(&mut self, now: Instant) -> Result<(), CreatedPacketError> {
        let mut deliveries = core::mem::take(&mut self.deliveries);
        self.path.advance(now, &mut deliveries, &mut self.fates);
        self.drain_gone();
        let mut result = Ok(());
        for delivery in deliveries.drain(..) {
            result = result.and(self.arrive(&delivery));
        }
        self.deliveries = deliveries;
        result
    }

    /// Removes and returns the next verdict.
    pub fn next_verdict(&mut self) -> Option<Verdict> {
        self.verdicts.pop_front()
    }

    fn arrive(&mut self, delivery: &Delivery) -> Result<(), CreatedPacketError> {
        let packet = &delivery.packet;
        let contents = self.path.contents();
        let mut bytes = contents.and_then(|contents| contents.pop(packet.id));
        if packet.id >= CREATED_FROM {
            let ends = self.followed.get(packet.flow as usize);
            let payload = bytes.unwrap_or_default();
            let created = created::bytes(packet, ends.map(|followed| &followed.ends), &payload)?;
            self.recycle(payload);
            bytes = Some(created);
        }
        self.verdicts.push_back(Verdict::Deliver {
            packet: packet.id,
            host: delivery.host,
            at: delivery.at,
            sent_at: packet.sent_at,
            congestion: packet.ecn() == Ecn::Ce,
            bytes,
        });
        self.on_data(delivery.at, packet);
        Ok(())
    }

    /// Notes data that has reached the receiver of a connection.
    fn on_data(&mut self, now: Instant, packet: &Packet) {
        let Some(segment) = packet.segment() else {
            return;
        };
        if packet.source != self.path.recorder().sender(packet.flow) {
            return;
        }
        let followed = &mut self.followed[packet.flow as usize];
        let seq = followed.stream.segment(segment.seq);
        if segment.flags.contains(Flags::SYN) {
            followed.receiver.begin(seq + 1);
        } else if segment.len > 0 {
            let fresh = followed.receiver.arrive(seq, segment.len);
            if fresh > 0 {
                self.path.recorder().delivered(now, packet.flow, fresh);
            }
        }
    }

    fn drain_gone(&mut self) {
        for (packet, host) in self.fates.take_gone() {
            if let Some(contents) = self.path.contents() {
                contents.pop(packet);
            }
            if packet < CREATED_FROM {
                self.verdicts.push_back(Verdict::Drop { packet, host });
            }
        }
    }
}
