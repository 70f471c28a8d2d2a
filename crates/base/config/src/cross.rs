//! Cross-traffic: packets of other senders that share a link.

use units::{Bytes, Duration, Rate};

use crate::validate::{
    FieldContext, FieldError, check_positive, check_range, invalid_value, reject,
};
use crate::{Distribution, table};

/// Headers of IPv4 and UDP.
const MIN_PACKET: Bytes = Bytes::new(28);

table! {
    /// Packets of other traffic, at equal intervals, which share the queue and leave after the link; constant, or on
    /// and off.
    pub struct Cross {
        /// Rate while on, at the IP layer; default 1Mbit/s.
        pub rate: Rate = Rate::from_bits_per_second(1_000_000),
        /// Size of a packet; unset: the MTU of the link.
        pub packet: Option<Bytes>,
        /// Start of the traffic, with an on-period if there are periods; default 0s.
        pub start: Duration,
        /// End of the traffic; unset: never.
        pub stop: Option<Duration>,
        /// Length of the periods with traffic; unset (then off is unset, too): constant.
        pub on: Option<Distribution<Duration>>,
        /// Length of the periods without traffic; unset (then on is unset, too): constant.
        pub off: Option<Distribution<Duration>>,
    }
}

impl Cross {
    /// Checks the ranges of values, on a link with this MTU.
    pub fn check(&self, mtu: Bytes) -> Result<(), FieldError> {
        check_positive("rate", self.rate)?;
        if let Some(packet) = self.packet {
            check_range("packet", packet, MIN_PACKET, mtu)?;
        }
        if let Some(stop) = self.stop.filter(|stop| *stop <= self.start) {
            return invalid_value("stop", stop, format!("times after start, {}", self.start));
        }
        match (&self.on, &self.off) {
            (Some(on), Some(off)) => {
                on.check(false).in_table("on")?;
                off.check(true).in_table("off")
            }
            (None, None) => Ok(()),
            (Some(_), None) => reject("on", "is given without off; allowed: both or none"),
            (None, Some(_)) => reject("off", "is given without on; allowed: both or none"),
        }
    }

    /// Returns whether the length of its periods is random.
    pub fn is_random(&self) -> bool {
        [&self.on, &self.off]
            .into_iter()
            .flatten()
            .any(Distribution::is_random)
    }
}
