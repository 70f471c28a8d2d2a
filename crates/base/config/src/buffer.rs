//! Buffer: size of a queue.

use units::{Bytes, Duration, Rate};

use crate::validate::{FieldError, invalid_value};
use crate::{Quantity, as_text};

/// Size of a buffer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Buffer {
    /// In bandwidth-delay products, of the link's mean rate and the path's base RTT: `"1bdp"`.
    Bdp(f64),
    /// In packets of any size: `"150packets"`.
    Packets(u64),
    /// In bytes at the IP layer: `"300kB"`.
    Bytes(Bytes),
    /// In time that the link's mean rate needs to send it: `"90ms"`.
    Time(Duration),
}

impl Buffer {
    /// Converts bandwidth-delay products and times to bytes, for a link of this mean rate and base RTT.
    pub fn resolve(self, mean: Rate, rtt: Duration) -> Self {
        match self {
            Self::Bdp(products) => {
                let bdp = mean.bytes_in(rtt).get() as f64;
                Self::Bytes(Bytes::new(libm::round(products * bdp) as u64))
            }
            Self::Time(time) => Self::Bytes(mean.bytes_in(time)),
            other => other,
        }
    }

    /// Checks that a packet of `mtu` fits; of bandwidth-delay products and times only that they are above zero.
    pub fn check(self, mtu: Bytes) -> Result<(), FieldError> {
        let (fits, allowed) = match self {
            Self::Bdp(products) => (products > 0.0, "more than 0bdp".to_owned()),
            Self::Packets(packets) => (packets > 0, "1packets or more".to_owned()),
            Self::Time(time) => (!time.is_zero(), "more than 0s".to_owned()),
            Self::Bytes(bytes) => (bytes >= mtu, format!("{}, the MTU, or more", mtu.write())),
        };
        if fits {
            return Ok(());
        }
        invalid_value("", self.write(), allowed)
    }
}

as_text!(Buffer);

impl Quantity for Buffer {
    const NAME: &'static str = "Buffer";
    const PATTERN: &'static str =
        r"^\s*[0-9.+eE-]+\s*(bdp|packets?|([kMG]|[KMG]i)?B|ns|us|µs|ms|s|min|h)\s*$";

    fn read(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let before_unit = |unit: &str| trimmed.strip_suffix(unit).map(str::trim);
        let buffer = if let Some(products) = before_unit("bdp") {
            products
                .parse()
                .ok()
                .filter(|p: &f64| p.is_finite() && *p >= 0.0)
                .map(Self::Bdp)
        } else if let Some(packets) = before_unit("packets").or_else(|| before_unit("packet")) {
            packets.parse().ok().map(Self::Packets)
        } else {
            let bytes = trimmed.parse().ok().map(Self::Bytes);
            bytes.or_else(|| trimmed.parse().ok().map(Self::Time))
        };
        buffer.ok_or_else(|| {
            format!(
                "{text:?} is not a buffer size; allowed: bandwidth-delay products (\"1bdp\"), \
                 packets (\"150packets\"), bytes (\"300kB\"), time at the mean rate (\"90ms\")"
            )
        })
    }

    fn write(&self) -> String {
        match self {
            Self::Bdp(products) => format!("{products}bdp"),
            Self::Packets(packets) => format!("{packets}packets"),
            Self::Bytes(bytes) => bytes.write(),
            Self::Time(time) => time.write(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_what_the_mean_rate_sends_in_it() {
        let (rate, rtt) = (
            Rate::from_bits_per_second(12_000_000),
            Duration::from_millis(60),
        );
        for (text, bytes) in [("90ms", 135_000), ("0.5s", 750_000), ("1.5bdp", 135_000)] {
            let buffer = Buffer::read(text).unwrap();
            assert_eq!(buffer.write(), text.replace("0.5s", "500ms"));
            assert_eq!(buffer.resolve(rate, rtt), Buffer::Bytes(Bytes::new(bytes)));
        }
    }
}
