//! Sequence numbers: 32 bits on the wire, 64 bits inside, so that comparisons are plain.

/// The 64-bit number nearest to `near` whose low 32 bits are `wire` (RFC 9293 §3.4 arithmetic).
pub const fn unwrap(near: u64, wire: u32) -> u64 {
    let distance = wire.wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(distance as i64)
}

#[cfg(test)]
mod tests {
    use super::unwrap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_within_half_the_space_is_found_again(
            near in (1_u64 << 32)..(1 << 50), step in -(1_i64 << 31)..(1 << 31)
        ) {
            let number = near.checked_add_signed(step).unwrap();
            prop_assert_eq!(unwrap(near, number as u32), number);
        }
    }
}
