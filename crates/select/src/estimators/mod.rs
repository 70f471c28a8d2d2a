//! From samples to what the network is doing.

mod bins;
mod capacity;
mod queue;

use units::{Duration, Instant, Rate};

use crate::estimate::{Estimate, Latency, Movement, Phase, Speed};
use crate::sample::{Hints, Sample};
use bins::Bins;
use capacity::CapacityEstimator;
use queue::QueueEstimator;

/// Half-way, by ratio, between the 18 ms and 68 ms of atxutegi2018 §5.
const LATENCY_BOUNDARY: Duration = Duration::from_millis(50);
/// Length of the start-up phase (atxutegi2018 §6.3).
const START_UP: Duration = Duration::from_secs(2);
/// Change of ln(capacity) per second below which the quality neither falls nor rises.
const STANDING: f64 = 0.008;
/// The same for the mean SINR, dB/s: a decibel is about a tenth of the capacity in the mobility scenarios.
const STANDING_SINR: f64 = 0.08;
/// Capacity below which conditions are poor, Mbit/s: that of 20 MHz within 2.5 dB of 0 dB, as the
/// constrained area of atxutegi2018 §6.3.
const CONSTRAINED_MBPS: f64 = 14.0;

/// What a connection looks like from its sender.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct View {
    /// Time since the first sample.
    pub age: Duration,
    /// Lowest RTT; zero before the first sample.
    pub base_rtt: Estimate<Duration>,
    /// Class of that.
    pub latency: Estimate<Latency>,
    /// Capacity of the path, payload.
    pub capacity: Estimate<Rate>,
    /// Relative change of the capacity, 1/s.
    pub trend: Estimate<f64>,
    /// Where that goes.
    pub movement: Estimate<Movement>,
    /// Standard deviation of the capacity over its mean, the trend left out.
    pub variability: Estimate<f64>,
    /// What waits at the bottleneck, segments.
    pub queue: Estimate<f64>,
    /// Room of its buffer, segments; 0 while it has never been full.
    pub buffer: Estimate<f64>,
    /// Whether the receive window limits.
    pub window_limited: Estimate<bool>,
    /// Share of segments lost while the queue was short.
    pub random_loss: Estimate<f64>,
    /// Where the connection is on its way.
    pub phase: Estimate<Phase>,
    /// Class of the speed.
    pub speed: Estimate<Speed>,
    /// Smoothed delivery rate, payload.
    pub rate: Rate,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Share of segments sent again lately.
    pub retransmitted: f64,
    /// Whether the window grows as in slow start.
    pub slow_start: bool,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// What the radio tells.
    pub hints: Hints,
    /// Bytes that the application will send, where it knows.
    pub flow_size: Option<u64>,
}

impl View {
    /// Smoothed RTT over lowest RTT, less 1.
    pub fn queue_ratio(&self) -> f64 {
        if self.base_rtt.value.is_zero() {
            return 0.0;
        }
        (self.srtt.as_secs_f64() / self.base_rtt.value.as_secs_f64() - 1.0).max(0.0)
    }

    /// Delivery rate over capacity, from 0 to 1.
    pub fn utilisation(&self) -> f64 {
        let capacity = self.capacity.value.bits_per_second();
        if capacity == 0 {
            return 0.0;
        }
        (self.rate.bits_per_second() as f64 / capacity as f64).min(1.0)
    }

    /// Capacity times lowest RTT, segments.
    pub fn bdp(&self) -> f64 {
        let bits = self.capacity.value.bits_per_second() as f64;
        bits * self.base_rtt.value.as_secs_f64() / 8.0 / f64::from(self.mss.max(1))
    }

    /// -1 for forward, 1 for backward, times the confidence.
    pub fn movement_score(&self) -> f64 {
        let sign = match self.movement.value {
            Movement::Forward => -1.0,
            Movement::Static => 0.0,
            Movement::Backward => 1.0,
        };
        sign * self.movement.confidence
    }
}

/// Watches one connection.
#[derive(Clone, Debug)]
pub struct Watch {
    begun: Option<Instant>,
    last: Option<Sample>,
    bins: Bins,
    capacity: CapacityEstimator,
    queue: QueueEstimator,
    hints: Hints,
    view: View,
}

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}

impl Watch {
    /// Of a connection that has not sent anything yet.
    pub fn new() -> Self {
        Self {
            begun: None,
            last: None,
            bins: Bins::new(),
            capacity: CapacityEstimator::new(),
            queue: QueueEstimator::new(),
            hints: Hints::default(),
            view: View::default(),
        }
    }

    /// What is seen now.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// What the radio tells, from here on.
    pub fn hint(&mut self, hints: Hints) {
        self.hints = hints;
        let view = &mut self.view;
        view.hints = hints;
        if let Some(mps) = hints.speed_mps {
            view.speed = Estimate::new(Speed::of(mps), 1.0);
        }
        let Some(trend) = hints.sinr_trend else {
            return;
        };
        let movement = match trend {
            trend if trend < -STANDING_SINR => Movement::Forward,
            trend if trend > STANDING_SINR => Movement::Backward,
            _ => Movement::Static,
        };
        view.movement = Estimate::new(movement, 1.0);
        view.phase.value = match view.phase.value {
            Phase::Sustainer | Phase::Scaling if movement == Movement::Backward => Phase::Scaling,
            Phase::Sustainer | Phase::Scaling => Phase::Sustainer,
            early_or_poor => early_or_poor,
        };
    }

    /// The lowest RTT that earlier connections had to the destination, until there are samples.
    pub fn expect(&mut self, min_rtt: Duration) {
        self.view.base_rtt = Estimate::new(min_rtt, 0.5);
        self.view.latency = Estimate::new(latency_class(min_rtt), 0.5);
    }

    /// The application knows how many bytes it will send.
    pub fn expect(&mut self, flow_size: Option<u64>) {
        self.view.flow_size = flow_size;
    }

    /// The next sample.
    pub fn observe(&mut self, sample: &Sample) {
        if sample.srtt.is_zero() {
            return;
        }
        let begun = *self.begun.get_or_insert(sample.at);
        self.queue.observe(sample, self.last.as_ref(), &self.view);
        if let Some(bin) = self.bins.observe(sample) {
            self.capacity.observe(&bin);
        }
        self.last = Some(*sample);
        self.refresh(sample, sample.at.saturating_since(begun));
    }

    fn refresh(&mut self, sample: &Sample, age: Duration) {
        let seconds = age.as_secs_f64();
        let known = (seconds / 1.0).min(1.0);
        let view = &mut self.view;
        view.age = age;
        view.mss = sample.mss;
        view.srtt = sample.srtt;
        view.slow_start = sample.slow_start;
        view.base_rtt = Estimate::new(sample.min_rtt, known);
        view.latency = Estimate::new(latency_class(sample.min_rtt), 1.0);
        view.rate = self.bins.rate();
        view.retransmitted = self.bins.retransmitted();
        view.capacity = self.capacity.capacity();
        view.trend = self.capacity.trend();
        view.variability = self.capacity.variability();
        view.queue = self.queue.queue();
        view.buffer = self.queue.buffer();
        view.random_loss = self.queue.random_loss();
        view.window_limited = window_limited(sample);
        let trend = view.trend.value;
        let movement = match trend {
            trend if trend < -STANDING => Movement::Forward,
            trend if trend > STANDING => Movement::Backward,
            _ => Movement::Static,
        };
        view.movement = Estimate::new(movement, view.trend.confidence);
        view.speed = match self.hints.speed_mps {
            Some(mps) => Estimate::new(Speed::of(mps), 1.0),
            None => Estimate::new(Speed::default(), 0.0),
        };
        let poor = view.capacity.value.as_mbps() < CONSTRAINED_MBPS;
        let phase = match movement {
            _ if age < START_UP => Phase::StartUp,
            _ if poor => Phase::Constrained,
            Movement::Backward => Phase::Scaling,
            _ => Phase::Sustainer,
        };
        view.phase = Estimate::new(phase, view.capacity.confidence);
    }
}

fn latency_class(min_rtt: Duration) -> Latency {
    if min_rtt < LATENCY_BOUNDARY {
        Latency::Low
    } else {
        Latency::Cellular
    }
}

/// The receive window limits where it is all in flight, and the congestion window would allow more.
fn window_limited(sample: &Sample) -> Estimate<bool> {
    let flying = u64::from(sample.inflight) * u64::from(sample.mss);
    let full = flying + u64::from(sample.mss) > sample.send_window;
    let allowed = u64::from(sample.cwnd) * u64::from(sample.mss) > sample.send_window;
    Estimate::new(full && allowed, 1.0)
}
