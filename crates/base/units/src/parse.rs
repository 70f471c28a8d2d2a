//! Parser of quantities as users write them: `68ms`, `20Mbit/s`, `300kB`.

use core::str::FromStr;

use crate::quantity::{Units, read};
use crate::{Bytes, Duration, Rate};

/// Implements `FromStr` for a quantity that is a whole number of base units. The units have their sizes in base units.
macro_rules! from_text {
    ($name:ident: $expected:literal; $new:path; $units:expr) => {
        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                parse_scaled(text, $expected, &$units).map(|value| $new(libm::round(value) as u64))
            }
        }
    };
}

/// Parses a number of base units, from 0 to less than 9e18, that is written with one of the units.
fn parse_scaled(text: &str, expected: &str, units: &Units) -> Result<f64, String> {
    let value = read(text, units).filter(|value| (0.0..9e18).contains(value));
    value.ok_or_else(|| format!("{text:?} is not {expected}"))
}

from_text! {
    Duration: "a time such as \"68ms\" (units: ns, us, ms, s, min, h)";
    Duration::from_nanos;
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)]
}

from_text! {
    Rate: "a rate such as \"20Mbit/s\" (units: bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s, KiB/s, MiB/s)";
    Rate::from_bits_per_second;
    [
        ("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9),
        ("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9),
        ("B/s", 8.0), ("kB/s", 8e3), ("MB/s", 8e6), ("GB/s", 8e9),
        ("KiB/s", 8_192.0), ("MiB/s", 8_388_608.0), ("GiB/s", 8_589_934_592.0),
    ]
}

from_text! {
    Bytes: "a size such as \"300kB\" (units: B, kB, MB, GB, KiB, MiB, GiB)";
    Bytes::new;
    [
        ("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9),
        ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_spellings_are_read() {
        assert_eq!("68ms".parse(), Ok(Duration::from_millis(68)));
        assert_eq!("1.5 s".parse(), Ok(Duration::from_millis(1_500)));
        assert_eq!(
            "20Mbit/s".parse(),
            Ok(Rate::from_bits_per_second(20_000_000))
        );
        assert_eq!("1e3kbps".parse(), Ok(Rate::from_bits_per_second(1_000_000)));
        assert_eq!("2MiB".parse(), Ok(Bytes::new(2_097_152)));
        assert_eq!("80KiB/s".parse(), Ok(Rate::from_bits_per_second(655_360)));
        assert_eq!("2MB/s".parse(), Ok(Rate::from_bits_per_second(16_000_000)));
    }

    #[test]
    fn what_is_printed_is_read_back() {
        for text in ["68ms", "2s", "7ns"] {
            assert_eq!(text.parse::<Duration>().unwrap().to_string(), text);
        }
        assert_eq!("1Gbit/s".parse::<Rate>().unwrap().to_string(), "1Gbit/s");
        assert_eq!("300kB".parse::<Bytes>().unwrap().to_string(), "300kB");
    }

    #[test]
    fn anything_else_is_rejected_by_name() {
        for text in ["", "ms", "5", "-5ms", "5 parsecs", "1e400s", "nanms"] {
            let error = text.parse::<Duration>().unwrap_err();
            assert!(
                error.starts_with(&format!("{text:?} is not a time")),
                "{error}"
            );
        }
    }
}
