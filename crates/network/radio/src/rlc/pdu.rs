//! PDUs, described by their lengths (TS 36.322 clause 6.2).

use crate::settings::Rlc;

/// RLC SDU, described by an id and a length.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sdu {
    /// Id that the caller has chosen.
    pub id: u64,
    /// Length in bytes.
    pub len: u32,
}

/// Data field element: a run of bytes of one SDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// SDU that it is part of.
    pub sdu: Sdu,
    /// Offset in the SDU, in bytes.
    pub offset: u32,
    /// Length in bytes.
    pub len: u32,
}

impl Segment {
    /// Returns whether the segment lies within its SDU and is not empty.
    pub(crate) fn is_valid(&self) -> bool {
        let end = self.offset.checked_add(self.len);
        self.len > 0 && end.is_some_and(|end| end <= self.sdu.len)
    }

    /// Returns whether the segment has the last byte of its SDU.
    pub(crate) fn is_last(&self) -> bool {
        u64::from(self.offset) + u64::from(self.len) == u64::from(self.sdu.len)
    }
}

/// Position of an AMD PDU segment in the data field of its AMD PDU (clause 6.2.1.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Segment offset, in bytes.
    pub offset: u32,
    /// Last segment flag.
    pub last: bool,
}

/// AMD PDU, AMD PDU segment or UMD PDU. Its segments are in the [`Block`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataPdu {
    /// Sequence number, modulo the range of its field.
    pub sn: u32,
    /// Poll bit: asks for a status report.
    pub poll: bool,
    /// Position of an AMD PDU segment; `None` for a whole PDU.
    pub part: Option<Part>,
    /// Bytes of the data field.
    pub data: u32,
    /// Bytes of the header.
    pub header: u32,
    /// Index of its first segment in the block.
    pub first_segment: u32,
    /// Number of its segments.
    pub segments: u32,
}

/// PDU, or part of one, reported missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nack {
    /// Sequence number.
    pub sn: u32,
    /// Missing bytes of the data field, end exclusive; [`u32::MAX`] as end means "to the end". `None` is the whole
    /// PDU.
    pub range: Option<(u32, u32)>,
}

/// A status report (clause 6.2.1.6).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatusPdu {
    /// Next sequence number that is neither received nor reported missing.
    pub ack_sn: u32,
    /// Missing PDUs below it.
    pub nacks: Vec<Nack>,
    /// Size in bytes.
    pub bytes: u32,
}

/// Part of one logical channel in one transport block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Whether `status` belongs to the block.
    pub has_status: bool,
    /// Status report. It is only memory for reuse unless `has_status`.
    pub status: StatusPdu,
    /// Data PDUs in order.
    pub pdus: Vec<DataPdu>,
    /// Segments of all data PDUs in order.
    pub segments: Vec<Segment>,
    /// Bytes used, including RLC headers and MAC subheaders.
    pub bytes: u32,
}

impl Block {
    /// Empties the block without freeing its memory.
    pub fn clear(&mut self) {
        self.has_status = false;
        self.pdus.clear();
        self.segments.clear();
        self.bytes = 0;
    }

    /// Returns whether the block carries nothing.
    pub fn is_empty(&self) -> bool {
        !self.has_status && self.pdus.is_empty()
    }

    /// Returns the bytes of SDUs carried.
    pub fn data_bytes(&self) -> u64 {
        self.pdus.iter().map(|pdu| u64::from(pdu.data)).sum()
    }

    /// Returns the segments of one of its PDUs; none if the PDU names segments that the block does not have.
    pub fn segments_of(&self, pdu: &DataPdu) -> &[Segment] {
        let first = pdu.first_segment as usize;
        let range = first..first.saturating_add(pdu.segments as usize);
        self.segments.get(range).unwrap_or_default()
    }
}

/// Width of the length indicators (clause 6.2.2.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LengthIndicator {
    /// 11 bits: an element above 2047 bytes ends its PDU.
    Bits11,
    /// 15 bits: up to 32767 bytes.
    Bits15,
}

impl Rlc {
    /// Returns the width of the length indicators.
    pub(super) const fn length_indicator(&self) -> LengthIndicator {
        match self.length_indicator_bits {
            15 => LengthIndicator::Bits15,
            _ => LengthIndicator::Bits11,
        }
    }
}

impl LengthIndicator {
    /// Returns the maximum length of an element that another one may follow.
    pub const fn max_len(self) -> u32 {
        match self {
            Self::Bits11 => (1 << 11) - 1,
            Self::Bits15 => (1 << 15) - 1,
        }
    }

    /// Returns the bytes of the header extension for `elements` data field elements: one extension bit and one
    /// indicator for each but the last, padded to bytes (clause 6.2.1.4).
    pub const fn extension(self, elements: u32) -> u32 {
        let indicators = elements.saturating_sub(1);
        match self {
            Self::Bits11 => (3 * indicators).div_ceil(2),
            Self::Bits15 => 2 * indicators,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TS 36.322 figures 6.2.1.4-2 to -4: one LI of 11 bits takes 2 bytes (4 bits of padding), two
    /// take 3; one of 15 bits takes 2.
    #[test]
    fn two_length_indicators_of_eleven_bits_share_three_bytes() {
        let sizes = [1, 2, 3, 4].map(|n| LengthIndicator::Bits11.extension(n));
        assert_eq!(sizes, [0, 2, 3, 5]);
        let sizes = [1, 2, 3, 4].map(|n| LengthIndicator::Bits15.extension(n));
        assert_eq!(sizes, [0, 2, 4, 6]);
    }
}
