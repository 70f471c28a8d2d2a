//! Traffic of others.

use config::{Distribution, table};
use units::{Bytes, Duration, Rate};

table! {
    /// Packets at equal distance that share the queue and leave after the link; constant, or on and off.
    pub struct Cross {
        /// Rate while on, at the IP layer; default 1Mbit/s.
        pub rate: Rate = Rate::from_bits_per_second(1_000_000),
        /// Size of a packet; unset: the MTU of the link.
        pub packet: Option<Bytes>,
        /// When it starts, with an on-period if there are periods; default 0s.
        pub start: Duration,
        /// When it ends; unset: never.
        pub stop: Option<Duration>,
        /// Length of the periods with traffic; unset (as must off be): constant.
        pub on: Option<Distribution<Duration>>,
        /// Length of the periods without; unset (as must on be): constant.
        pub off: Option<Distribution<Duration>>,
    }
}
