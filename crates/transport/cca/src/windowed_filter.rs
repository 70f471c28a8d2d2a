//! Windowed maximum: the largest recent value, from three stored samples (Kathleen Nichols' algorithm, as in
//! the kernel's `win_minmax` and draft-cardwell-iccrg-bbr-congestion-control §4.1.1.2).

/// Running maximum over a window of time; the unit of time is the caller's choice, such as rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowedMax {
    /// Best, second best and third best sample as (time, value), each later than the one before.
    best: [(u64, u64); 3],
}

impl WindowedMax {
    /// Returns the largest value in the window.
    pub(super) fn get(&self) -> u64 {
        self.best[0].1
    }

    /// Adds a value at `time` and drops values older than `window`.
    pub(super) fn update(&mut self, window: u64, time: u64, value: u64) {
        let sample = (time, value);
        if value >= self.best[0].1 || time - self.best[2].0 > window {
            self.best = [sample; 3];
            return;
        }
        if value >= self.best[1].1 {
            self.best[2] = sample;
            self.best[1] = sample;
        } else if value >= self.best[2].1 {
            self.best[2] = sample;
        }
        let age = time - self.best[0].0;
        if age > window {
            // The best one is too old: the others move up.
            self.best = [self.best[1], self.best[2], sample];
            if time - self.best[0].0 > window {
                self.best = [self.best[1], self.best[2], sample];
            }
        } else if self.best[1].0 == self.best[0].0 && age > window / 4 {
            // A quarter of the window has passed without a better second choice.
            self.best[2] = sample;
            self.best[1] = sample;
        } else if self.best[2].0 == self.best[1].0 && age > window / 2 {
            self.best[2] = sample;
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
