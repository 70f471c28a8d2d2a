//! Contents: packets with bytes that follow from their sequence numbers.

/// Returns the bytes of `len` sequence numbers from `seq` on.
pub fn pattern(seq: u32, len: u32) -> Vec<u8> {
    let byte = |offset| {
        let number = seq.wrapping_add(offset);
        (number ^ (number >> 8)) as u8
    };
    (0..len).map(byte).collect()
}
