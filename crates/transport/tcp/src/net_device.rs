//! Network device of a host: when the bursts that it has got no longer count (TCP small queues).

use units::{Duration, Rate};

/// Network device of a host. Data in its queue counts against the limit of TCP small queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NetDevice {
    /// TUN device: packets handed to it do not count.
    Tun,
    /// Card that sends a burst, and reports its completion, before the next event.
    Immediate,
    /// Card that sends bursts one after the other.
    Reporting {
        /// Rate at which packets leave.
        rate: Rate,
        /// Time between the end of a burst and the report of its completion.
        delay: Duration,
    },
}

impl NetDevice {
    /// Device of a server. It is faster than the links of a path, so that all queueing is on the path. Its report comes
    /// late, as devices report several packets at once. The delay exceeds the time that the kernel engine's clock advances
    /// in a system call, 256 ns per reading.
    pub const SERVER: Self = Self::Reporting {
        rate: Self::SERVER_RATE,
        delay: Self::SERVER_DELAY,
    };
    /// Rate of [`NetDevice::SERVER`].
    pub const SERVER_RATE: Rate = Rate::from_bits_per_second(100_000_000_000);
    /// Delay of the reports of [`NetDevice::SERVER`].
    pub const SERVER_DELAY: Duration = Duration::from_micros(4);
}
