//! Lateness: time by which packets of a side come later than its earliest one, by its timestamps (RFC 7323 §5.4).
//!
//! It is the queueing delay of one direction; an RTT has that of both.

use std::collections::BTreeMap;

use super::sender_clock::Tick;

/// Only clocks with this tick are used, ns: that of Linux, Windows and the BSDs.
const TICK_NS: i64 = 1_000_000;
/// Minimum number of packets by which the tick of a clock is known.
const MIN_PACKETS: u64 = 20;
/// Minimum number of ticks by which the tick of a clock is known.
const MIN_TICKS: i64 = 1_000;
/// Maximum number of stored steps of 1 ms.
const MAX_STEPS: usize = 1 << 12;

/// Lateness of the packets of a side.
#[derive(Default)]
pub(super) struct Lateness {
    first: Option<Tick>,
    last: Tick,
    count: u64,
    /// Number of packets by their lateness against the first one, ms; earlier ones are below 0.
    steps: BTreeMap<i64, u64>,
}

impl Lateness {
    pub(super) fn on_timestamp(&mut self, value: u32, at_ns: u64) {
        self.last = Tick { value, at_ns };
        let first = *self.first.get_or_insert(self.last);
        let late_ns = first.ns_until(self.last) - first.ticks_until(self.last) * TICK_NS;
        let step = late_ns.div_euclid(TICK_NS);
        if self.steps.len() < MAX_STEPS || self.steps.contains_key(&step) {
            *self.steps.entry(step).or_default() += 1;
            self.count += 1;
        }
    }

    /// Returns the median lateness, ns; `None` where the clock has another tick.
    pub(super) fn median_ns(&self) -> Option<u64> {
        let first = self.first?;
        let ticks = first.ticks_until(self.last);
        let time = first.ns_until(self.last) / TICK_NS;
        let is_known = self.count >= MIN_PACKETS && ticks >= MIN_TICKS;
        // No queue grows by half of the time; clocks with other ticks differ by a factor of four or more.
        if !is_known || time > 2 * ticks || 2 * time < ticks {
            return None;
        }
        let (min_step, _) = self.steps.first_key_value()?;
        let mut seen = 0;
        let median = self.steps.iter().find(|(_, count)| {
            seen += **count;
            2 * seen >= self.count
        });
        median.map(|(step, _)| ((step - min_step) * TICK_NS) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Packets every 10 ms by a clock of `tick_ms`, of which those from number `from` on wait for 80 ms.
    fn median_ms(tick_ms: u64, from: u64) -> Option<u64> {
        let mut lateness = Lateness::default();
        for number in 0..400 {
            let sent_ms = 10 * number;
            let value = (u32::MAX - 99).wrapping_add((sent_ms / tick_ms) as u32);
            let queue_ms = if number >= from { 80 } else { 0 };
            lateness.on_timestamp(value, (500 + sent_ms + queue_ms) * MS);
        }
        lateness.median_ns().map(|ns| ns / MS)
    }

    #[test]
    fn a_queue_makes_packets_late() {
        assert_eq!(median_ms(1, 50), Some(80));
        assert_eq!(median_ms(1, 350), Some(0));
    }

    #[test]
    fn a_clock_of_another_tick_shows_nothing() {
        assert_eq!(median_ms(4, 50), None);
        assert_eq!(median_ms(10, 50), None);
    }
}
