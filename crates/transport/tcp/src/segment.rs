//! TCP segment: the header fields and the length of the payload.

use core::ops::{BitOr, BitOrAssign};

/// Flag bits of the TCP header (RFC 9293 §3.1).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Flags(u8);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// Finish: the sender has no more data.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field is significant.
    pub const ACK: Self = Self(0x10);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);

    /// Returns the octet of the flags in the header.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Creates flags from their octet in the header.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Returns whether all flags of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, rhs: Self) -> Self {
        Self(self.0 | rhs.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, rhs: Self) {
        self.0 |= rhs.0;
    }
}

/// ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECN-capable, ECT(1).
    Ect1,
    /// ECN-capable, ECT(0).
    Ect0,
    /// Congestion experienced.
    Ce,
}

/// Up to four SACK blocks (RFC 2018; a first block below the ACK is a D-SACK, RFC 2883).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(u32, u32); 4],
    len: u8,
}

impl SackBlocks {
    /// No block.
    pub const EMPTY: Self = Self {
        blocks: [(0, 0); 4],
        len: 0,
    };

    /// Appends the block `left..right`; a fifth block is ignored.
    pub fn push(&mut self, left: u32, right: u32) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (left, right);
            self.len += 1;
        }
    }

    /// Returns the blocks in the order in which they were reported.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Returns whether there is no block.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl core::fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

/// Far acknowledgement: TCP option of AS-TCP, by which a host in the middle reports to the sender what has arrived at
/// the far end (Kim 2016, figure 39).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FarAck {
    /// Option kind on the wire.
    pub kind: u8,
    /// Next sequence number that the far end expects. On SYN segments, 1 from an end that sends far ACKs, and 0
    /// from one that only accepts them.
    pub number: u32,
}

/// TCP segment. It has no payload bytes, only their number.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Segment {
    /// Sequence number of the first payload byte; of the SYN or FIN if there is no payload.
    pub seq: u32,
    /// Next sequence number expected from the peer, if [`Flags::ACK`] is set.
    pub ack: u32,
    /// Payload bytes.
    pub len: u32,
    /// Window field of the header, not scaled.
    pub window: u16,
    /// Flag bits.
    pub flags: Flags,
    /// Maximum segment size option, on SYN segments.
    pub mss: Option<u16>,
    /// Window scale option, on SYN segments.
    pub window_scale: Option<u8>,
    /// SACK-permitted option, on SYN segments.
    pub sack_permitted: bool,
    /// Timestamps option: value and echo (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
    /// SACK option.
    pub sack: SackBlocks,
    /// Far acknowledgement option.
    pub far_ack: Option<FarAck>,
    /// Whether the losses that the segment reports were on the radio: the first reserved bit of the header, set by a
    /// middlebox with explicit loss notification.
    pub eln: bool,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Whether the next segment leaves in the same burst. It is not on the wire.
    pub more_in_burst: bool,
}

/// Bytes of an IPv4 header without options.
pub const IP_HEADER: u32 = 20;
/// Bytes of a TCP header without options.
pub const TCP_HEADER: u32 = 20;
/// Bytes of the timestamps option, padded like Linux pads it.
pub(crate) const TIMESTAMPS_OPTION: u32 = 12;
/// Bytes of the far acknowledgement option, padded.
pub(crate) const FAR_ACK_OPTION: u32 = 8;

impl Segment {
    /// Returns the bytes of the options, padded like Linux pads them.
    pub fn options_len(&self) -> u32 {
        let mut len = 0;
        if self.flags.contains(Flags::SYN) {
            len += if self.mss.is_some() { 4 } else { 0 };
            len += if self.window_scale.is_some() { 4 } else { 0 };
            // SACK-permitted shares the padding of the timestamps if both are present.
            len += if self.sack_permitted && self.timestamps.is_none() {
                4
            } else {
                0
            };
        }
        if self.timestamps.is_some() {
            len += TIMESTAMPS_OPTION;
        }
        if !self.sack.is_empty() {
            len += 4 + 8 * self.sack.as_slice().len() as u32;
        }
        if self.far_ack.is_some() {
            len += FAR_ACK_OPTION;
        }
        len
    }

    /// Returns the bytes at the IP layer: IPv4 header, TCP header, options, payload.
    pub fn ip_len(&self) -> u32 {
        IP_HEADER + TCP_HEADER + self.options_len() + self.len
    }

    /// Returns the sequence space that the segment occupies: payload, SYN and FIN (RFC 9293 §3.4).
    pub(crate) fn sequence_len(&self) -> u32 {
        self.len
            + u32::from(self.flags.contains(Flags::SYN))
            + u32::from(self.flags.contains(Flags::FIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_data_segment_with_timestamps_fills_an_mtu_of_1500() {
        let data = Segment {
            len: 1448,
            timestamps: Some((1, 2)),
            ..Segment::default()
        };
        assert_eq!(data.ip_len(), 1500);
    }

    #[test]
    fn a_syn_of_linux_has_twenty_bytes_of_options() {
        let syn = Segment {
            flags: Flags::SYN,
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some((1, 0)),
            ..Segment::default()
        };
        assert_eq!(syn.options_len(), 20);
        assert_eq!(syn.sequence_len(), 1);
    }

    /// RFC 2018 §3, padded by two: eight bytes for each block, and four. Without timestamps SACK-permitted has to be
    /// padded itself, as in Linux.
    #[test]
    fn each_option_has_its_length() {
        let none = Segment::default();
        let mut sack = SackBlocks::EMPTY;
        assert!(sack.is_empty());
        for (blocks, len) in [(1, 12), (2, 20), (3, 28), (4, 36)] {
            sack.push(10 * blocks, 10 * blocks + 5);
            assert_eq!(Segment { sack, ..none }.options_len(), len);
        }
        let far_ack = Some(FarAck {
            kind: 253,
            number: 1,
        });
        assert_eq!(Segment { far_ack, ..none }.options_len(), 8);
        let syn = Segment {
            flags: Flags::SYN,
            ..none
        };
        let (mss, window_scale) = (Some(1_460), Some(7));
        assert_eq!(Segment { mss, ..syn }.options_len(), 4);
        assert_eq!(
            Segment {
                window_scale,
                ..syn
            }
            .options_len(),
            4
        );
        let permitted = Segment {
            sack_permitted: true,
            ..syn
        };
        assert_eq!(permitted.options_len(), 4);
        assert_eq!(Segment { mss, ..none }.options_len(), 0, "no SYN");
    }

    /// RFC 9293 §3.4: SYN and FIN take a sequence number each.
    #[test]
    fn flags_take_sequence_numbers() {
        let of = |len, flags| {
            let segment = Segment {
                len,
                flags,
                ..Segment::default()
            };
            segment.sequence_len()
        };
        assert_eq!(of(7, Flags::ACK), 7);
        assert_eq!(of(7, Flags::SYN), 8);
        assert_eq!(of(7, Flags::FIN), 8);
        assert_eq!(of(7, Flags::SYN | Flags::FIN), 9);
    }

    #[test]
    fn a_fifth_sack_block_is_ignored() {
        let mut sack = SackBlocks::EMPTY;
        for left in 0..5 {
            sack.push(left * 10, left * 10 + 5);
        }
        assert_eq!(sack.as_slice().len(), 4);
    }
}
