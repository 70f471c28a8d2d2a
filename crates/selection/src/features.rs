//! Features: the numbers that rules and trees look at.

use crate::estimate::Estimate;
use crate::estimators::PathEstimates;

/// A number that a policy may look at.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// Name in policy files.
    pub name: &'static str,
    /// Meaning, with the unit.
    pub meaning: &'static str,
    /// Value, and its confidence; `None` if it is unknown.
    of: fn(&PathEstimates) -> Option<Estimate<f64>>,
}

impl Feature {
    /// Writes a value with four significant digits, so that it stays on the right side of a threshold.
    pub(crate) fn format_value(value: f64) -> String {
        let magnitude = if value == 0.0 {
            0.0
        } else {
            value.abs().log10().floor()
        };
        let decimals = (3.0 - magnitude).clamp(0.0, 9.0) as usize;
        let text = format!("{value:.decimals$}");
        if decimals == 0 {
            return text;
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// Returns a measured value, which has no confidence of its own.
fn measured(value: f64) -> Option<Estimate<f64>> {
    Some(Estimate::new(value, 1.0))
}

/// Returns an estimated value with its confidence; without confidence it is unknown.
fn estimated(value: f64, confidence: f64) -> Option<Estimate<f64>> {
    (confidence > 0.0).then(|| Estimate::new(value, confidence))
}

/// Returns a value that needs the lowest RTT; before the first sample it is unknown.
fn with_base(view: &PathEstimates, value: f64) -> Option<Estimate<f64>> {
    measured(value).filter(|_| !view.base_rtt.value.is_zero())
}

/// All features, in the order of [`Features`].
pub static FEATURES: [Feature; 31] = [
    Feature {
        name: "age",
        meaning: "time since the first sample, s",
        of: |view| measured(view.age.as_secs_f64()),
    },
    Feature {
        name: "base_rtt",
        meaning: "lowest RTT, ms; unknown before the first sample",
        of: |view| with_base(view, view.base_rtt.value.as_secs_f64() * 1e3),
    },
    Feature {
        name: "capacity",
        meaning: "capacity of the path, payload, Mbit/s; unknown before a queue has shown it",
        of: |view| estimated(view.capacity.value.as_mbps(), view.capacity.confidence),
    },
    Feature {
        name: "trend",
        meaning: "relative change of the capacity, 1/s, times its confidence",
        of: |view| measured(view.trend.value * view.trend.confidence),
    },
    Feature {
        name: "movement",
        meaning: "-1 for forward, 1 for backward, times the confidence",
        of: |view| measured(view.movement_score()),
    },
    Feature {
        name: "variability",
        meaning: "standard deviation of the capacity over its mean, the trend left out; unknown before a trend is fitted",
        of: |view| estimated(view.variability.value, view.variability.confidence),
    },
    Feature {
        name: "queue_ratio",
        meaning: "smoothed RTT over lowest RTT, less 1; unknown before the first sample",
        of: |view| with_base(view, view.queue_ratio()),
    },
    Feature {
        name: "queue",
        meaning: "what waits at the bottleneck, segments; unknown before the first sample",
        of: |view| with_base(view, view.queue.value),
    },
    Feature {
        name: "low_queue",
        meaning: "lowest smoothed RTT of the last 2 s over lowest RTT, less 1; unknown before the first sample",
        of: |view| with_base(view, view.above_base(view.lately_lowest)),
    },
    Feature {
        name: "high_queue",
        meaning: "highest smoothed RTT of the last 2 s over lowest RTT, less 1; unknown before the first sample",
        of: |view| with_base(view, view.above_base(view.lately_highest)),
    },
    Feature {
        name: "jitter",
        meaning: "deviation of the RTT of single packets that no queue explains, ms; unknown before the first sample",
        of: |view| with_base(view, view.jitter.as_secs_f64() * 1e3),
    },
    Feature {
        name: "idle_wait",
        meaning: "smoothed RTT without a queue less the lowest RTT, ms: waits of a radio; unknown before the first sample",
        of: |view| with_base(view, view.idle_wait.as_secs_f64() * 1e3),
    },
    Feature {
        name: "buffer",
        meaning: "room of the bottleneck's buffer, segments; unknown while its confidence is below 0.5",
        of: PathEstimates::sure_buffer,
    },
    Feature {
        name: "loss_queue",
        meaning: "longest queue at which segments were lost, segments: of a full buffer or not; unknown before that",
        of: |view| estimated(view.loss_queue.value, view.loss_queue.confidence),
    },
    Feature {
        name: "use",
        meaning: "delivery rate over capacity; unknown while the capacity is",
        of: |view| estimated(view.utilisation(), view.capacity.confidence),
    },
    Feature {
        name: "retransmitted",
        meaning: "share of segments sent again lately",
        of: |view| measured(view.retransmitted),
    },
    Feature {
        name: "random_loss",
        meaning: "share of segments lost while the queue was short; unknown before any is delivered",
        of: |view| estimated(view.random_loss.value, view.random_loss.confidence),
    },
    Feature {
        name: "window_limited",
        meaning: "1 if the receive window limits, times the confidence",
        of: |view| {
            let limited = f64::from(u8::from(view.window_limited.value));
            measured(limited * view.window_limited.confidence)
        },
    },
    Feature {
        name: "slow_start",
        meaning: "1 in slow start",
        of: |view| measured(f64::from(u8::from(view.slow_start))),
    },
    Feature {
        name: "bdp",
        meaning: "capacity times lowest RTT, segments; unknown while the capacity is",
        of: |view| estimated(view.bdp(), view.capacity.confidence),
    },
    Feature {
        name: "buffer_ratio",
        meaning: "buffer over bdp; unknown while either is",
        of: |view| {
            let buffer = view.sure_buffer()?;
            let confidence = buffer.confidence.min(view.capacity.confidence);
            estimated(buffer.value / view.bdp().max(1.0), confidence)
        },
    },
    Feature {
        name: "loss_queue_ratio",
        meaning: "loss_queue over bdp; unknown while either is",
        of: |view| {
            let confidence = view.loss_queue.confidence.min(view.capacity.confidence);
            estimated(view.loss_queue.value / view.bdp().max(1.0), confidence)
        },
    },
    Feature {
        name: "competition",
        meaning: "how far the rate follows the window while a queue stands: 0 alone, up to 1 beside others; unknown \
                  while its confidence is below 0.5",
        of: PathEstimates::sure_competition,
    },
    Feature {
        name: "sinr",
        meaning: "SINR that the radio tells, dB; unknown without hints",
        of: |view| view.hints.sinr_db.and_then(measured),
    },
    Feature {
        name: "speed",
        meaning: "speed that the radio tells, km/h; unknown without hints",
        of: |view| view.hints.speed_mps.and_then(|mps| measured(mps * 3.6)),
    },
    Feature {
        name: "flow_size",
        meaning: "what the application will send, MB; unknown if it does not say",
        of: |view| {
            view.flow_size
                .and_then(|bytes| measured(bytes as f64 / 1e6))
        },
    },
    Feature {
        name: "base_over_bound",
        meaning: "lowest RTT over the bound of goodput@; unknown for other requirements",
        of: |view| with_base(view, view.over_bound(view.base_rtt.value)?),
    },
    Feature {
        name: "high_over_bound",
        meaning: "highest smoothed RTT of the last 2 s over the bound of goodput@; unknown for other requirements",
        of: |view| with_base(view, view.over_bound(view.lately_highest)?),
    },
    Feature {
        name: "full_over_bound",
        meaning: "RTT behind the longest queue at which segments were lost, over the bound of goodput@; unknown while \
                  that queue is",
        of: |view| {
            let confidence = view.loss_queue.confidence.min(view.capacity.confidence);
            let times = 1.0 + view.loss_queue.value / view.bdp().max(1.0);
            estimated(view.over_bound(view.base_rtt.value)? * times, confidence)
        },
    },
    Feature {
        name: "capacity_over_floor",
        meaning: "capacity over the rate of delay@; unknown while the capacity is, and for other requirements",
        of: |view| {
            let capacity = view.capacity;
            estimated(view.over_floor(capacity.value)?, capacity.confidence)
        },
    },
    Feature {
        name: "rate_over_floor",
        meaning: "delivery rate over the rate of delay@; unknown before the first sample, and for other requirements",
        of: |view| with_base(view, view.over_floor(view.rate)?),
    },
];

/// The features of a view; `None` where one is unknown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Features(pub [Option<Estimate<f64>>; FEATURES.len()]);

impl Features {
    /// Returns the features of `view`.
    pub fn of(view: &PathEstimates) -> Self {
        Self(core::array::from_fn(|index| (FEATURES[index].of)(view)))
    }
}

/// Returns the number of the feature called `name`.
pub(crate) fn feature_index(name: &str) -> Option<usize> {
    FEATURES.iter().position(|feature| feature.name == name)
}
