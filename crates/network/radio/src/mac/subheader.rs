//! MAC subheaders and their size (TS 36.321 clauses 6.1.2 and 6.2.1).

/// Returns the bytes of the subheader of a MAC SDU with `len` bytes: R/R/E/LCID alone for the last one in the PDU,
/// otherwise with a length field of 7 or 15 bits.
pub const fn bytes(len: u32, is_last: bool) -> u32 {
    if is_last {
        1
    } else if len < 128 {
        2
    } else {
        3
    }
}

/// Bytes of a short or truncated buffer status report with its subheader (clause 6.1.3.1).
pub(crate) const SHORT_BSR: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    /// TS 36.321 clause 6.2.1: F is 0 (a 7-bit length) below 128 bytes; the last subheader has no F
    /// and no L.
    #[test]
    fn the_length_field_has_seven_bits_below_128_bytes() {
        assert_eq!([bytes(127, false), bytes(128, false)], [2, 3]);
        assert_eq!([bytes(1, true), bytes(9_000, true)], [1, 1]);
    }
}
