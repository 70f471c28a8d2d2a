//! Clock of a sender, as far as its timestamps show it (RFC 7323 §5.4).

/// Minimum ticks and time from which a rate is known.
const TICKS: u32 = 10;
const KNOWN_NS: u64 = 20_000_000;

/// A timestamp and the time at which it passed.
type Tick = (u32, u64);

/// First and last timestamp of a side.
#[derive(Default)]
pub(super) struct SenderClock {
    first: Option<Tick>,
    last: Tick,
}

impl SenderClock {
    pub(super) fn passed(&mut self, value: u32, at_ns: u64) {
        self.first.get_or_insert((value, at_ns));
        self.last = (value, at_ns);
    }

    /// Returns how much longer the capture took than the sender from its last timestamp to `value` at `at_ns`.
    pub(super) fn surplus_ns(&self, value: u32, at_ns: u64) -> Option<u64> {
        let (first, last) = (self.first?, self.last);
        let ticks = last.0.wrapping_sub(first.0);
        let time = last.1.saturating_sub(first.1);
        if ticks < TICKS || time < KNOWN_NS || ticks > i32::MAX as u32 {
            return None;
        }
        let tick_ns = time as f64 / f64::from(ticks);
        let own = f64::from((value.wrapping_sub(last.0) as i32).max(0)) * tick_ns;
        Some(at_ns.saturating_sub(last.1).saturating_sub(own as u64))
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
                clock.passed(value, u64::from(number) * tick_ms * MS);
            }
            let next = (u32::MAX - 7).wrapping_add(41);
            let at_ns = 41 * tick_ms * MS;
            assert_eq!(clock.surplus_ns(next, at_ns), Some(0));
            assert_eq!(clock.surplus_ns(next, at_ns + 3_000 * MS), Some(3_000 * MS));
        }
    }

    #[test]
    fn a_few_ticks_tell_no_rate() {
        let mut clock = SenderClock::default();
        clock.passed(5, MS);
        clock.passed(8, 4 * MS);
        assert_eq!(clock.surplus_ns(9, 900 * MS), None);
    }
}
