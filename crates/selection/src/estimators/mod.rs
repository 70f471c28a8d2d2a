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
use round_trips::Rounds;
use window::WindowEstimator;

/// Boundary of the latency classes: about the geometric mean of the 18 ms and 68 ms of atxutegi2018 §5. Each has 15 ms
/// more for the radio.
const LATENCY_BOUNDARY: Duration = Duration::from_millis(50);
/// Standard deviation of the logarithm of the lowest RTT from that of the path, from jitter that was never absent.
const LATENCY_DEVIATION: f64 = 0.2;
/// Number of bins without a queue after which the lowest RTT has a confidence of 0.5.
const HALF_CONFIDENCE_BINS: f64 = 2.0;
/// Minimum confidence at which the capacity gives a transmission time, and buffer and competition are known.
const MIN_CONFIDENCE: f64 = 0.5;
/// The transmission time of a segment counts from this part of the RTT on: a tenth, below which it is within the jitter.
const MIN_TRANSMISSION: u64 = 10;

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
    pub lately_lowest: Duration,
    /// Highest smoothed RTT of the last two seconds; zero before the first sample.
    pub lately_highest: Duration,
    /// Share of segments retransmitted lately.
    pub retransmitted: f64,
    /// Whether the window grows as in slow start.
    pub slow_start: bool,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Round trips of data so far.
    pub rounds: u32,
    /// Whether there is an outage, or the recovery from one.
    pub outage: bool,
    /// Hints of the radio.
    pub hints: Hints,
    /// Bytes that the application will send, if it knows.
    pub flow_size: Option<u64>,
    /// Measure that the application wants to maximise.
    pub requirement: Requirement,
}

impl PathEstimates {
    /// Returns smoothed RTT over lowest RTT, less 1.
    pub fn queue_ratio(&self) -> f64 {
        self.above_base(self.srtt)
    }

    /// Returns an RTT over the lowest RTT, less 1; 0 before the first sample.
    pub(crate) fn above_base(&self, rtt: Duration) -> f64 {
        if self.base_rtt.value.is_zero() {
            return 0.0;
        }
        (rtt.as_secs_f64() / self.base_rtt.value.as_secs_f64() - 1.0).max(0.0)
    }

    /// Returns an RTT over the bound of `goodput@`; `None` for another requirement.
    pub(crate) fn over_bound(&self, rtt: Duration) -> Option<f64> {
        match self.requirement {
            Requirement::GoodputAtRtt(bound) => Some(rtt.as_secs_f64() / bound.as_secs_f64()),
            _ => None,
        }
    }

    /// Returns a rate over that of `delay@`; `None` for another requirement.
    pub(crate) fn over_floor(&self, rate: Rate) -> Option<f64> {
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

    /// Returns the estimate of the competition once it is sure.
    pub(crate) fn sure_competition(&self) -> Option<Estimate<f64>> {
        Some(self.competition).filter(|each| each.confidence >= MIN_CONFIDENCE)
    }

    /// Returns the estimate of the buffer once it is sure.
    pub(crate) fn sure_buffer(&self) -> Option<Estimate<f64>> {
        Some(self.buffer).filter(|each| each.confidence >= MIN_CONFIDENCE)
    }

    /// Returns whether other flows surely share the bottleneck.
    pub(crate) fn shared(&self) -> bool {
        self.sure_competition()
            .is_some_and(|each| each.value >= COMPETITION_ELASTICITY)
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

/// Watch: the estimators of one connection.
#[derive(Clone, Debug, Default)]
pub struct PathEstimators {
    started_at: Option<Instant>,
    bins: Bins,
    capacity: CapacityEstimator,
    queue: QueueEstimator,
    window: WindowEstimator,
    jitter: JitterEstimator,
    extremes: MinMax,
    competition: CompetitionEstimator,
    /// RTT that the handshake has shown.
    handshake: Option<Duration>,
    rounds: Rounds,
    outage: OutageDetector,
    /// Whether there was an outage in the current bin.
    interrupted: bool,
    view: PathEstimates,
}

impl PathEstimators {
    /// Returns the current estimates.
    pub fn view(&self) -> &PathEstimates {
        &self.view
    }

    /// Sets the hints of the radio.
    pub fn hint(&mut self, hints: Hints) {
        self.view.hints = hints;
        self.update_movement();
    }

    /// Sets the lowest RTT of earlier connections to the destination, which is used until there are samples.
    pub(crate) fn seed_min_rtt(&mut self, min_rtt: Duration) {
        self.view.base_rtt = Estimate::new(min_rtt, 0.5);
        self.view.latency = latency(min_rtt);
    }

    /// Sets the number of bytes that the application will send, if it knows.
    pub fn expect(&mut self, flow_size: Option<u64>) {
        self.view.flow_size = flow_size;
    }

    /// Sets the measure that the application wants to maximise, whose bounds some features look at.
    pub(crate) fn set_requirement(&mut self, requirement: Requirement) {
        self.view.requirement = requirement;
    }

    /// Adds the state of the sender at `now`, with hints of the radio if there are any.
    pub fn observe(&mut self, now: Instant, sender: &SenderInfo, hints: Option<Hints>) {
        if let Some(hints) = hints {
            self.view.hints = hints;
        }
        let Some(sample) = Sample::of(now, sender) else {
            if hints.is_some() {
                self.update_movement();
            }
            return;
        };
        let started_at = *self.started_at.get_or_insert(sample.at);
        let rate = self.view.rate.bits_per_second() as f64 / 8.0 / f64::from(sender.mss.max(1));
        if sender.delivered <= 1 {
            self.handshake = Some(sample.min_rtt);
        }
        let floor = self
            .bins
            .baseline_rtt_s()
            .max(self.base(&sample).as_secs_f64());
        self.rounds.observe(sender);
        self.outage.observe(sender, self.rounds.count());
        let outage = self.outage.is_ongoing();
        self.interrupted |= outage;
        self.jitter.observe(sample.srtt);
        self.extremes.observe(sample.at, sample.srtt);
        let jitter = self.jitter.jitter().as_secs_f64();
        let noise = Noise {
            rtt_sd_s: jitter,
            capacity_cv: self.view.variability.value,
        };
        self.queue.observe(&sample, rate, floor, noise, outage);
        self.window.observe(sender);
        self.competition
            .observe(&sample, self.rounds.count(), floor, outage);
        if let Some(bin) = self.bins.observe(&sample) {
            // Arrivals in an outage say nothing about the capacity before and after it.
            if !core::mem::replace(&mut self.interrupted, outage) {
                self.capacity.observe(&bin);
            }
        }
        self.refresh(&sample, sample.at.saturating_since(started_at));
    }

    /// Returns the lowest RTT that a full segment can have. The lowest RTT may be that of
    /// the handshake, whose packets are small. Then the transmission time of a segment is added, if it matters
    /// compared to the RTT and no segment was faster.
    fn base(&self, sample: &Sample<'_>) -> Duration {
        let lowest = sample.min_rtt;
        let capacity = self.view.capacity;
        if self.handshake != Some(lowest) || capacity.confidence < MIN_CONFIDENCE {
            return lowest;
        }
        let segment = Bytes::new(u64::from(sample.sender.mss));
        let transmission = capacity.value.time_to_send(segment);
        if transmission * MIN_TRANSMISSION < lowest {
            return lowest;
        }
        lowest + transmission
    }

    fn refresh(&mut self, sample: &Sample<'_>, age: Duration) {
        let base = self.base(sample);
        let trend = self.capacity.trend();
        let view = &mut self.view;
        view.age = age;
        view.mss = sample.sender.mss;
        view.srtt = sample.srtt;
        view.lately_lowest = self.extremes.lowest();
        view.lately_highest = self.extremes.highest();
        view.rounds = self.rounds.count();
        view.outage = self.outage.is_ongoing();
        view.slow_start = sample.sender.slow_start;
        let queueless = self.bins.queueless_bins();
        view.base_rtt = Estimate::new(base, queueless / (queueless + HALF_CONFIDENCE_BINS));
        view.latency = latency(base);
        view.rate = self.bins.rate();
        view.retransmitted = self.bins.retransmitted();
        view.capacity = self.capacity.capacity();
        view.queue = self.queue.queue();
        let idle = self.bins.baseline_rtt_s() - sample.min_rtt.as_secs_f64();
        view.idle_wait = Duration::from_secs_f64(idle.clamp(0.0, 60.0));
        view.jitter = self.jitter.jitter();
        view.buffer = self.queue.buffer();
        view.loss_queue = self.queue.queue_at_loss();
        view.random_loss = self.queue.random_loss();
        view.window_limited = self.window.limited();
        view.competition = self.competition.competition();
        view.trend = Estimate::new(trend.slope, trend.confidence());
        view.variability = Estimate::new(trend.variability, trend.queue_share);
        self.update_movement();
    }

    /// Updates movement, speed and phase from the samples and the hints.
    fn update_movement(&mut self) {
        let trend = self.capacity.trend();
        let view = &mut self.view;
        view.movement = radio::movement(trend, &view.hints);
        view.speed = radio::speed(trend, view.movement, &view.hints);
        view.phase = radio::phase(view.age, view.capacity, view.movement, &view.hints);
    }
}

/// Returns the class of the latency; the confidence grows with the distance of the lowest RTT from the boundary.
fn latency(min_rtt: Duration) -> Estimate<Latency> {
    let away = (min_rtt.as_secs_f64() / LATENCY_BOUNDARY.as_secs_f64())
        .max(f64::MIN_POSITIVE)
        .ln();
    let class = if away < 0.0 {
        Latency::Low
    } else {
        Latency::Cellular
    };
    Estimate::new(
        class,
        libm::erf(away.abs() / LATENCY_DEVIATION / core::f64::consts::SQRT_2),
    )
}
