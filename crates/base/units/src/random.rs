//! Random streams: every stream is seeded by its purpose.
//!
//! A draw is the Philox4x32-10 block (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11) of a
//! counter made of (entity, purpose, ordinal) under the key of the run's seed. The number of draws of one entity
//! therefore never changes the draws of another, and a draw can be repeated. Transcendental functions come from
//! `libm`, so that all machines agree to the bit.

use crate::Duration;

/// Purpose of a stream of draws.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum Purpose {
    /// Offset of a run in a recorded trace.
    TraceOffset = 1,
    /// Start of the first flow of a run.
    StartJitter = 2,
    /// Capacity of a generated trace.
    GeneratedCapacity = 3,
    /// Outages of a generated trace.
    GeneratedOutage = 4,
    /// Random loss on a link.
    Loss = 5,
    /// Jitter on a link.
    Jitter = 6,
    /// Early drops of a queue discipline.
    QueueDrop = 7,
    /// Hashing of flows to the sub-queues of a queue discipline.
    QueueHash = 8,
    /// Cross-traffic.
    CrossTraffic = 9,
    /// Choices of a congestion control (BBR's first phase of its gain cycle).
    CongestionControl = 10,
    /// Initial sequence numbers and timestamp offsets.
    InitialSequence = 11,
    /// Sizes and pauses of an application.
    Workload = 12,
    /// Angles and phases of the waves that make a fading channel.
    Fading = 13,
    /// Shadowing by buildings and terrain.
    Shadowing = 14,
    /// Line of sight to a base station.
    LineOfSight = 15,
    /// Choices of a selector of congestion controls.
    Selection = 16,
    /// Jitter of the constant pauses of an application.
    PauseJitter = 17,
    /// Changes of the state of a loss process over time.
    LossState = 18,
    /// Starts of the sessions of a flow.
    SessionStart = 19,
    /// Decoding of a transport block of the radio.
    HarqDecoding = 30,
    /// Errors of the feedback on transport blocks.
    HarqFeedback = 31,
    /// Decoding of a message of the control channel.
    ControlDecoding = 32,
}

/// Stream of draws for one purpose of one entity in one run.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct RngStream {
    key: [u32; 2],
    purpose: u32,
    entity: u32,
    next: u64,
}

impl RngStream {
    /// Returns the stream of `purpose` for the entity numbered `entity`, in the run with `seed`.
    pub fn new(seed: u64, purpose: Purpose, entity: u32) -> Self {
        Self {
            key: [seed as u32, (seed >> 32) as u32],
            purpose: purpose as u32,
            entity,
            next: 0,
        }
    }

    /// Returns the stream of another purpose for the same entity in the same run, from its first draw.
    pub fn for_purpose(&self, purpose: Purpose) -> Self {
        Self {
            key: self.key,
            purpose: purpose as u32,
            entity: self.entity,
            next: 0,
        }
    }

    /// Returns the 64-bit draw with the given ordinal, independent of earlier draws.
    pub fn at(&self, ordinal: u64) -> u64 {
        let counter = [
            ordinal as u32,
            (ordinal >> 32) as u32,
            self.purpose,
            self.entity,
        ];
        let block = philox4x32_10(counter, self.key);
        u64::from(block[0]) | u64::from(block[1]) << 32
    }

    /// Returns the next 64-bit draw.
    pub fn bits(&mut self) -> u64 {
        let draw = self.at(self.next);
        self.next += 1;
        draw
    }

    /// Draws a number that is uniform in [0, 1), with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Returns the draw with the given ordinal as a number that is uniform in [0, 1), with 53 bits.
    pub fn uniform_at(&self, ordinal: u64) -> f64 {
        (self.at(ordinal) >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Draws a uniform integer below `bound` (zero if `bound` is zero).
    pub fn uniform_u64(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Draws a uniform duration shorter than `bound` (zero if `bound` is zero).
    pub fn duration_below(&mut self, bound: Duration) -> Duration {
        Duration::from_nanos(self.uniform_u64(bound.as_nanos()))
    }

    /// Draws from an exponential distribution with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Draws from a normal distribution by the cosine half of Box and Muller, which takes two uniform draws.
    pub fn normal(&mut self, mean: f64, standard_deviation: f64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        let angle = core::f64::consts::TAU * self.uniform();
        mean + standard_deviation * radius * libm::cos(angle)
    }

    /// Draws from a lognormal distribution: the exponential of a normal with mean `mu` and standard deviation
    /// `sigma`.
    pub fn lognormal(&mut self, mu: f64, sigma: f64) -> f64 {
        libm::exp(self.normal(mu, sigma))
    }

    /// Draws from a Weibull distribution, by inversion.
    pub fn weibull(&mut self, scale: f64, shape: f64) -> f64 {
        scale * libm::pow(-libm::log(1.0 - self.uniform()), 1.0 / shape)
    }

    /// Draws from a Pareto distribution with minimum `scale`, by inversion.
    pub fn pareto(&mut self, scale: f64, shape: f64) -> f64 {
        scale * libm::pow(1.0 - self.uniform(), -1.0 / shape)
    }

    /// Draws from a gamma distribution, by the squeeze of Marsaglia and Tsang (ACM TOMS 26(3), 2000). Shapes below
    /// one are drawn at one more and scaled down, as the paper proposes.
    pub fn gamma(&mut self, shape: f64, scale: f64) -> f64 {
        if shape < 1.0 {
            let boosted = self.gamma(shape + 1.0, scale);
            return boosted * libm::pow(1.0 - self.uniform(), 1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let x = self.normal(0.0, 1.0);
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            let log_u = libm::log(1.0 - self.uniform());
            if log_u < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v * scale;
            }
        }
    }

    /// Draws from a logistic distribution, by inversion.
    pub fn logistic(&mut self, location: f64, scale: f64) -> f64 {
        let u = self.uniform().max(f64::MIN_POSITIVE);
        location + scale * libm::log(u / (1.0 - u))
    }
}

/// Computes ten rounds of Philox with four 32-bit words.
fn philox4x32_10(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    const MULTIPLIER: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    for _ in 0..10 {
        let first = MULTIPLIER[0] * u64::from(counter[0]);
        let second = MULTIPLIER[1] * u64::from(counter[2]);
        counter = [
            (second >> 32) as u32 ^ counter[1] ^ key[0],
            second as u32,
            (first >> 32) as u32 ^ counter[3] ^ key[1],
            first as u32,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of the Random123 distribution (kat_vectors, philox4x32 10).
    #[test]
    fn philox_matches_the_known_answers_of_random123() {
        assert_eq!(
            philox4x32_10([0; 4], [0; 2]),
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]
        );
        assert_eq!(
            philox4x32_10([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox4x32_10(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    fn moments(mut draw: impl FnMut(&mut RngStream) -> f64) -> (f64, f64) {
        let mut stream = RngStream::new(1, Purpose::Workload, 0);
        let n = 40_000;
        let values: Vec<f64> = (0..n).map(|_| draw(&mut stream)).collect();
        let mean = values.iter().sum::<f64>() / f64::from(n);
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / f64::from(n);
        (mean, variance.sqrt())
    }

    #[track_caller]
    fn assert_moments(result: (f64, f64), mean: f64, sd: f64) {
        assert!(
            (result.0 - mean).abs() < 0.03 * sd,
            "mean {} for {mean}",
            result.0
        );
        assert!(
            (result.1 - sd).abs() < 0.05 * sd,
            "sd {} for {sd}",
            result.1
        );
    }

    #[test]
    fn distributions_have_their_moments() {
        assert_moments(moments(RngStream::uniform), 0.5, (1.0_f64 / 12.0).sqrt());
        assert_moments(moments(|s| s.exponential(3.0)), 3.0, 3.0);
        assert_moments(moments(|s| s.normal(-2.0, 4.0)), -2.0, 4.0);
        assert_moments(moments(|s| s.gamma(2.5, 2.0)), 5.0, 2.0 * 2.5_f64.sqrt());
        assert_moments(moments(|s| s.gamma(0.5, 2.0)), 1.0, 2.0 * 0.5_f64.sqrt());
        assert_moments(
            moments(|s| s.logistic(1.0, 1.0)),
            1.0,
            core::f64::consts::PI / 3_f64.sqrt(),
        );
        // Weibull with shape 2 is Rayleigh.
        let rayleigh = (
            core::f64::consts::PI.sqrt() / 2.0,
            (1.0 - core::f64::consts::FRAC_PI_4).sqrt(),
        );
        assert_moments(moments(|s| s.weibull(1.0, 2.0)), rayleigh.0, rayleigh.1);
        // Pareto with shape 5: mean a/(a-1), variance a/((a-1)^2 (a-2)).
        assert_moments(
            moments(|s| s.pareto(1.0, 5.0)),
            1.25,
            (5.0_f64 / 48.0).sqrt(),
        );
        let log_sd = (0.25_f64.exp() * (0.25_f64.exp() - 1.0)).sqrt();
        assert_moments(moments(|s| s.lognormal(0.0, 0.5)), 0.125_f64.exp(), log_sd);
    }

    #[test]
    fn streams_do_not_slip_against_each_other() {
        let mut a = RngStream::new(7, Purpose::Loss, 3);
        let b = RngStream::new(7, Purpose::Loss, 4);
        let before = b.at(5);
        let _ = (a.bits(), a.bits());
        assert_eq!(b.at(5), before);
        assert_ne!(a.at(5), before);
        assert_eq!(a.bits(), RngStream::new(7, Purpose::Loss, 3).at(2));
    }

    #[test]
    fn an_integer_below_nothing_is_zero() {
        assert_eq!(RngStream::new(0, Purpose::Loss, 0).uniform_u64(0), 0);
    }
}
