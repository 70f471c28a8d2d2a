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
}

impl Buffer {
    /// Converts bandwidth-delay products to bytes, for a link of this mean rate and base RTT.
    pub fn resolve(self, mean: Rate, rtt: Duration) -> Self {
        match self {
            Self::Bdp(products) => {
                let bdp = mean.bytes_in(rtt).get() as f64;
                Self::Bytes(Bytes::new(libm::round(products * bdp) as u64))
            }
            other => other,
        }
    }

    /// Checks that a packet of `mtu` fits; of bandwidth-delay products only that they are above zero.
    pub fn check(self, mtu: Bytes) -> Result<(), FieldError> {
        let (fits, allowed) = match self {
            Self::Bdp(products) => (products > 0.0, "more than 0bdp".to_owned()),
            Self::Packets(packets) => (packets > 0, "1packets or more".to_owned()),
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
    const PATTERN: &'static str = r"^\s*[0-9.+eE-]+\s*(bdp|packets?|([kMG]|[KMG]i)?B)\s*$";

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
            trimmed.parse().ok().map(Self::Bytes)
        };
        buffer.ok_or_else(|| {
            format!(
                "{text:?} is not a buffer size; allowed: bandwidth-delay products (\"1bdp\"), \
                 packets (\"150packets\"), bytes (\"300kB\")"
            )
        })
    }

    fn write(&self) -> String {
        match self {
            Self::Bdp(products) => format!("{products}bdp"),
            Self::Packets(packets) => format!("{packets}packets"),
            Self::Bytes(bytes) => bytes.write(),
        }
    }
}
