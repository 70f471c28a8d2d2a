//! Jitter of constant pauses, which keeps periodic flows from staying in phase.
//!
//! Flows that repeat after equal pauses fall into step with each other and with the queue that they share: the same
//! packet meets the same full queue each time. Floyd and Jacobson, "The synchronization of periodic routing messages"
//! (IEEE/ACM ToN 2(2), 1994), describe this, and the remedy: a random part of each period. They recommend up to half of
//! the period, as RTCP does (RFC 3550 section 6.2). 0.1 is the smallest round value with which fetches
//! that share a buffer of 20 packets with a bulk transfer lose about as few handshakes as with exponential pauses.

use config::{Distribution, FieldError, check_number};
use units::Duration;
use units::random::{Purpose, RngStream};

/// Default share of a constant pause by which it varies.
pub(crate) const DEFAULT_JITTER: f64 = 0.1;

/// Checks a share of pauses.
pub(crate) fn check_jitter(share: f64) -> Result<(), FieldError> {
    check_number("jitter", share, 0.0, 1.0)
}

/// Returns whether pauses with this jitter are random.
pub(crate) fn is_random_pause(pause: &Distribution<Duration>, share: f64) -> bool {
    match pause {
        Distribution::Constant { value } => share > 0.0 && !value.is_zero(),
        _ => true,
    }
}

/// Jitter of the pauses of one application. Its random stream is seeded per application, so that draws are the same
/// whatever the network and the CCA do.
pub(crate) struct Jitter {
    share: f64,
    draws: RngStream,
}

impl Jitter {
    /// Returns the jitter by a `share` of the pause, for the application with these draws.
    pub(crate) fn new(share: f64, application: &RngStream) -> Self {
        Self {
            share,
            draws: application.for_purpose(Purpose::PauseJitter),
        }
    }

    /// Draws the next pause. One that is not constant comes from `rng` and has no jitter.
    pub(crate) fn draw_pause(
        &mut self,
        distribution: &Distribution<Duration>,
        rng: &mut RngStream,
    ) -> Duration {
        match *distribution {
            Distribution::Constant { value } => self.draw_around(value),
            _ => distribution.draw(rng),
        }
    }

    /// Draws the next pause uniformly from mean·(1 ± share).
    pub(crate) fn draw_around(&mut self, mean: Duration) -> Duration {
        if self.share == 0.0 || mean.is_zero() {
            return mean;
        }
        let mean_ns = mean.as_nanos();
        let half_ns = (mean_ns as f64 * self.share) as u64;
        let range_ns = half_ns.saturating_mul(2).saturating_add(1);
        Duration::from_nanos(
            (mean_ns - half_ns.min(mean_ns)).saturating_add(self.draws.uniform_u64(range_ns)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn pauses(share: f64, application: &RngStream) -> Vec<Duration> {
        let mut jitter = Jitter::new(share, application);
        (0..1_000).map(|_| jitter.draw_around(SECOND)).collect()
    }

    #[test]
    fn constant_pauses_vary_by_the_share_around_their_value() {
        let drawn = pauses(0.1, &RngStream::new(1, Purpose::Workload, 0));
        let [low, high] = [900, 1_100].map(Duration::from_millis);
        assert!(drawn.iter().all(|pause| (low..=high).contains(pause)));
        let mean = drawn.iter().map(|pause| pause.as_secs_f64()).sum::<f64>() / 1_000.0;
        assert!((mean - 1.0).abs() < 0.006, "{mean}");
        let below = drawn
            .iter()
            .filter(|pause| **pause < Duration::from_millis(920))
            .count();
        assert!(
            (70..130).contains(&below),
            "a tenth of a uniform range: {below}"
        );
    }

    #[test]
    fn without_a_share_pauses_are_equal() {
        let drawn = pauses(0.0, &RngStream::new(1, Purpose::Workload, 0));
        assert!(drawn.iter().all(|pause| *pause == SECOND));
    }

    #[test]
    fn pauses_depend_on_seed_and_application_but_not_on_its_other_draws() {
        let application = RngStream::new(1, Purpose::Workload, 0);
        let first = pauses(0.1, &application);
        assert_ne!(first, pauses(0.1, &RngStream::new(2, Purpose::Workload, 0)));
        assert_ne!(first, pauses(0.1, &RngStream::new(1, Purpose::Workload, 1)));
        let mut later = application;
        let _ = later.bits();
        assert_eq!(first, pauses(0.1, &later));
    }

    #[test]
    fn a_pause_that_is_drawn_already_has_no_jitter() {
        let pause = Distribution::Exponential { mean: SECOND };
        let mut draws = RngStream::new(1, Purpose::Workload, 0);
        let mut same = draws.clone();
        let mut jitter = Jitter::new(0.1, &draws);
        assert_eq!(jitter.draw_pause(&pause, &mut draws), pause.draw(&mut same));
    }

    #[test]
    fn the_longest_pause_and_the_whole_share_do_not_overflow() {
        let mut jitter = Jitter::new(1.0, &RngStream::new(1, Purpose::Workload, 0));
        for _ in 0..100 {
            let _ = jitter.draw_around(Duration::from_nanos(u64::MAX));
        }
    }
}
