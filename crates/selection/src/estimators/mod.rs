//! Estimators: from samples of a sender to properties of the path.

mod bins;
mod buffer;
mod capacity;
mod competition;
mod jitter;
mod minmax;
mod outage;
mod queue;
mod radio;
mod robust_regression;
mod round_trips;
mod window;

use cca::SenderInfo;
use units::{Bytes, Duration, Instant, Rate};

use crate::estimate::{Estimate, Latency, Movement, Phase, Speed};
use crate::requirement::Requirement;
use crate::sample::{Hints, Sample};
use bins::Bins;
use capacity::CapacityEstimator;
use competition::{COMPETITION_ELASTICITY, CompetitionEstimator};
use jitter::JitterEstimator;
use minmax::MinMax;
use outage::OutageDetector;
use queue::{Noise, QueueEstimator};
use round_trips::RoundCounter;
use window::WindowEstimator;

/// Boundary of the latency classes: about the geometric mean of the 18 ms and 68 ms of atxutegi2018 §5. Each has 15 ms
/// more for the radio.
const LATENCY_BOUNDARY: Duration = Duration::from_millis(50);
/// Standard deviation of ln(lowest RTT / lowest RTT of the path): jitter may never have been absent.
const LATENCY_DEVIATION: f64 = 0.2;
/// Number of bins without a queue after which the lowest RTT has a confidence of 0.5.
const HALF_CONFIDENCE_BINS: f64 = 2.0;
/// Minimum confidence at which the capacity gives a transmission time, and buffer and competition are known.
const MIN_CONFIDENCE: f64 = 0.5;
/// RTT over the transmission time of a segment above which that time is negligible: it is within the jitter.
const NEGLIGIBLE_RATIO: u64 = 10;

/// Estimates of a connection, from the sender's side.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PathEstimates {
    /// Time since the first sample.
    pub age: Duration,
    /// Lowest RTT; zero before the first sample.
    pub base_rtt: Estimate<Duration>,
    /// Class of the lowest RTT.
    pub latency: Estimate<Latency>,
    /// Capacity of the path, payload.
    pub capacity: Estimate<Rate>,
    /// Relative change of the capacity, 1/s.
    pub trend: Estimate<f64>,
    /// Movement, as the trend of the radio quality.
    pub movement: Estimate<Movement>,
    /// Standard deviation of the capacity around its trend, relative to its mean.
    pub variability: Estimate<f64>,
    /// Queue at the bottleneck, segments.
    pub queue: Estimate<f64>,
    /// Smoothed RTT without a queue less the lowest RTT; zero before the first sample.
    pub idle_wait: Duration,
    /// Jitter: deviation of the RTT of single packets that no queue explains; zero before the third sample.
    pub jitter: Duration,
    /// Size of the bottleneck's buffer, segments; 0 if it has never been full.
    pub buffer: Estimate<f64>,
    /// Longest queue at which segments were lost, segments; it may be far from full.
    pub loss_queue: Estimate<f64>,
    /// Whether the receive window limits the connection.
    pub window_limited: Estimate<bool>,
    /// Share of segments lost while the queue was short.
    pub random_loss: Estimate<f64>,
    /// Elasticity of the rate to the window while a queue stands: 0 alone, up to 1 with competing flows.
    pub competition: Estimate<f64>,
    /// Phase of the movement.
    pub phase: Estimate<Phase>,
    /// Class of the speed.
    pub speed: Estimate<Speed>,
    /// Smoothed delivery rate, payload.
    pub rate: Rate,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Lowest smoothed RTT of the last two seconds; zero before the first sample.
    pub min_recent_srtt: Duration,
    /// Highest smoothed RTT of the last two seconds; zero before the first sample.
    pub max_recent_srtt: Duration,
    /// Share of segments retransmitted in the last second.
    pub retransmitted: f64,
    /// Whether the window grows as in slow start.
    pub in_slow_start: bool,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Round trips of data so far.
    pub rounds: u32,
    /// Whether there is an outage, or the recovery from one.
    pub in_outage: bool,
    /// Hints of the radio.
    pub hints: Hints,
    /// Bytes that the application will send, if it knows.
    pub flow_size: Option<u64>,
    /// Measure that the application wants to optimise.
    pub requirement: Requirement,
}

impl PathEstimates {
    /// Returns smoothed RTT over lowest RTT, less 1.
    pub fn queue_ratio(&self) -> f64 {
        self.queueing_ratio(self.srtt)
    }

    /// Returns an RTT over the lowest RTT, less 1; 0 before the first sample.
    pub(crate) fn queueing_ratio(&self, rtt: Duration) -> f64 {
        if self.base_rtt.value.is_zero() {
            return 0.0;
        }
        (rtt.as_secs_f64() / self.base_rtt.value.as_secs_f64() - 1.0).max(0.0)
    }

    /// Returns an RTT over the bound of `goodput@`; `None` for another requirement.
    pub(crate) fn rtt_over_bound(&self, rtt: Duration) -> Option<f64> {
        match self.requirement {
            Requirement::GoodputAtRtt(bound) => Some(rtt.as_secs_f64() / bound.as_secs_f64()),
            _ => None,
        }
    }

    /// Returns a rate over that of `delay@`; `None` for another requirement.
    pub(crate) fn rate_over_floor(&self, rate: Rate) -> Option<f64> {
        match self.requirement {
            Requirement::DelayAtRate(floor) => Some(rate.as_mbps() / floor.as_mbps()),
            _ => None,
        }
    }

    /// Returns delivery rate over capacity, from 0 to 1.
    pub fn utilisation(&self) -> f64 {
        let capacity = self.capacity.value.bits_per_second();
        if capacity == 0 {
            return 0.0;
        }
        (self.rate.bits_per_second() as f64 / capacity as f64).min(1.0)
    }

    /// Returns capacity times lowest RTT, segments.
    pub fn bdp(&self) -> f64 {
        let bits = self.capacity.value.bits_per_second() as f64;
        bits * self.base_rtt.value.as_secs_f64() / 8.0 / f64::from(self.mss.max(1))
    }

    /// Returns the estimate of the competition if its confidence suffices.
    pub(crate) fn sure_competition(&self) -> Option<Estimate<f64>> {
        Some(self.competition).filter(|estimate| estimate.confidence >= MIN_CONFIDENCE)
    }

    /// Returns the estimate of the buffer if its confidence suffices.
    pub(crate) fn sure_buffer(&self) -> Option<Estimate<f64>> {
        Some(self.buffer).filter(|estimate| estimate.confidence >= MIN_CONFIDENCE)
    }

    /// Returns whether other flows share the bottleneck, with sufficient confidence.
    pub(crate) fn has_competition(&self) -> bool {
        self.sure_competition()
            .is_some_and(|elasticity| elasticity.value >= COMPETITION_ELASTICITY)
    }

    /// Returns -1 for forward and 1 for backward, times the confidence.
    pub(crate) fn movement_score(&self) -> f64 {
        let sign = match self.movement.value {
            Movement::Forward => -1.0,
            Movement::Static => 0.0,
            Movement::Backward => 1.0,
        };
        sign * self.movement.confidence
    }
}

/// Estimators of one connection.
#[derive(Clone, Debug, Default)]
pub struct PathEstimators {
    /// Time of the first sample.
    started_at: Option<Instant>,
    bins: Bins,
    capacity: CapacityEstimator,
    queue: QueueEstimator,
    window: WindowEstimator,
    jitter: JitterEstimator,
    srtt_range: MinMax,
    competition: CompetitionEstimator,
    /// RTT of the handshake.
    handshake_rtt: Option<Duration>,
    rounds: RoundCounter,
    outage: OutageDetector,
    /// Whether there was an outage in the current bin.
    has_bin_outage: bool,
    estimates: PathEstimates,
}

impl PathEstimators {
    /// Returns the current estimates.
    pub fn estimates(&self) -> &PathEstimates {
        &self.estimates
    }

    /// Sets the hints of the radio.
    pub fn set_hints(&mut self, hints: Hints) {
        self.estimates.hints = hints;
        self.update_movement();
    }

    /// Sets the lowest RTT of earlier connections to the destination, which is used until there are samples.
    pub(crate) fn seed_min_rtt(&mut self, min_rtt: Duration) {
        self.estimates.base_rtt = Estimate::new(min_rtt, 0.5);
        self.estimates.latency = classify_latency(min_rtt);
    }

    /// Sets the measure that the application wants to optimise, and the bytes that it will send, if it knows. Features
    /// depend on both.
    pub(crate) fn set_application(&mut self, requirement: Requirement, flow_size: Option<u64>) {
        self.estimates.requirement = requirement;
        self.estimates.flow_size = flow_size;
    }

    /// Adds the state of the sender at `now`, with hints of the radio if there are any.
    pub fn observe(&mut self, now: Instant, sender: &SenderInfo, hints: Option<Hints>) {
        if let Some(hints) = hints {
            self.estimates.hints = hints;
        }
        let Some(sample) = Sample::of(now, sender) else {
            if hints.is_some() {
                self.update_movement();
            }
            return;
        };
        let started_at = *self.started_at.get_or_insert(sample.at);
        let bytes_per_s = self.estimates.rate.bits_per_second() as f64 / 8.0;
        let segments_per_s = bytes_per_s / f64::from(sender.mss.max(1));
        if sender.delivered <= 1 {
            self.handshake_rtt = Some(sample.min_rtt);
        }
        let baseline_rtt_s = self
            .bins
            .baseline_rtt_s()
            .max(self.base_rtt(&sample).as_secs_f64());
        self.rounds.observe(sender);
        self.outage.observe(sender, self.rounds.count());
        let is_outage = self.outage.is_ongoing();
        self.has_bin_outage |= is_outage;
        self.jitter.observe(sample.srtt);
        self.srtt_range.observe(sample.at, sample.srtt);
        let noise = Noise {
            rtt_sd_s: self.jitter.jitter().as_secs_f64(),
            capacity_cv: self.estimates.variability.value,
        };
        self.queue
            .observe(&sample, segments_per_s, baseline_rtt_s, noise, is_outage);
        self.window.observe(sender);
        self.competition
            .observe(&sample, self.rounds.count(), baseline_rtt_s, is_outage);
        if let Some(bin) = self.bins.observe(&sample) {
            // Arrivals in an outage say nothing about the capacity before and after it.
            if !core::mem::replace(&mut self.has_bin_outage, is_outage) {
                self.capacity.observe(&bin);
            }
        }
        self.update(&sample, sample.at.saturating_since(started_at));
    }

    /// Returns the lowest RTT that a full segment can have. If the lowest RTT is that of the handshake, whose packets are
    /// small, the transmission time of a segment is added unless it is negligible.
    fn base_rtt(&self, sample: &Sample<'_>) -> Duration {
        let min_rtt = sample.min_rtt;
        let capacity = self.estimates.capacity;
        if self.handshake_rtt != Some(min_rtt) || capacity.confidence < MIN_CONFIDENCE {
            return min_rtt;
        }
        let segment = Bytes::new(u64::from(sample.sender.mss));
        let transmission = capacity.value.time_to_send(segment);
        if transmission * NEGLIGIBLE_RATIO < min_rtt {
            return min_rtt;
        }
        min_rtt + transmission
    }

    /// Updates the estimates at a sample; `age` is the time since the first one.
    fn update(&mut self, sample: &Sample<'_>, age: Duration) {
        let base_rtt = self.base_rtt(sample);
        let trend = &self.capacity.trend;
        let estimates = &mut self.estimates;
        estimates.age = age;
        estimates.mss = sample.sender.mss;
        estimates.srtt = sample.srtt;
        estimates.min_recent_srtt = self.srtt_range.min();
        estimates.max_recent_srtt = self.srtt_range.max();
        estimates.rounds = self.rounds.count();
        estimates.in_outage = self.outage.is_ongoing();
        estimates.in_slow_start = sample.sender.slow_start;
        let queueless = self.bins.queueless_bins();
        estimates.base_rtt =
            Estimate::new(base_rtt, queueless / (queueless + HALF_CONFIDENCE_BINS));
        estimates.latency = classify_latency(base_rtt);
        estimates.rate = self.bins.rate();
        estimates.retransmitted = self.bins.retransmitted();
        estimates.capacity = self.capacity.capacity();
        estimates.queue = self.queue.queue();
        let idle = self.bins.baseline_rtt_s() - sample.min_rtt.as_secs_f64();
        estimates.idle_wait = Duration::from_secs_f64(idle.clamp(0.0, 60.0));
        estimates.jitter = self.jitter.jitter();
        estimates.buffer = self.queue.buffer.estimate;
        estimates.loss_queue = self.queue.queue_at_loss();
        estimates.random_loss = self.queue.random_loss();
        estimates.window_limited = self.window.window_limited();
        estimates.competition = self.competition.competition();
        estimates.trend = Estimate::new(trend.slope, trend.confidence());
        estimates.variability = Estimate::new(trend.variability, trend.queue_share);
        self.update_movement();
    }

    /// Updates movement, speed and phase from the samples and the hints.
    fn update_movement(&mut self) {
        let trend = &self.capacity.trend;
        let estimates = &mut self.estimates;
        estimates.movement = radio::estimate_movement(trend, &estimates.hints);
        estimates.speed = radio::estimate_speed(trend, estimates.movement, &estimates.hints);
        estimates.phase = radio::estimate_phase(
            estimates.age,
            estimates.capacity,
            estimates.movement,
            &estimates.hints,
        );
    }
}

/// Returns the class of the latency; the confidence grows with the distance of the lowest RTT from the boundary.
fn classify_latency(min_rtt: Duration) -> Estimate<Latency> {
    let ln_ratio = (min_rtt.as_secs_f64() / LATENCY_BOUNDARY.as_secs_f64())
        .max(f64::MIN_POSITIVE)
        .ln();
    let class = if ln_ratio < 0.0 {
        Latency::Low
    } else {
        Latency::Cellular
    };
    Estimate::new(
        class,
        libm::erf(ln_ratio.abs() / LATENCY_DEVIATION / core::f64::consts::SQRT_2),
    )
}
