//! Sequence numbers: 32 bits on the wire, 64 bits inside, so that they can be compared directly.

/// Offset of initial sequence numbers, so that numbers below them do not underflow.
const OFFSET: u64 = 1 << 32;

/// Returns the 64-bit number of the initial sequence number of a stream.
pub(crate) const fn initial(wire: u32) -> u64 {
    OFFSET + wire as u64
}

/// Returns the 64-bit number nearest to `near` whose low 32 bits are `wire` (RFC 9293 §3.4 arithmetic).
pub(crate) const fn unwrap(near: u64, wire: u32) -> u64 {
    let distance = wire.wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(distance as i64)
}

/// Unwrapper: 64-bit sequence numbers of a stream that is observed on the path.
#[derive(Clone, Copy, Default, Debug)]
pub struct SeqUnwrapper {
    /// Highest number of a segment so far.
    highest: Option<u64>,
}

impl SeqUnwrapper {
    /// Returns the 64-bit number of a segment of the stream.
    pub fn segment(&mut self, seq: u32) -> u64 {
        let near = self.highest.unwrap_or(initial(seq));
        let number = unwrap(near, seq);
        self.highest = Some(near.max(number));
        number
    }

    /// Returns the 64-bit number of an acknowledgement or the edge of a SACK block; `None` before the first segment.
    pub fn acknowledgement(&self, ack: u32) -> Option<u64> {
        Some(unwrap(self.highest?, ack))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_within_half_of_the_space_is_unwrapped(
            near in (1_u64 << 32)..(1 << 50), step in -(1_i64 << 31)..(1 << 31)
        ) {
            let number = near.checked_add_signed(step).unwrap();
            prop_assert_eq!(unwrap(near, number as u32), number);
        }
    }

    #[test]
    fn a_stream_continues_beyond_32_bits_despite_retransmissions() {
        let mut stream = SeqUnwrapper::default();
        assert_eq!(stream.acknowledgement(5), None);
        let start = stream.segment(u32::MAX - 9);
        assert_eq!(stream.segment(10), start + 20);
        assert_eq!(stream.segment(u32::MAX - 9), start);
        assert_eq!(stream.acknowledgement(9), Some(start + 19));
    }
}
