//! Sequence numbers, unwrapped to 64 bits.

/// Offset of the first unwrapped number of a direction, so that lower ones exist.
const OFFSET: u64 = 1 << 32;

/// Returns the unwrapped number of the first sequence number of a direction.
pub(crate) fn first(wire: u32) -> u64 {
    OFFSET + u64::from(wire)
}

/// Returns the unwrapped number of `wire` that is nearest to `reference` (RFC 9293 §3.4: numbers wrap at 2^32).
pub(crate) fn near(reference: u64, wire: u32) -> u64 {
    let ahead = wire.wrapping_sub(reference as u32) as i32;
    reference.saturating_add_signed(i64::from(ahead))
}

/// Returns whether timestamp `a` is older than `b` (RFC 7323 §5.2).
pub(crate) fn older(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9293 §3.4: "all arithmetic dealing with sequence numbers must be performed modulo 2^32".
    #[test]
    fn numbers_go_on_where_the_wire_wraps() {
        let last = first(u32::MAX - 9);
        assert_eq!(near(last, 5), last + 15);
        assert_eq!(near(last + 15, u32::MAX - 9), last);
    }

    #[test]
    fn timestamps_wrap_as_well() {
        assert!(older(u32::MAX, 3));
        assert!(!older(3, u32::MAX));
        assert!(!older(7, 7));
    }
}
