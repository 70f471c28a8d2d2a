//! Link layers: from the bytes of a record to the first layer in it.

use super::ether;
use super::layer::{Layer, Step, next_header, octet, word};
use super::skipped::Skipped;

/// Link types of the registry of tcpdump.org that can carry IP.
mod types {
    pub(super) const NULL: i32 = 0;
    pub(super) const ETHERNET: i32 = 1;
    pub(super) const PPP: i32 = 9;
    /// Raw IP as some systems number it.
    pub(super) const RAW_OF_BSD: [i32; 2] = [12, 14];
    pub(super) const PPP_HDLC: i32 = 50;
    pub(super) const PPPOE: i32 = 51;
    pub(super) const RAW: i32 = 101;
    pub(super) const CISCO_HDLC: i32 = 104;
    pub(super) const WIFI: i32 = 105;
    pub(super) const LOOP: i32 = 108;
    pub(super) const ENC: i32 = 109;
    pub(super) const LINUX_COOKED: i32 = 113;
    pub(super) const PFLOG: i32 = 117;
    pub(super) const RADIOTAP: i32 = 127;
    /// Format of the packet tap of macOS and iOS, also under its former number.
    pub(super) const PKTAP: [i32; 2] = [258, 149];
    pub(super) const PPI: i32 = 192;
    pub(super) const ERF: i32 = 197;
    pub(super) const PPP_WITH_DIRECTION: i32 = 204;
    pub(super) const MPLS: i32 = 219;
    pub(super) const IPV4: i32 = 228;
    pub(super) const IPV6: i32 = 229;
    pub(super) const NFLOG: i32 = 239;
    pub(super) const LINUX_COOKED_2: i32 = 276;
}

/// Returns the first layer in the bytes of a record.
#[inline]
pub(super) fn first(link_type: i32, bytes: &[u8]) -> Step<'_> {
    match link_type {
        // Headers with the link type of the bytes behind them.
        types::PPI => without_metadata(long(bytes, 4)?, after_header(bytes)?),
        tap if types::PKTAP.contains(&tap) => {
            let rest = bytes.get(long(bytes, 0)? as usize..);
            without_metadata(long(bytes, 8)?, rest.ok_or(Skipped::Truncated)?)
        }
        other => without_metadata(other, bytes),
    }
}

/// Returns the first layer in bytes of a link type other than PPI and PKTAP.
#[inline]
fn without_metadata(link_type: i32, bytes: &[u8]) -> Step<'_> {
    match link_type {
        types::ETHERNET => Ok((Layer::Ethernet, bytes)),
        types::LINUX_COOKED => cooked(bytes, 14, 16),
        types::LINUX_COOKED_2 => cooked(bytes, 0, 20),
        types::NULL | types::LOOP => next_header(Layer::Ip, bytes, 4),
        types::RAW | types::IPV4 | types::IPV6 => Ok((Layer::Ip, bytes)),
        types::PPP | types::PPP_HDLC => Ok((Layer::Ppp, bytes)),
        types::PPPOE => next_header(Layer::Ppp, bytes, 6),
        types::PPP_WITH_DIRECTION => next_header(Layer::Ppp, bytes, 1),
        types::CISCO_HDLC => next_header(Layer::EtherType(word(bytes, 2)?), bytes, 4),
        types::MPLS => ether::mpls(bytes),
        types::WIFI => Ok((Layer::Wifi, bytes)),
        types::RADIOTAP => Ok((Layer::Wifi, after_header(bytes)?)),
        types::ENC => next_header(Layer::Ip, bytes, 12),
        types::PFLOG => next_header(
            Layer::Ip,
            bytes,
            usize::from(octet(bytes, 0)?).next_multiple_of(4),
        ),
        types::ERF => endace(bytes),
        types::NFLOG => netfilter(bytes),
        other if types::RAW_OF_BSD.contains(&other) => Ok((Layer::Ip, bytes)),
        _ => Err(Skipped::LinkType(link_type)),
    }
}

/// Returns the little-endian 32 bits at `at`.
fn long(bytes: &[u8], at: usize) -> Result<i32, Skipped> {
    let word = bytes.get(at..at + 4).ok_or(Skipped::Truncated)?;
    Ok(i32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

/// Returns the bytes behind a header whose length is in the second 16 bits, little-endian.
fn after_header(bytes: &[u8]) -> Result<&[u8], Skipped> {
    let len = word(bytes, 2)?.swap_bytes();
    bytes.get(usize::from(len)..).ok_or(Skipped::Truncated)
}

/// Returns the layer behind a header of `len` bytes of Linux cooked captures, whose protocol is at `at`.
fn cooked(bytes: &[u8], at: usize, len: usize) -> Step<'_> {
    /// Numbers of Linux for frames without an EtherType.
    const ETHERNET: u16 = 0x0003;
    const LLC: u16 = 0x0004;
    let layer = match word(bytes, at)? {
        LLC => Layer::Llc,
        ETHERNET => Layer::Ethernet,
        kind => Layer::EtherType(kind),
    };
    next_header(layer, bytes, len)
}

/// Returns the layer in the extensible record format of Endace's cards.
fn endace(bytes: &[u8]) -> Step<'_> {
    const MORE: u8 = 0x80;
    const ETHERNET: u8 = 2;
    const IPV4: u8 = 22;
    const IPV6: u8 = 23;
    let kind = octet(bytes, 8)?;
    let mut at = 16;
    let mut has_more = kind & MORE != 0;
    while has_more {
        has_more = octet(bytes, at)? & MORE != 0;
        at += 8;
    }
    match kind & !MORE {
        ETHERNET => next_header(Layer::Ethernet, bytes, at + 2),
        IPV4 | IPV6 => next_header(Layer::Ip, bytes, at),
        _ => Err(Skipped::Other("ERF of other types")),
    }
}

/// Returns the packet in a log of netfilter, which has attributes with length and type.
fn netfilter(bytes: &[u8]) -> Step<'_> {
    const PAYLOAD: u16 = 9;
    let mut at = 4;
    loop {
        let len = usize::from(word(bytes, at)?.swap_bytes());
        if word(bytes, at + 2)?.swap_bytes() == PAYLOAD {
            return next_header(Layer::Ip, bytes, at + 4);
        }
        at += len.max(4).next_multiple_of(4);
    }
}
