//! Sender clock: the tick rate of a sender's timestamps (RFC 7323 §5.4).

/// Minimum number of ticks by which a rate is known.
const MIN_TICKS: u32 = 10;
/// Minimum time by which a rate is known, ns.
const MIN_NS: u64 = 20_000_000;

/// A timestamp and the time at which it passed.
#[derive(Clone, Copy, Default)]
pub(super) struct Tick {
    pub(super) value: u32,
    pub(super) at_ns: u64,
}

impl Tick {
    pub(super) fn ticks_until(self, later: Self) -> i64 {
        i64::from(later.value.wrapping_sub(self.value) as i32)
    }

    pub(super) fn ns_until(self, later: Self) -> i64 {
        later.at_ns as i64 - self.at_ns as i64
    }
}

/// First and last timestamp of a side.
#[derive(Default)]
pub(super) struct SenderClock {
    first: Option<Tick>,
    last: Tick,
}

impl SenderClock {
    pub(super) fn on_timestamp(&mut self, value: u32, at_ns: u64) {
        self.last = Tick { value, at_ns };
        self.first.get_or_insert(self.last);
    }

    /// Returns the latest timestamp.
    pub(super) fn last_value(&self) -> u32 {
        self.last.value
    }

    /// Returns the time of `value` on the clock of the capture since the first timestamp, and the length of a tick, ns.
    pub(super) fn sent_ns(&self, value: u32) -> Option<(u64, u64)> {
        let (first, tick_ns) = (self.first?, self.tick_ns()?);
        let ticks = (value.wrapping_sub(first.value) as i32).max(0);
        // The mean has the delay of the latest packet, and clocks have round ticks.
        let unit = 10f64.powf(tick_ns.max(10.0).log10().floor() - 1.0);
        let round_ns = ((tick_ns / unit).round() * unit) as u64;
        Some((ticks as u64 * round_ns, round_ns))
    }

    /// Returns the mean length of a tick on the clock of the capture, ns.
    fn tick_ns(&self) -> Option<f64> {
        let ticks = self.last.value.wrapping_sub(self.first?.value);
        let time = self.last.at_ns.saturating_sub(self.first?.at_ns);
        let is_known = (MIN_TICKS..=i32::MAX as u32).contains(&ticks) && time >= MIN_NS;
        is_known.then(|| time as f64 / f64::from(ticks))
    }

    /// Returns by how much more the capture's clock advanced than the sender's, from its last timestamp to `value` at
    /// `at_ns`.
    pub(super) fn surplus_ns(&self, value: u32, at_ns: u64) -> Option<u64> {
        let (last, tick_ns) = (self.last, self.tick_ns()?);
        let own_ns = f64::from((value.wrapping_sub(last.value) as i32).max(0)) * tick_ns;
        let captured_ns = at_ns.saturating_sub(last.at_ns);
        Some(captured_ns.saturating_sub(own_ns as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_rate_is_that_of_the_sender() {
        for tick_ms in [1, 10] {
            let mut clock = SenderClock::default();
            for number in 0..40_u32 {
                let value = (u32::MAX - 7).wrapping_add(number);
                clock.on_timestamp(value, u64::from(number) * tick_ms * MS);
            }
            let next = (u32::MAX - 7).wrapping_add(41);
            let at_ns = 41 * tick_ms * MS;
            assert_eq!(clock.surplus_ns(next, at_ns), Some(0));
            assert_eq!(clock.surplus_ns(next, at_ns + 3_000 * MS), Some(3_000 * MS));
        }
    }

    #[test]
    fn packets_of_a_tick_were_sent_at_one_time_whenever_they_arrive() {
        let mut clock = SenderClock::default();
        for number in 0..100 {
            clock.on_timestamp(number, u64::from(number) * MS);
        }
        clock.on_timestamp(99, 103 * MS);
        assert_eq!(clock.sent_ns(99), Some((99 * MS, MS)));
    }

    #[test]
    fn a_few_ticks_tell_no_rate() {
        let mut clock = SenderClock::default();
        clock.on_timestamp(5, MS);
        clock.on_timestamp(8, 4 * MS);
        assert_eq!(clock.surplus_ns(9, 900 * MS), None);
    }
}
