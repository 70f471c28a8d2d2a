//! Capture records that are skipped, and why: no readable TCP segment.

use core::fmt;
use core::num::NonZeroU32;

use etherparse::IpNumber;

/// IP fragment at an offset above 0, which has no TCP header.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Fragment {
    /// Hash of addresses, protocol and identification, the same for all fragments of a packet.
    pub(crate) key: NonZeroU32,
    /// Bytes of the packet's payload in the fragment.
    pub(crate) len: u32,
}

/// Reason why a record is skipped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Skipped {
    /// An EtherType other than IP.
    EtherType(u16),
    /// IEEE 802.2 other than IP.
    Llc,
    /// A PPP protocol number other than IP.
    Ppp(u16),
    /// IP was announced, but its version is neither 4 nor 6.
    NotIp,
    /// An IP protocol number other than TCP.
    Ip(u8),
    /// Encrypted payload of this protocol.
    Encrypted(&'static str),
    /// A message of a tunnel or radio without a packet, or an unknown one.
    Other(&'static str),
    /// An IP fragment at an offset above 0.
    Fragment(Fragment),
    /// The snapshot length cuts the headers.
    Truncated,
    /// A link type that is not read.
    LinkType(i32),
}

impl fmt::Display for Skipped {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::EtherType(0x0806) => write!(out, "ARP"),
            Self::EtherType(0x88cc) => write!(out, "LLDP"),
            Self::EtherType(0x888e) => write!(out, "EAPOL"),
            Self::EtherType(0x8863) => write!(out, "PPPoE discovery"),
            Self::EtherType(number) => write!(out, "EtherType {number:#06x}"),
            Self::Llc => write!(out, "LLC"),
            Self::Ppp(number) => write!(out, "PPP protocol {number:#06x}"),
            Self::NotIp => write!(out, "neither IPv4 nor IPv6"),
            Self::Ip(number) => match IpNumber(number).keyword_str() {
                Some(name) => write!(out, "{name}"),
                None => write!(out, "IP protocol {number}"),
            },
            Self::Encrypted(name) => write!(out, "{name} (encrypted)"),
            Self::Other(name) => write!(out, "{name}"),
            Self::Fragment(_) => write!(out, "fragment of IP"),
            Self::Truncated => write!(out, "cut within its headers"),
            Self::LinkType(number) => write!(out, "link type {number}"),
        }
    }
}
