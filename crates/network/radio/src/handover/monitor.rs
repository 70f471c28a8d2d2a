//! Radio link monitoring: N310, T310 and N311 (TS 36.331 clause 5.3.11, TS 36.133 clause 7.6).

use units::Instant;

use crate::settings::LinkFailure;

/// Samples in the window of Qout: 200 ms of one per radio frame (TS 36.133 clause 7.6.2.1).
const OUT_WINDOW: usize = 20;

/// Samples in the window of Qin: 100 ms.
const IN_WINDOW: usize = 10;

/// Radio link monitor of one UE.
#[derive(Clone, Debug)]
pub struct LinkMonitor {
    config: LinkFailure,
    /// The last samples in dB; the newest at `newest`.
    samples: [f64; OUT_WINDOW],
    newest: usize,
    sample_count: usize,
    /// Consecutive out-of-sync and in-sync indications.
    out_of_sync: u32,
    in_sync: u32,
    /// Time at which T310 expires; [`Instant::NEVER`] if it does not run.
    t310: Instant,
}

impl LinkMonitor {
    /// Returns a monitor without samples.
    pub fn new(config: LinkFailure) -> Self {
        Self {
            config,
            samples: [0.0; OUT_WINDOW],
            newest: 0,
            sample_count: 0,
            out_of_sync: 0,
            in_sync: 0,
            t310: Instant::NEVER,
        }
    }

    /// Removes all samples, because another cell serves now.
    pub fn reset(&mut self) {
        *self = Self::new(self.config.clone());
    }

    /// Returns whether T310 runs.
    pub(crate) fn is_t310_running(&self) -> bool {
        self.t310 != Instant::NEVER
    }

    /// Returns the time at which T310 expires; [`Instant::NEVER`] if it does not run.
    pub fn deadline(&self) -> Instant {
        self.t310
    }

    /// Adds the SINR of a radio frame, in dB. Call it every 10 ms. The quality over a window is the mean of its
    /// samples in dB.
    pub fn sample(&mut self, now: Instant, sinr_db: f64) {
        // A missing signal, or a value that is no number, is worse than anything measurable.
        let sinr_db = if sinr_db > -50.0 { sinr_db } else { -50.0 };
        self.newest = (self.newest + 1) % OUT_WINDOW;
        self.samples[self.newest] = sinr_db;
        self.sample_count = (self.sample_count + 1).min(OUT_WINDOW);
        if self
            .mean(OUT_WINDOW)
            .is_some_and(|db| db < self.config.out_of_sync.get())
        {
            self.out_of_sync += 1;
            self.in_sync = 0;
            if self.out_of_sync >= self.config.n310 && !self.is_t310_running() {
                self.t310 = now + self.config.t310;
            }
        } else if self
            .mean(IN_WINDOW)
            .is_some_and(|db| db > self.config.in_sync.get())
        {
            self.out_of_sync = 0;
            self.in_sync += 1;
            if self.in_sync >= self.config.n311 {
                self.t310 = Instant::NEVER;
            }
        }
    }

    /// Returns the mean of the last `count` samples; `None` if there are fewer.
    fn mean(&self, count: usize) -> Option<f64> {
        let back = |n| self.samples[(self.newest + OUT_WINDOW - n) % OUT_WINDOW];
        let sum: f64 = (0..count).map(back).sum();
        (self.sample_count >= count).then(|| sum / count as f64)
    }

    /// Returns whether T310 has expired, which means that the link has failed.
    pub fn has_failed(&self, now: Instant) -> bool {
        self.t310 <= now
    }
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(milliseconds)
    }

    fn run(monitor: &mut LinkMonitor, from: u64, frames: u64, db: f64) -> u64 {
        let end = from + 10 * frames;
        (from..end)
            .step_by(10)
            .for_each(|now| monitor.sample(at(now), db));
        end
    }

    /// TS 36.331 clause 5.3.11: N310 indications start T310, whose expiry is a radio link failure.
    #[test]
    fn a_lost_signal_fails_after_the_window_and_t310() {
        let mut monitor = LinkMonitor::new(LinkFailure {
            n310: 3,
            ..LinkFailure::default()
        });
        // The window of 200 ms is full with the twentieth sample; the third indication follows 20 ms
        // later.
        run(&mut monitor, 0, 21, -15.0);
        assert!(!monitor.is_t310_running());
        run(&mut monitor, 210, 1, -15.0);
        assert_eq!(monitor.deadline(), at(210 + 1_000));
        assert!(!monitor.has_failed(at(1_209)) && monitor.has_failed(at(1_210)));
    }

    /// Same clause: N311 in-sync indications in a row stop T310. Between the levels nothing happens.
    #[test]
    fn a_recovered_signal_stops_the_timer() {
        let mut monitor = LinkMonitor::new(LinkFailure {
            n311: 2,
            ..LinkFailure::default()
        });
        let now = run(&mut monitor, 0, 20, -15.0);
        assert!(monitor.is_t310_running());
        let now = run(&mut monitor, now, 20, -7.0);
        assert!(monitor.is_t310_running());
        // The mean of ten passes -6 dB with the first sample; the second one stops the timer.
        let now = run(&mut monitor, now, 1, 10.0);
        assert!(monitor.is_t310_running());
        run(&mut monitor, now, 1, 10.0);
        assert!(!monitor.is_t310_running());
    }
}
