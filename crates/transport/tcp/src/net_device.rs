//! Network device of a host, as the queue below TCP sees it.

use units::{Duration, Rate};

/// Device below TCP. The data that it has counts as the sender's (TCP small queues).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NetDevice {
    /// TUN device: packets handed to it do not count.
    Tun,
    /// Card that sends a burst, and reports that it is sent, before anything else happens.
    Immediate,
    /// Card that sends bursts one after the other.
    Reporting {
        /// Rate at which packets leave.
        rate: Rate,
        /// Time between the end of a burst and its report.
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
