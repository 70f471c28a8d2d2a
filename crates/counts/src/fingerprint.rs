//! Fingerprint: a number by which results that differ are told apart. It shows that faster code leaves the same results.

use core::fmt::{self, Write};

use record::Tables;

/// FNV-1a of 64 bits, of everything that is written.
struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

/// Returns the fingerprint of all tables. Numbers count in full, as their shortest exact texts.
pub(crate) fn fingerprint(tables: Tables) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for (table, columns) in tables.into_columns() {
        // Writing to a number cannot fail.
        let _ = write!(hash, "{} {columns:?}", table.name);
    }
    hash.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the authors: <http://www.isthe.com/chongo/tech/comp/fnv/>.
    #[test]
    fn the_hash_is_fnv_1a() {
        let of = |text: &str| {
            let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
            hash.write_str(text).unwrap();
            hash.0
        };
        assert_eq!(of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(of("foobar"), 0x8594_4171_f739_67e8);
    }
}
