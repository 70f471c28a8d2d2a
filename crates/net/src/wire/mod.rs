//! Segments as the bytes of an IPv4 packet, and back.

mod checksum;
mod decode;
mod encode;
mod options;

use std::net::{Ipv4Addr, SocketAddrV4};

use tcp::Segment;

use crate::HostId;

pub use checksum::checksums_hold;
pub use decode::parse;
pub use encode::encode;

/// A segment with what the IP header and the ports say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Address and port of the sender.
    pub source: SocketAddrV4,
    /// Address and port of the receiver.
    pub destination: SocketAddrV4,
    /// The identification field of the IP header.
    pub identification: u16,
    /// The segment.
    pub segment: Segment,
}

/// Why bytes and segment do not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WireError {
    /// Not an IPv4 packet that carries a whole TCP header.
    #[error("not a TCP segment in an unfragmented IPv4 packet")]
    NotTcp,
    /// The bytes end within a header.
    #[error("the packet ends after {0} bytes, within its headers")]
    Truncated(usize),
    /// An option that does not fit where it is.
    #[error("TCP option {kind} is malformed")]
    Option {
        /// Its kind.
        kind: u8,
    },
    /// More than 40 bytes of options.
    #[error("{0} bytes of TCP options do not fit in 40")]
    OptionsTooLong(u32),
    /// More than fits in an IPv4 packet.
    #[error("{0} bytes do not fit in an IPv4 packet of 65535")]
    TooLong(u64),
}

/// Port of the side of connection number `connection` that opens it, from the dynamic range (RFC 6335
/// section 6).
pub fn client_port(connection: u32) -> u16 {
    const FIRST: u16 = 49_152;
    FIRST + (connection % u32::from(u16::MAX - FIRST + 1)) as u16
}

/// Port at which the sending side of the scenario's flow number `flow` waits: from that of iperf3 on,
/// which no dissector claims.
pub fn service_port(flow: usize) -> u16 {
    5_201 + flow as u16
}

/// The address of a host: 10.0.0.1 for the first.
pub fn address(host: HostId) -> Ipv4Addr {
    Ipv4Addr::from_bits(Ipv4Addr::new(10, 0, 0, 1).to_bits() + (host.0 & 0x00ff_ffff))
}

/// The host with this [`address`].
pub fn host(address: Ipv4Addr) -> Option<HostId> {
    let first = Ipv4Addr::new(10, 0, 0, 1).to_bits();
    let number = address.to_bits().checked_sub(first)?;
    (number < 0x00ff_ffff).then_some(HostId(number))
}

#[cfg(test)]
mod tests;
