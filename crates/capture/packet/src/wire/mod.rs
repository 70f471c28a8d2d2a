//! Wire format: encodes TCP segments as IP packets and parses them.

mod checksum;
mod decode;
mod encode;
mod options;

use std::net::SocketAddr;

use tcp::Segment;

pub use decode::parse;
pub use encode::encode;
pub use options::read_options;

/// TCP segment with the fields of its IP header and its ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpPacket {
    /// Address and port of the sender.
    pub source: SocketAddr,
    /// Address and port of the receiver.
    pub destination: SocketAddr,
    /// The identification field of the IP header; 0 in IPv6, which has none.
    pub identification: u16,
    /// The segment.
    pub segment: Segment,
}

/// Error of encoding or parsing a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WireError {
    /// The bytes are no IP packet with a whole TCP header.
    #[error("not a TCP segment in an unfragmented IP packet without extension headers")]
    NotTcp,
    /// The bytes end within a header.
    #[error("the packet ends after {0} bytes, within its headers")]
    Truncated(usize),
    /// A TCP option has a wrong length.
    #[error("TCP option {kind} is malformed")]
    Option {
        /// Kind of the option.
        kind: u8,
    },
    /// The segment has more than 40 bytes of options.
    #[error("{0} bytes of TCP options do not fit in 40")]
    OptionsTooLong(u32),
    /// The packet is longer than IP allows.
    #[error("{0} bytes do not fit in an IP packet of 65535")]
    TooLong(u64),
    /// The ends have addresses of two versions of IP.
    #[error("one end has an IPv4 address, the other an IPv6 address")]
    TwoVersions,
}

#[cfg(test)]
mod tests;
