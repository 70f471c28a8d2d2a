//! Ends: which side of a connection is the client, and which the server.
//!
//! A SYN decides. Without one, the port of a service does: clients have ephemeral ports (RFC 6335 §6). Where both ports
//! are of one range, the server is the side with more payload, as most transfers are downloads.

use core::cmp::Ordering;
use std::collections::VecDeque;
use std::net::SocketAddr;

use tcp::Flags;

use crate::input::decode::Packet;

/// First user port; system ports are below (RFC 6335 §6).
const FIRST_USER_PORT: u16 = 1 << 10;
/// First ephemeral port of Linux; other systems begin at 49152.
const FIRST_EPHEMERAL_PORT: u16 = 1 << 15;
/// Maximum number of packets of the capture in which a SYN is searched.
const MAX_SEARCHED: usize = 512;

/// Two ends of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ends {
    pub(crate) client: SocketAddr,
    pub(crate) server: SocketAddr,
}

impl Ends {
    /// Returns the ends of a connection by its first packet and the packets after it.
    pub(crate) fn infer(packet: &Packet, waiting: &VecDeque<Packet>) -> Self {
        let (from, to) = (packet.source, packet.destination);
        let (client, server) = if is_from_client(packet, waiting) {
            (from, to)
        } else {
            (to, from)
        };
        Self { client, server }
    }
}

fn is_from_client(packet: &Packet, waiting: &VecDeque<Packet>) -> bool {
    let (from, to) = (packet.source, packet.destination);
    // Bytes of the sender of `packet` minus those of the other side.
    let mut more_bytes = 0;
    for other in waiting.iter().take(MAX_SEARCHED) {
        let sign = match (other.source, other.destination) {
            ends if ends == (from, to) => 1,
            ends if ends == (to, from) => -1,
            _ => continue,
        };
        let flags = other.segment.flags;
        if flags.contains(Flags::SYN) {
            return flags.contains(Flags::ACK) == (sign < 0);
        }
        more_bytes += sign * i64::from(other.segment.len);
    }
    let (from, to) = (from.port(), to.port());
    match port_range(from).cmp(&port_range(to)) {
        Ordering::Equal if more_bytes != 0 => more_bytes < 0,
        Ordering::Equal => from >= to,
        order => order.is_gt(),
    }
}

/// Returns the index of a port's range: system, user, ephemeral.
fn port_range(port: u16) -> u8 {
    u8::from(port >= FIRST_USER_PORT) + u8::from(port >= FIRST_EPHEMERAL_PORT)
}
