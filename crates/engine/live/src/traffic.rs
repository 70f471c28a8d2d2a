//! Traffic: packets and bytes of any protocol, by the host that they are sent to.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use net::HostId;
use units::Duration;

/// Packets of one destination.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Packets that were sent to it.
    pub sent: u64,
    /// Bytes that were sent to it, at the IP layer.
    pub sent_bytes: u64,
    /// Packets that have arrived.
    pub delivered: u64,
    /// Bytes that have arrived, at the IP layer.
    pub delivered_bytes: u64,
    /// Packets that were lost.
    pub lost: u64,
    /// Packets that have arrived with a congestion mark.
    pub marked: u64,
    /// One-way delays, us.
    delays: Histogram<u32>,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            sent: 0,
            sent_bytes: 0,
            delivered: 0,
            delivered_bytes: 0,
            lost: 0,
            marked: 0,
            delays: new_histogram(),
        }
    }
}

/// Maximum time of a histogram, us: a minute. Longer ones count as that.
const MAX_MICROSECONDS: u64 = 60_000_000;
/// Significant decimal digits of the times in a histogram.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Returns an empty histogram of times in microseconds.
pub(crate) fn new_histogram() -> Histogram<u32> {
    match Histogram::new_with_max(MAX_MICROSECONDS, SIGNIFICANT_DIGITS) {
        Ok(histogram) => histogram,
        Err(error) => unreachable!("these are bounds of a histogram: {error}"),
    }
}

impl Traffic {
    /// Returns the one-way delay that a share of the packets, from 0 to 1, does not exceed; `None` without any.
    pub fn delay(&self, share: f64) -> Option<Duration> {
        let known = !self.delays.is_empty();
        known.then(|| Duration::from_micros(self.delays.value_at_quantile(share)))
    }

    pub(crate) fn deliver(&mut self, bytes: usize, delay: Duration, is_marked: bool) {
        self.delivered += 1;
        self.delivered_bytes += bytes as u64;
        self.marked += u64::from(is_marked);
        self.delays.saturating_record(delay.as_micros());
    }
}

/// Packets by destination.
pub(crate) type TrafficByHost = BTreeMap<HostId, Traffic>;
