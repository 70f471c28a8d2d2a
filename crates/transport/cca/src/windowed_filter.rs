//! Windowed maximum: the largest recent value, from three stored samples (Kathleen Nichols' algorithm, as in
//! the kernel's `win_minmax` and draft-cardwell-iccrg-bbr-congestion-control §4.1.1.2).

/// Value at a time.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    time: u64,
    value: u64,
}

/// Running maximum over a window of time; the unit of time is the caller's choice, such as rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowedMax {
    /// Best, second best and third best sample, each later than the one before or the same.
    best: [Sample; 3],
}

impl WindowedMax {
    /// Returns the largest value in the window.
    pub(super) fn get(&self) -> u64 {
        self.best[0].value
    }

    /// Adds a value at `time` and drops values older than `window`.
    pub(super) fn update(&mut self, window: u64, time: u64, value: u64) {
        let sample = Sample { time, value };
        let best = &mut self.best;
        if value >= best[0].value || time - best[2].time > window {
            *best = [sample; 3];
            return;
        }
        if value >= best[1].value {
            best[2] = sample;
            best[1] = sample;
        } else if value >= best[2].value {
            best[2] = sample;
        }
        let age = time - best[0].time;
        if age > window {
            // The best one is too old: the others move up.
            *best = [best[1], best[2], sample];
            if time - best[0].time > window {
                *best = [best[1], best[2], sample];
            }
        } else if best[1].time == best[0].time && age > window / 4 {
            // A quarter of the window has passed without a better second choice.
            best[2] = sample;
            best[1] = sample;
        } else if best[2].time == best[1].time && age > window / 2 {
            best[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WindowedMax;
    use proptest::prelude::*;

    #[test]
    fn an_old_maximum_expires() {
        let mut filter = WindowedMax::default();
        filter.update(10, 0, 100);
        for time in 1..=10 {
            filter.update(10, time, 50);
            assert_eq!(filter.get(), 100);
        }
        filter.update(10, 11, 50);
        assert_eq!(filter.get(), 50);
    }

    proptest! {
        #[test]
        fn the_maximum_lies_between_the_latest_and_the_largest_value_of_the_window(
            values in prop::collection::vec(0_u64..1000, 1..100)
        ) {
            let mut filter = WindowedMax::default();
            for (time, &value) in values.iter().enumerate() {
                filter.update(10, time as u64, value);
                let recent = &values[time.saturating_sub(10)..=time];
                prop_assert!(filter.get() >= value);
                prop_assert!(filter.get() <= *recent.iter().max().unwrap());
            }
        }
    }
}
