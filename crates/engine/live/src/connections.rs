//! Connections: TCP connections by their 5-tuples, each with a record for each direction that has data.

use std::collections::HashMap;
use std::net::SocketAddr;

use byte_path::BytePath;
use cca::SenderInfo;
use linux_sockets::SocketState;
use measurement::NewConnection;
use net::HostId;
use packet::wire::IpPacket;
use tcp::{Flags, Segment};
use units::Instant;

/// Direction of data in a connection: that of its opener, or the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    FromOpener,
    ToOpener,
}

impl Direction {
    fn reverse(self) -> Self {
        match self {
            Self::FromOpener => Self::ToOpener,
            Self::ToOpener => Self::FromOpener,
        }
    }
}

/// Data in one direction.
#[derive(Clone, Copy, Default, Debug)]
struct Stream {
    /// Sequence number of the SYN of its sender.
    syn: Option<u32>,
    /// Index of the record; `None` before the first data.
    record: Option<u32>,
    /// Number that acknowledges the FIN of its sender.
    fin_ack: Option<u32>,
}

/// A connection whose SYN was seen.
#[derive(Debug)]
struct TrackedConnection {
    opener: SocketAddr,
    streams: [Stream; 2],
}

impl TrackedConnection {
    /// Returns the direction of the data that an end sends.
    fn direction(&self, sender: SocketAddr) -> Direction {
        if self.opener == sender {
            Direction::FromOpener
        } else {
            Direction::ToOpener
        }
    }
}

/// A host as it is named in results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NamedHost {
    pub(crate) id: HostId,
    pub(crate) name: String,
}

/// The TCP connections of a run.
///
/// A path measures one direction of data under a number, and its acknowledgements with it. So a connection has a number
/// for each direction in which data was seen. A segment with data counts for its own direction; its acknowledgement of
/// the other direction is not measured.
#[derive(Default, Debug)]
pub(crate) struct Connections {
    connections: HashMap<[SocketAddr; 2], TrackedConnection>,
    /// Congestion control that the records are named by.
    cca: String,
    /// Payload of a full segment, bytes.
    mss: u32,
    /// Senders by the number of their record, as they were reported last.
    senders: Vec<Option<SenderInfo>>,
}

impl Connections {
    /// Creates an empty table. `cca` and `mss` (bytes) describe the connections in results.
    pub(crate) fn new(cca: String, mss: u32) -> Self {
        Self {
            connections: HashMap::new(),
            cca,
            mss,
            senders: Vec::new(),
        }
    }

    /// Returns the senders by the number of their record; `None` if one has not been reported.
    pub(crate) fn senders(&self) -> &[Option<SenderInfo>] {
        &self.senders
    }

    /// Stores the state of the sender behind a socket. Returns the number of its record, if it has sent data.
    pub(crate) fn report(&mut self, socket: &SocketState) -> Option<u32> {
        let tracked = self
            .connections
            .get(&connection_key([socket.local, socket.remote]))?;
        let direction = tracked.direction(socket.local);
        let record = tracked.streams[direction as usize].record?;
        let number = record as usize;
        if self.senders.len() <= number {
            self.senders.resize(number + 1, None);
        }
        self.senders[number] = Some(socket.sender);
        Some(record)
    }

    /// Returns the record of a segment from `source` to `destination`, which is sent at `now`.
    /// The first data of a direction opens its record. `None` before any data, and of a connection without a SYN.
    pub(crate) fn record_of(
        &mut self,
        path: &mut BytePath,
        now: Instant,
        ip: &IpPacket,
        [source, destination]: [&NamedHost; 2],
    ) -> Option<u32> {
        let key = connection_key([ip.source, ip.destination]);
        let segment = &ip.segment;
        if is_syn_request(segment) {
            let is_repeated = |tracked: &TrackedConnection| {
                tracked.opener == ip.source && tracked.streams[0].syn == Some(segment.seq)
            };
            if !self.connections.get(&key).is_some_and(is_repeated) {
                let opener = ip.source;
                let streams = [Stream::default(); 2];
                self.connections
                    .insert(key, TrackedConnection { opener, streams });
            }
        }
        let tracked = self.connections.get_mut(&key)?;
        let own = tracked.direction(ip.source);
        let other = own.reverse();
        if segment.flags.contains(Flags::SYN) {
            tracked.streams[own as usize].syn = Some(segment.seq);
        }
        if segment.len > 0 && tracked.streams[own as usize].record.is_none() {
            let stream = &mut tracked.streams[own as usize];
            stream.record = Some(path.connections());
            let opener = match own {
                Direction::FromOpener => source.id,
                Direction::ToOpener => destination.id,
            };
            let new = NewConnection {
                name: record_name(ip, own, source, destination),
                ue: destination.name.clone(),
                cca: self.cca.clone(),
                hosts: (source.id, destination.id),
                opener,
                mss: self.mss,
                flow: 0,
            };
            path.open(
                now,
                new,
                [(source.id, ip.source), (destination.id, ip.destination)],
            );
            if let (Some(syn), Some(record)) = (stream.syn, stream.record) {
                path.begin(record, syn);
            }
        }
        if segment.flags.contains(Flags::FIN) {
            let fin_ack = segment.seq.wrapping_add(segment.len).wrapping_add(1);
            tracked.streams[own as usize].fin_ack = Some(fin_ack);
        }
        let acknowledged = tracked.streams[other as usize];
        if let (Some(record), Some(fin_ack)) = (acknowledged.record, acknowledged.fin_ack)
            && segment.flags.contains(Flags::ACK)
            && segment.ack == fin_ack
        {
            tracked.streams[other as usize].fin_ack = None;
            let sender = self.senders.get(record as usize).copied().flatten();
            path.path().recorder().complete(now, record, sender);
        }
        let record = |direction: Direction| tracked.streams[direction as usize].record;
        if segment.len > 0 {
            record(own)
        } else {
            record(other).or(record(own))
        }
    }
}

/// Returns the key of a connection between two ends.
fn connection_key(mut ends: [SocketAddr; 2]) -> [SocketAddr; 2] {
    ends.sort_unstable();
    ends
}

/// Returns whether a segment requests a connection (RFC 9293 section 3.5).
fn is_syn_request(segment: &Segment) -> bool {
    segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK)
}

/// Returns the name of the data of a segment: the port of the service, and the direction of the data.
fn record_name(
    ip: &IpPacket,
    own: Direction,
    source: &NamedHost,
    destination: &NamedHost,
) -> String {
    let (client, service) = match own {
        Direction::FromOpener => (ip.source.port(), ip.destination.port()),
        Direction::ToOpener => (ip.destination.port(), ip.source.port()),
    };
    format!("{service}/{client} {} to {}", source.name, destination.name)
}
