//! Connections: separates the packets of a capture into connections, and closes those that have ended.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use rustc_hash::FxHashMap;

use crate::connection::Connection;
use crate::ends::Ends;
use crate::input::decode::Packet;
use crate::tables::Tables;

/// A connection ends after this time without packets, ns: longer than the keep-alive interval of phones.
const IDLE_NS: u64 = 3_600_000_000_000;
/// A connection that is over ends after this time without packets, ns (RFC 9293 §3.4.2: TIME-WAIT lasts two segment
/// lifetimes).
const OVER_NS: u64 = 120_000_000_000;
/// Time between two searches for connections to end, ns.
const SEARCH_NS: u64 = 10_000_000_000;
/// Maximum number of simultaneous connections. Beyond it, those that were silent for longest end.
const MAX_CONNECTIONS: usize = 1 << 16;

/// Addresses and ports of both ends, the lower end first. Addresses of IPv4 are mapped (RFC 4291 §2.5.5.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    addresses: (u128, u128),
    ports: (u16, u16),
}

/// Connections of a capture.
#[derive(Default)]
pub(crate) struct ConnectionTracker {
    connections: FxHashMap<Key, Box<Connection>>,
    count: u32,
    searched_ns: u64,
    /// Connections whose addresses and ports had belonged to an earlier one.
    pub(crate) reused: u64,
    /// Connections that were ended because there were too many.
    pub(crate) evicted: u64,
}

impl ConnectionTracker {
    /// Processes the first waiting packet. Times must not decrease.
    pub(crate) fn on_packet(
        &mut self,
        waiting: &VecDeque<Packet>,
        has_segment_rows: bool,
        tables: &mut Tables,
    ) {
        let Some(packet) = waiting.front() else {
            return;
        };
        self.expire_idle(packet.at_ns, tables);
        let key = key(packet);
        if let Some(connection) = self.connections.get_mut(&key)
            && !connection.is_port_reuse(packet)
        {
            connection.on_packet(packet, has_segment_rows, tables);
            return;
        }
        self.begin(key, waiting, has_segment_rows, tables);
    }

    /// Begins a connection with the first waiting packet.
    #[cold]
    #[inline(never)]
    fn begin(
        &mut self,
        key: Key,
        waiting: &VecDeque<Packet>,
        has_segment_rows: bool,
        tables: &mut Tables,
    ) {
        let Some(packet) = waiting.front() else {
            return;
        };
        let old = self.connections.remove(&key);
        let is_reused = old.is_some();
        self.reused += u64::from(is_reused);
        if let Some(old) = old {
            old.finish(tables);
        }
        let ends = Ends::infer(packet, waiting);
        let mut connection = Connection::new(self.count, packet, ends, is_reused);
        self.count = self.count.wrapping_add(1);
        connection.on_packet(packet, has_segment_rows, tables);
        self.connections.insert(key, Box::new(connection));
        if self.connections.len() > MAX_CONNECTIONS {
            self.evict_idlest(tables);
        }
    }

    /// Returns by how much more the capture's clock advanced than the sender's, up to `packet` at `at_ns`.
    pub(crate) fn surplus_ns(&self, packet: &Packet, at_ns: u64) -> Option<u64> {
        self.connections
            .get(&key(packet))?
            .surplus_ns(packet, at_ns)
    }

    /// Ends all connections.
    pub(crate) fn finish(&mut self, tables: &mut Tables) {
        self.end(tables, |_| true);
    }

    fn expire_idle(&mut self, at_ns: u64, tables: &mut Tables) {
        if at_ns < self.searched_ns.saturating_add(SEARCH_NS) {
            return;
        }
        self.searched_ns = at_ns;
        self.end(tables, |connection| {
            let silent = at_ns.saturating_sub(connection.last_ns);
            silent > IDLE_NS || connection.is_over() && silent > OVER_NS
        });
    }

    /// Ends the eighth of the connections that has been silent for longest.
    fn evict_idlest(&mut self, tables: &mut Tables) {
        let last_times = self
            .connections
            .values()
            .map(|connection| connection.last_ns);
        let mut last_times: Vec<_> = last_times.collect();
        last_times.sort_unstable();
        let limit = last_times[MAX_CONNECTIONS / 8];
        let previous = self.connections.len();
        self.end(tables, |connection| connection.last_ns <= limit);
        self.evicted += (previous - self.connections.len()) as u64;
    }

    /// Ends the connections that `is_due` selects, in the order of their numbers.
    #[cold]
    fn end(&mut self, tables: &mut Tables, is_due: impl Fn(&Connection) -> bool) {
        let due = self
            .connections
            .extract_if(|_, connection| is_due(connection));
        let mut due: Vec<_> = due.map(|(_, connection)| connection).collect();
        due.sort_unstable_by_key(|connection| connection.number);
        for connection in due {
            connection.finish(tables);
        }
    }
}

/// Returns the same key for both directions.
fn key(packet: &Packet) -> Key {
    let (a, b) = (
        address_bits(packet.source),
        address_bits(packet.destination),
    );
    let ports = (packet.source.port(), packet.destination.port());
    if (a, ports.0) <= (b, ports.1) {
        Key {
            addresses: (a, b),
            ports,
        }
    } else {
        Key {
            addresses: (b, a),
            ports: (ports.1, ports.0),
        }
    }
}

fn address_bits(socket_address: SocketAddr) -> u128 {
    match socket_address.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped().into(),
        IpAddr::V6(address) => address.into(),
    }
}
