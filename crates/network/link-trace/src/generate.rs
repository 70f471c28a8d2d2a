//! Generator: a stochastic model of a cellular link.
//!
//! The logarithm of the rate is an Ornstein-Uhlenbeck process: stationary, normal, its correlation
//! falling as exp(-t/τ). Rates are therefore lognormal, as measured rates of cellular links
//! roughly are. Their coefficient of variation is c if the variance of the logarithm is
//! ln(1 + c²). It is sampled exactly on a grid of 20 ms: x' = ρx + √(1 - ρ²)·σ·n, ρ = exp(-20 ms/τ).
//!
//! Independently, the link alternates between service and outage, both exponentially distributed
//! (a two-state Markov process in continuous time, started in its stationary state). The rate in
//! service is raised accordingly, so that the mean with outages is the one that is set.

use config::{FieldError, check_number, check_positive, check_range, table};
use units::random::{Purpose, RngStream};
use units::{Duration, Rate};

use crate::{Steps, StepsError, Trace};

/// Time between changes of the rate.
const GRID: Duration = Duration::from_millis(20);

table! {
    /// A stochastic cellular link: the logarithm of the rate is an Ornstein-Uhlenbeck process; outages come
    /// as a Poisson process and last an exponential time.
    pub struct Generate {
        /// Mean rate, outages included; default 20Mbit/s.
        pub mean: Rate = Rate::from_bits_per_second(20_000_000),
        /// Coefficient of variation of the rate outside of outages; default 0.6.
        pub variability: f64 = 0.6,
        /// Time after which the correlation of the logarithm of the rate has fallen to 1/e; default 2s.
        pub correlation: Duration = Duration::from_secs(2),
        /// Mean time from the end of an outage to the next; 0s for none; default 0s.
        pub outage_interval: Duration,
        /// Mean duration of an outage; default 1s.
        pub outage_duration: Duration = Duration::from_secs(1),
        /// Length, after which it repeats; default 10min.
        pub period: Duration = Duration::from_secs(600),
    }
}

/// Reason why no trace can be generated from the parameters.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum GenerateError {
    /// A parameter is out of its range.
    #[error("{0}")]
    Value(FieldError),
    /// The link is in outage for the whole time.
    #[error(
        "the generated link is in outage for the whole {0}: shorten outages or choose another seed"
    )]
    Outage(Duration),
}

impl Generate {
    /// Returns a trace of the model, which depends on `seed` and `entity` (the index of the link) only.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn generate(&self, seed: u64, entity: u32) -> Result<Trace, GenerateError> {
        self.check().map_err(GenerateError::Value)?;
        let outages = self.outages(&mut RngStream::new(seed, Purpose::GeneratedOutage, entity));
        let mut rng = RngStream::new(seed, Purpose::GeneratedCapacity, entity);
        let sigma = libm::sqrt(libm::log1p(self.variability * self.variability));
        let rho = if self.correlation.is_zero() {
            0.0
        } else {
            libm::exp(-GRID.as_secs_f64() / self.correlation.as_secs_f64())
        };
        let innovation_share = libm::sqrt(1.0 - rho * rho);
        let service_mbps = self.mean.as_mbps() / (1.0 - self.outage_share());

        let mut steps = Vec::with_capacity((self.period.as_nanos() / GRID.as_nanos()) as usize);
        let mut outages = outages.iter().copied().peekable();
        let mut x = rng.normal(0.0, 1.0);
        let mut from = Duration::ZERO;
        while from < self.period {
            let to = (from + GRID).min(self.period);
            let rate = Rate::from_mbps(service_mbps * libm::exp(sigma * x - sigma * sigma / 2.0));
            let mut at = from;
            while at < to {
                while outages.next_if(|&(_, end)| end <= at).is_some() {}
                let (rate, until) = match outages.peek() {
                    Some(&(start, end)) if start <= at => (Rate::ZERO, end),
                    Some(&(start, _)) => (rate, start),
                    None => (rate, to),
                };
                steps.push((at, rate));
                at = until.min(to);
            }
            x = rho * x + innovation_share * rng.normal(0.0, 1.0);
            from = to;
        }
        match Steps::new(&steps, self.period) {
            Ok(steps) => Ok(Trace::Steps(steps)),
            Err(StepsError::AllZero) => Err(GenerateError::Outage(self.period)),
            Err(error) => unreachable!("a grid is in order: {error}"),
        }
    }

    /// Checks that parameters are in their ranges.
    ///
    /// # Errors
    /// The first one that is out of its range.
    pub fn check(&self) -> Result<(), FieldError> {
        check_positive("mean", self.mean)?;
        check_number("variability", self.variability, 0.0, 5.0)?;
        check_range("period", self.period, GRID, Duration::from_secs(24 * 3600))?;
        if self.outage_interval.is_zero() {
            return Ok(());
        }
        check_positive("outage_duration", self.outage_duration)
    }

    /// Returns the share of time in outage.
    fn outage_share(&self) -> f64 {
        if self.outage_interval.is_zero() {
            return 0.0;
        }
        let outage = self.outage_duration.as_secs_f64();
        outage / (outage + self.outage_interval.as_secs_f64())
    }

    /// Returns start and end of each outage, in order.
    fn outages(&self, rng: &mut RngStream) -> Vec<(Duration, Duration)> {
        let mut outages = Vec::new();
        if self.outage_duration.is_zero() || self.outage_interval.is_zero() {
            return outages;
        }
        // The exponential distribution is memoryless: the rest of the first state is as long as a whole one.
        let mut in_outage = rng.uniform() < self.outage_share();
        let mut at = Duration::ZERO;
        while at < self.period {
            let mean = if in_outage {
                self.outage_duration
            } else {
                self.outage_interval
            };
            let end = at + Duration::from_secs_f64(rng.exponential(mean.as_secs_f64()));
            if in_outage && at < end {
                outages.push((at, end));
            }
            in_outage = !in_outage;
            at = end;
        }
        outages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive() -> Generate {
        Generate {
            mean: Rate::from_mbps(12.0),
            variability: 0.6,
            correlation: Duration::from_secs(1),
            outage_interval: Duration::ZERO,
            outage_duration: Duration::ZERO,
            period: Duration::from_secs(20_000),
        }
    }

    fn grid_rates(trace: &Trace) -> Vec<f64> {
        let Trace::Steps(steps) = trace else {
            panic!("a rate was generated")
        };
        let grid_points_before = |at: Duration| at.as_nanos().div_ceil(GRID.as_nanos()) as usize;
        let repeated = |(start, end, rate): (Duration, Duration, Rate)| {
            let count = grid_points_before(end) - grid_points_before(start);
            core::iter::repeat_n(rate.as_mbps(), count)
        };
        steps.iter().flat_map(repeated).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn correlation_at(values: &[f64], lag: usize) -> f64 {
        let mean = mean(values);
        let product = |lag: usize| {
            values
                .iter()
                .zip(&values[lag..])
                .map(|(a, b)| (a - mean) * (b - mean))
                .sum::<f64>()
        };
        product(lag) / product(0)
    }

    #[test]
    fn the_rate_has_the_wanted_mean_variability_and_correlation() {
        let rates = grid_rates(&drive().generate(1, 0).unwrap());
        let average = mean(&rates);
        assert!((average / 12.0 - 1.0).abs() < 0.03, "mean {average}");
        let squares: Vec<_> = rates
            .iter()
            .map(|rate| (rate - average) * (rate - average))
            .collect();
        let variability = mean(&squares).sqrt() / average;
        assert!(
            (variability - 0.6).abs() < 0.03,
            "variability {variability}"
        );
        let logarithms: Vec<_> = rates.iter().map(|rate| rate.ln()).collect();
        let after_one_second = correlation_at(&logarithms, 50);
        assert!(
            (after_one_second - 0.368).abs() < 0.03,
            "correlation {after_one_second}"
        );
    }

    #[test]
    fn outages_take_their_share_of_time_and_the_mean_stays() {
        let (interval, outage) = (Duration::from_secs(18), Duration::from_secs(2));
        let link = Generate {
            outage_interval: interval,
            outage_duration: outage,
            ..drive()
        };
        let trace = link.generate(7, 0).unwrap();
        let Trace::Steps(steps) = &trace else {
            panic!("a rate was generated")
        };
        let lengths: Vec<_> = steps
            .iter()
            .filter(|&(_, _, rate)| rate == Rate::ZERO)
            .map(|(start, end, _)| (end - start).as_secs_f64())
            .collect();
        let share = lengths.iter().sum::<f64>() / link.period.as_secs_f64();
        assert!((share - 0.1).abs() < 0.015, "share {share}");
        let length = mean(&lengths);
        assert!((length - 2.0).abs() < 0.2, "mean outage {length} s");
        let average = trace.mean_rate().as_mbps();
        assert!((average / 12.0 - 1.0).abs() < 0.04, "mean {average}");
    }

    #[test]
    fn outages_leave_the_rate_between_them_as_it_was_but_for_the_scale() {
        let calm = Generate {
            period: Duration::from_secs(60),
            ..drive()
        };
        let (interval, outage) = (Duration::from_secs(5), Duration::from_secs(5));
        let rough = Generate {
            outage_interval: interval,
            outage_duration: outage,
            ..calm.clone()
        };
        let calm = grid_rates(&calm.generate(3, 0).unwrap());
        let rough = grid_rates(&rough.generate(3, 0).unwrap());
        let kept = calm.iter().zip(&rough).filter(|&(_, &rate)| rate > 0.0);
        assert!(kept.clone().count() > 100);
        assert!(
            kept.clone()
                .all(|(calm, rough)| (rough - 2.0 * calm).abs() < 1e-5)
        );
    }

    #[test]
    fn a_seed_and_a_link_are_a_trace() {
        let short = Generate {
            period: Duration::from_secs(5),
            ..drive()
        };
        assert_eq!(short.generate(1, 0), short.generate(1, 0));
        assert_ne!(short.generate(1, 0), short.generate(2, 0));
        assert_ne!(short.generate(1, 0), short.generate(1, 1));
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let message = |generator: Generate| generator.generate(1, 0).unwrap_err().to_string();
        let wild = Generate {
            variability: f64::NAN,
            ..drive()
        };
        assert_eq!(
            message(wild),
            "variability: NaN is out of range; allowed: 0 to 5"
        );
        let none = Generate {
            mean: Rate::ZERO,
            ..drive()
        };
        assert_eq!(
            message(none),
            "mean: 0bit/s is out of range; allowed: more than zero"
        );
        let brief = Generate {
            period: Duration::from_millis(1),
            ..drive()
        };
        assert_eq!(
            message(brief),
            "period: 1ms is out of range; allowed: 20ms to 86400s"
        );
    }
}
