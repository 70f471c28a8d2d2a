//! Session: packets of hosts on the path of a scenario, as a state machine without I/O.

use std::net::IpAddr;

use byte_path::{BytePath, CreatedPacketError, Headers, Verdict};
use linux_sockets::SocketState;
use measurement::{Engine, ObservedPath, Options, Snapshot};
use middlebox::Kind;
use net::{HostId, Packet};
use network_builder::{Plan, Traces};
use packet::addressing;
use scenario::Scenario;
use units::{Duration, Instant};

use crate::changes::Wires;
use crate::congestion_mark::set_mark;
use crate::connections::{Connections, NamedHost};
use crate::phones::PHONE;
use crate::traffic::{Traffic, TrafficByHost};

/// Longest IP packet, bytes.
pub(crate) const MAX_PACKET: usize = 65_535;

/// A packet that leaves the path.
#[derive(PartialEq, Eq, Debug)]
pub struct Departure {
    /// Its number, in the order of arrivals; that of its creation if a middlebox has created it.
    pub packet: u64,
    /// Destination host.
    pub host: HostId,
    /// Planned time.
    pub at: Instant,
    /// Its bytes, which [`Session::recycle`] can reuse.
    pub bytes: Vec<u8>,
}

/// Outcome of the arrival of a packet of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// It is on the path, under this number.
    Sent(u64),
    /// It has no host of the path as its destination: link-local, multicast, or unknown.
    NoRoute,
    /// It is no whole IP packet.
    Malformed,
}

/// State of the access link of the first phone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AccessState {
    /// Capacity in the current slot, downlink and uplink, bit/s.
    pub capacity_bps: [u64; 2],
    /// Bytes that wait, downlink and uplink.
    pub queue_bytes: [u64; 2],
    /// SINR, dB; `None` on a wire.
    pub sinr_db: Option<f64>,
    /// Number of the serving cell; `None` on a wire.
    pub cell: Option<u32>,
}

/// The path of a scenario, its hosts, and what was measured.
pub struct Session {
    pub(crate) path: BytePath,
    pub(crate) wires: Wires,
    hosts: Vec<NamedHost>,
    /// Minimum RTO of each of them.
    min_rtos: Vec<Duration>,
    connections: Connections,
    traffic: TrafficByHost,
    /// Host behind which all other addresses are.
    outside: Option<HostId>,
    packets: u64,
    now: Instant,
}

impl Session {
    /// Creates the path of `scenario` in the run with `seed`, for connections that use the congestion control `cca` of
    /// a kernel of version `kernel`.
    ///
    /// # Errors
    /// If the scenario makes no path, or has a middlebox with TCP connections of its own.
    pub fn new(
        scenario: &Scenario,
        traces: &Traces,
        seed: u64,
        cca: &str,
        kernel: &str,
    ) -> Result<Self, String> {
        let boxes = &scenario.path.middleboxes;
        if let Some(settings) = boxes.iter().find(|settings| !works_live(settings.kind)) {
            let allowed = Kind::ALL.iter().filter(|kind| works_live(**kind));
            let allowed: Vec<_> = allowed.map(|kind| kind.name()).collect();
            let (kind, allowed) = (settings.kind.name(), allowed.join(", "));
            return Err(format!(
                "path.middleboxes: {kind:?} splits connections or needs servers that understand it; allowed in real \
                 time: {allowed}"
            ));
        }
        let plan = Plan::new(&scenario.expand_flows(), traces, seed);
        let plan = plan.map_err(|error| error.to_string())?;
        let version = kernel.to_owned();
        let engine = Engine::Live { version };
        let path = ObservedPath::new(scenario, &plan, seed, engine, Options::default());
        let mut path = BytePath::new(path.map_err(|error| error.to_string())?);
        path.enable_contents();
        let nodes = plan.topology.nodes.iter();
        let hosts = (0..).zip(nodes).map(|(number, name)| NamedHost {
            id: HostId(number),
            name: name.clone(),
        });
        let mss = scenario.tcp.segment_payload(scenario.path.path_mtu());
        Ok(Self {
            path,
            wires: Wires::new(scenario, seed, &plan),
            hosts: hosts.collect(),
            min_rtos: plan.min_rtos(&scenario.tcp),
            connections: Connections::new(cca.to_owned(), mss),
            traffic: TrafficByHost::new(),
            outside: None,
            packets: 0,
            now: Instant::ZERO,
        })
    }

    /// Sends packets to other addresses than those of the hosts to `gateway`.
    pub fn set_outside(&mut self, gateway: HostId) {
        self.outside = Some(gateway);
    }

    /// Returns the node of this name.
    pub fn host(&self, name: &str) -> Option<HostId> {
        let host = self.hosts.iter().find(|host| host.name == name)?;
        Some(host.id)
    }

    /// Returns the names of all nodes.
    pub fn host_names(&self) -> Vec<&str> {
        self.hosts.iter().map(|host| &*host.name).collect()
    }

    /// Returns the minimum RTO of each node, in the order of [`Self::host_names`].
    pub(crate) fn min_rtos(&self) -> impl Iterator<Item = Duration> {
        self.min_rtos.iter().copied()
    }

    /// Returns the time of the last call.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Sends a packet of `host`, at `now` or at the time of the last call if that is later.
    pub fn arrive(&mut self, now: Instant, host: HostId, bytes: &[u8]) -> Arrival {
        self.now = self.now.max(now);
        let Self {
            path,
            hosts,
            connections,
            outside,
            now,
            ..
        } = self;
        let outside = *outside;
        let node = |address| node_of(address, hosts.len(), outside);
        let host_of = |address| hosts.get(node(address)?.0 as usize);
        let headers = Headers::read(bytes, |ip| {
            let source = host_of(ip.source.ip())?;
            let destination = host_of(ip.destination.ip())?;
            let is_own = source.id == host && destination.id != host;
            is_own.then(|| connections.record_of(path, *now, ip, [source, destination]))?
        });
        let Some(headers) = headers else {
            return Arrival::Malformed;
        };
        let Some(destination) = node(headers.destination) else {
            return Arrival::NoRoute;
        };
        let is_host = (host.0 as usize) < self.hosts.len();
        if !is_host || destination == host {
            return Arrival::NoRoute;
        }
        let id = self.packets;
        self.packets += 1;
        let packet = Packet {
            id,
            flow: headers.flow,
            source: host,
            destination,
            size: bytes.len() as u32,
            payload: headers.payload,
            sent_at: self.now,
        };
        let traffic = self.traffic.entry(destination).or_default();
        traffic.sent += 1;
        traffic.sent_bytes += bytes.len() as u64;
        self.path.store(&packet, bytes);
        self.path.inject(self.now, packet);
        Arrival::Sent(id)
    }

    /// Records the states of senders behind sockets of a host, as they are at the time of the last call, except for
    /// those of connections without a record.
    pub fn report(&mut self, sockets: &[SocketState]) {
        for socket in sockets {
            if let Some(record) = self.connections.report(socket) {
                let (path, now, sender) = (self.path.path(), self.now, &socket.sender);
                path.recorder().sender_changed(now, record, sender);
                path.sample(now, record, sender, "");
            }
        }
    }

    /// Returns the time of the next event; [`Instant::NEVER`] without any.
    pub fn next_event(&self) -> Instant {
        self.path.next_event().min(self.path.next_slot())
    }

    /// Advances the path to `now`, or to the time of the last call if that is later. Departures are then to be
    /// collected.
    ///
    /// # Errors
    /// If a packet that a middlebox has created cannot have bytes.
    pub fn advance(&mut self, now: Instant) -> Result<(), CreatedPacketError> {
        self.now = self.now.max(now);
        loop {
            let (event, slot) = (self.path.next_event(), self.path.next_slot());
            if event.min(slot) > self.now {
                return Ok(());
            }
            if event <= slot {
                self.path.advance(event)?;
            } else {
                let senders = self.connections.senders();
                let sender = |connection: u32| *senders.get(connection as usize)?;
                self.path.path().end_slot(sender);
            }
        }
    }

    /// Removes and returns the next packet that leaves the path; lost ones are counted.
    pub fn next_departure(&mut self) -> Option<Departure> {
        loop {
            match self.path.next_verdict()? {
                Verdict::Drop { host, .. } => self.traffic.entry(host).or_default().lost += 1,
                Verdict::Deliver {
                    packet,
                    host,
                    at,
                    sent_at,
                    congestion,
                    bytes,
                } => {
                    let mut bytes = bytes.unwrap_or_default();
                    if congestion {
                        set_mark(&mut bytes);
                    }
                    let traffic = self.traffic.entry(host).or_default();
                    traffic.deliver(bytes.len(), at.saturating_since(sent_at), congestion);
                    return Some(Departure {
                        packet,
                        host,
                        at,
                        bytes,
                    });
                }
            }
        }
    }

    /// Recycles the buffer of a departure.
    pub fn recycle(&mut self, bytes: Vec<u8>) {
        self.path.recycle(bytes);
    }

    /// Returns the packets so far, by the name of the node that they were sent to.
    pub fn traffic(&self) -> impl Iterator<Item = (&str, &Traffic)> {
        let name = |host: &HostId| &*self.hosts[host.0 as usize].name;
        self.traffic
            .iter()
            .map(move |(host, traffic)| (name(host), traffic))
    }

    /// Returns the state of the access link of the first phone.
    pub fn access(&self) -> AccessState {
        let path = self.path.observed();
        let [down, up] = [false, true].map(|uplink| path.bottleneck_state(uplink));
        let phone = self.host(PHONE);
        let radio = phone.and_then(|phone| path.radio_hints(self.now, phone));
        AccessState {
            capacity_bps: [down.1, up.1],
            queue_bytes: [down.0, up.0],
            sinr_db: radio.map(|radio| radio.sinr_db),
            cell: radio.map(|radio| radio.cell),
        }
    }

    /// Returns what was recorded so far.
    pub fn snapshot(&self) -> Snapshot {
        let senders = self.connections.senders();
        self.path.observed().snapshot(self.now, senders)
    }
}

/// Returns the node that has an address, among this number of nodes: `outside` has all that are neither those of hosts,
/// nor link-local, multicast or broadcast.
fn node_of(address: IpAddr, nodes: usize, outside: Option<HostId>) -> Option<HostId> {
    if let Some(number) = addressing::host_of(address) {
        return ((number as usize) < nodes).then_some(HostId(number));
    }
    let is_local = match address {
        IpAddr::V4(v4) => v4.is_link_local() || v4.is_broadcast() || v4.is_unspecified(),
        IpAddr::V6(v6) => v6.is_unicast_link_local() || v6.is_unspecified(),
    };
    outside.filter(|_| !is_local && !address.is_multicast() && !address.is_loopback())
}

/// Returns whether a middlebox works between any two hosts: it does not split connections, and needs no special servers.
fn works_live(kind: Kind) -> bool {
    !kind.splits() && kind != Kind::Eln
}
