//! Lateness: time by which packets of a side come later than its earliest one, by its timestamps (RFC 7323 §5.4).
//!
//! It is the delay of queues in one direction, which an RTT does not tell from that of the other one.

use std::collections::BTreeMap;

/// Tick of the clocks that are read, ns: 1 ms, as of Linux, Windows and the BSDs.
const TICK_NS: i64 = 1_000_000;
/// Least packets and ticks from which on the clock is known to have that tick.
const PACKETS: u64 = 20;
const TICKS: i64 = 1_000;
/// Steps of 1 ms that are kept.
const STEPS: usize = 1 << 12;

/// Times of a side's packets beside its timestamps.
#[derive(Default)]
pub(super) struct Lateness {
    first: Option<(u32, u64)>,
    last: (u32, u64),
    count: u64,
    /// Packets by how much later than the first one they came, ms; earlier ones below 0.
    steps: BTreeMap<i64, u64>,
}

impl Lateness {
    pub(super) fn passed(&mut self, value: u32, at_ns: u64) {
        self.last = (value, at_ns);
        let first = *self.first.get_or_insert(self.last);
        let late_ns = Self::time_ns(first, self.last) - Self::ticks(first, self.last) * TICK_NS;
        let step = late_ns.div_euclid(TICK_NS);
        if self.steps.len() < STEPS || self.steps.contains_key(&step) {
            *self.steps.entry(step).or_default() += 1;
            self.count += 1;
        }
    }

    /// Returns the median lateness, ns; `None` where the clock has another tick.
    pub(super) fn median_ns(&self) -> Option<u64> {
        let first = self.first?;
        let ticks = Self::ticks(first, self.last);
        let time = Self::time_ns(first, self.last) / TICK_NS;
        let is_known = self.count >= PACKETS && ticks >= TICKS;
        // Queues of half of the time are not to be expected; other clocks differ by a factor of four or more.
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

    fn ticks(from: (u32, u64), to: (u32, u64)) -> i64 {
        i64::from(to.0.wrapping_sub(from.0) as i32)
    }

    fn time_ns(from: (u32, u64), to: (u32, u64)) -> i64 {
        to.1 as i64 - from.1 as i64
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
            lateness.passed(value, (500 + sent_ms + queue_ms) * MS);
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
