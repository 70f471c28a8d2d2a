//! PDUs by their lengths (TS 36.322 clause 6.2).

/// An RLC SDU: the caller's number for it, and its length in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sdu {
    /// The caller's number.
    pub id: u64,
    /// Length in bytes.
    pub len: u32,
}

/// A run of bytes of one SDU: a data field element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// The SDU it is part of.
    pub sdu: Sdu,
    /// Where in the SDU it begins, in bytes.
    pub offset: u32,
    /// Its length in bytes.
    pub len: u32,
}

impl Segment {
    /// Whether it lies within its SDU and holds anything.
    pub fn is_valid(&self) -> bool {
        let end = self.offset.checked_add(self.len);
        self.len > 0 && end.is_some_and(|end| end <= self.sdu.len)
    }

    /// Whether it holds the SDU's last byte.
    pub(crate) fn is_last(&self) -> bool {
        u64::from(self.offset) + u64::from(self.len) == u64::from(self.sdu.len)
    }
}

/// Which bytes of an AMD PDU's data field an AMD PDU segment carries (clause 6.2.1.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Segment offset, in bytes.
    pub offset: u32,
    /// Last segment flag.
    pub last: bool,
}

/// An AMD PDU, an AMD PDU segment or a UMD PDU; its segments lie in the [`Block`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataPdu {
    /// Sequence number, modulo the length of its field.
    pub sn: u32,
    /// Whether a status report is asked for.
    pub poll: bool,
    /// Set for an AMD PDU segment.
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

/// A PDU, or a part of one, reported missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nack {
    /// Sequence number.
    pub sn: u32,
    /// Missing bytes of the data field, end exclusive; [`u32::MAX`] as end means "to the end". The
    /// whole PDU if absent.
    pub range: Option<(u32, u32)>,
}

/// A status report (clause 6.2.1.6).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatusPdu {
    /// The next sequence number neither received nor reported missing.
    pub ack_sn: u32,
    /// What is missing below it.
    pub nacks: Vec<Nack>,
    /// Size in bytes.
    pub bytes: u32,
}

/// What one logical channel puts into one transport block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Whether `status` is part of it.
    pub has_status: bool,
    /// The status report, of which only the memory counts unless `has_status`.
    pub status: StatusPdu,
    /// Data PDUs in order.
    pub pdus: Vec<DataPdu>,
    /// Segments of all data PDUs in order.
    pub segments: Vec<Segment>,
    /// Bytes taken, RLC headers and MAC subheaders included.
    pub bytes: u32,
}

impl Block {
    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.has_status = false;
        self.pdus.clear();
        self.segments.clear();
        self.bytes = 0;
    }

    /// Whether it carries nothing.
    pub fn is_empty(&self) -> bool {
        !self.has_status && self.pdus.is_empty()
    }

    /// Bytes of SDUs carried.
    pub fn data_bytes(&self) -> u64 {
        self.pdus.iter().map(|pdu| u64::from(pdu.data)).sum()
    }

    /// The segments of one of its PDUs; none if the PDU names segments the block does not have.
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

impl LengthIndicator {
    /// Longest element another one may follow.
    pub const fn longest(self) -> u32 {
        match self {
            Self::Bits11 => (1 << 11) - 1,
            Self::Bits15 => (1 << 15) - 1,
        }
    }

    /// Bytes of the header extension for `elements` data field elements: one extension bit and one
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
