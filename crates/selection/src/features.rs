//! Features: the numbers that rules and trees look at.

use crate::estimate::Estimate;
use crate::estimators::PathEstimates;

/// Feature: a number by which policies decide.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// Name in policy files.
    pub name: &'static str,
    /// Meaning, with the unit.
    pub meaning: &'static str,
    /// Value, and its confidence; `None` if it is unknown.
    estimate: fn(&PathEstimates) -> Option<Estimate<f64>>,
}

/// Formats the value of a feature with four significant digits, so that it stays on the right side of a threshold.
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

/// Returns a value with confidence 1.
fn certain(value: f64) -> Option<Estimate<f64>> {
    Some(Estimate::new(value, 1.0))
}

/// Returns a value with its confidence; without confidence it is unknown.
fn uncertain(value: f64, confidence: f64) -> Option<Estimate<f64>> {
    (confidence > 0.0).then(|| Estimate::new(value, confidence))
}

/// Returns a value with confidence 1; before the first RTT sample it is unknown.
fn if_sampled(path: &PathEstimates, value: f64) -> Option<Estimate<f64>> {
    certain(value).filter(|_| !path.base_rtt.value.is_zero())
}

/// All features.
pub static FEATURES: [Feature; 31] = [
    Feature {
        name: "age",
        meaning: "time since the first sample, s",
        estimate: |path| certain(path.age.as_secs_f64()),
    },
    Feature {
        name: "base_rtt",
        meaning: "lowest RTT, ms; unknown before the first sample",
        estimate: |path| if_sampled(path, path.base_rtt.value.as_secs_f64() * 1e3),
    },
    Feature {
        name: "capacity",
        meaning: "capacity of the path, payload, Mbit/s; unknown before a queue has shown it",
        estimate: |path| uncertain(path.capacity.value.as_mbps(), path.capacity.confidence),
    },
    Feature {
        name: "trend",
        meaning: "relative change of the capacity, 1/s, times its confidence",
        estimate: |path| certain(path.trend.value * path.trend.confidence),
    },
    Feature {
        name: "movement",
        meaning: "-1 for forward, 1 for backward, times the confidence",
        estimate: |path| certain(path.movement_score()),
    },
    Feature {
        name: "variability",
        meaning: "standard deviation of the capacity over its mean, the trend left out; unknown before a trend is fitted",
        estimate: |path| uncertain(path.variability.value, path.variability.confidence),
    },
    Feature {
        name: "queue_ratio",
        meaning: "smoothed RTT over lowest RTT, less 1; unknown before the first sample",
        estimate: |path| if_sampled(path, path.queue_ratio()),
    },
    Feature {
        name: "queue",
        meaning: "queue at the bottleneck, segments; unknown before the first sample",
        estimate: |path| if_sampled(path, path.queue.value),
    },
    Feature {
        name: "low_queue",
        meaning: "lowest smoothed RTT of the last 2 s over lowest RTT, less 1; unknown before the first sample",
        estimate: |path| if_sampled(path, path.queueing_ratio(path.min_recent_srtt)),
    },
    Feature {
        name: "high_queue",
        meaning: "highest smoothed RTT of the last 2 s over lowest RTT, less 1; unknown before the first sample",
        estimate: |path| if_sampled(path, path.queueing_ratio(path.max_recent_srtt)),
    },
    Feature {
        name: "jitter",
        meaning: "deviation of the RTT of single packets that no queue explains, ms; unknown before the first sample",
        estimate: |path| if_sampled(path, path.jitter.as_secs_f64() * 1e3),
    },
    Feature {
        name: "idle_wait",
        meaning: "smoothed RTT without a queue less the lowest RTT, ms: delay of a radio link; unknown before the first sample",
        estimate: |path| if_sampled(path, path.idle_wait.as_secs_f64() * 1e3),
    },
    Feature {
        name: "buffer",
        meaning: "size of the bottleneck's buffer, segments; unknown while its confidence is below 0.5",
        estimate: PathEstimates::sure_buffer,
    },
    Feature {
        name: "loss_queue",
        meaning: "longest queue at a loss, segments; the buffer need not have been full; unknown before a loss",
        estimate: |path| uncertain(path.loss_queue.value, path.loss_queue.confidence),
    },
    Feature {
        name: "use",
        meaning: "delivery rate over capacity; unknown while the capacity is",
        estimate: |path| uncertain(path.utilisation(), path.capacity.confidence),
    },
    Feature {
        name: "retransmitted",
        meaning: "share of segments retransmitted in the last second",
        estimate: |path| certain(path.retransmitted),
    },
    Feature {
        name: "random_loss",
        meaning: "share of segments lost while the queue was short; unknown before any is delivered",
        estimate: |path| uncertain(path.random_loss.value, path.random_loss.confidence),
    },
    Feature {
        name: "window_limited",
        meaning: "1 if the receive window limits the connection, times the confidence",
        estimate: |path| {
            let limited = f64::from(u8::from(path.window_limited.value));
            certain(limited * path.window_limited.confidence)
        },
    },
    Feature {
        name: "slow_start",
        meaning: "1 in slow start",
        estimate: |path| certain(f64::from(u8::from(path.in_slow_start))),
    },
    Feature {
        name: "bdp",
        meaning: "capacity times lowest RTT, segments; unknown while the capacity is",
        estimate: |path| uncertain(path.bdp(), path.capacity.confidence),
    },
    Feature {
        name: "buffer_ratio",
        meaning: "buffer over bdp; unknown while either is",
        estimate: |path| {
            let buffer = path.sure_buffer()?;
            let confidence = buffer.confidence.min(path.capacity.confidence);
            uncertain(buffer.value / path.bdp().max(1.0), confidence)
        },
    },
    Feature {
        name: "loss_queue_ratio",
        meaning: "loss_queue over bdp; unknown while either is",
        estimate: |path| {
            let confidence = path.loss_queue.confidence.min(path.capacity.confidence);
            uncertain(path.loss_queue.value / path.bdp().max(1.0), confidence)
        },
    },
    Feature {
        name: "competition",
        meaning: "elasticity of the rate to the window while there is a queue: 0 alone, up to 1 with competing flows; unknown \
                  while its confidence is below 0.5",
        estimate: PathEstimates::sure_competition,
    },
    Feature {
        name: "sinr",
        meaning: "SINR reported by the radio, dB; unknown without hints",
        estimate: |path| path.hints.sinr_db.and_then(certain),
    },
    Feature {
        name: "speed",
        meaning: "speed reported by the radio, km/h; unknown without hints",
        estimate: |path| path.hints.speed_mps.and_then(|mps| certain(mps * 3.6)),
    },
    Feature {
        name: "flow_size",
        meaning: "data that the application will send, MB; unknown if it does not say",
        estimate: |path| path.flow_size.and_then(|bytes| certain(bytes as f64 / 1e6)),
    },
    Feature {
        name: "base_over_bound",
        meaning: "lowest RTT over the bound of goodput@; unknown for other requirements",
        estimate: |path| if_sampled(path, path.rtt_over_bound(path.base_rtt.value)?),
    },
    Feature {
        name: "high_over_bound",
        meaning: "highest smoothed RTT of the last 2 s over the bound of goodput@; unknown for other requirements",
        estimate: |path| if_sampled(path, path.rtt_over_bound(path.max_recent_srtt)?),
    },
    Feature {
        name: "full_over_bound",
        meaning: "RTT with the longest queue at a loss, over the bound of goodput@; unknown while \
                  that queue is",
        estimate: |path| {
            let confidence = path.loss_queue.confidence.min(path.capacity.confidence);
            let times = 1.0 + path.loss_queue.value / path.bdp().max(1.0);
            uncertain(
                path.rtt_over_bound(path.base_rtt.value)? * times,
                confidence,
            )
        },
    },
    Feature {
        name: "capacity_over_floor",
        meaning: "capacity over the rate of delay@; unknown while the capacity is, and for other requirements",
        estimate: |path| {
            let capacity = path.capacity;
            uncertain(path.rate_over_floor(capacity.value)?, capacity.confidence)
        },
    },
    Feature {
        name: "rate_over_floor",
        meaning: "delivery rate over the rate of delay@; unknown before the first sample, and for other requirements",
        estimate: |path| if_sampled(path, path.rate_over_floor(path.rate)?),
    },
];

/// Values of all features, in the order of [`FEATURES`]; `None` where one is unknown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Features(pub [Option<Estimate<f64>>; FEATURES.len()]);

impl Features {
    /// Returns the features for these estimates.
    pub fn of(path: &PathEstimates) -> Self {
        Self(FEATURES.each_ref().map(|feature| (feature.estimate)(path)))
    }
}

/// Returns the index in [`FEATURES`] of the feature called `name`.
pub(crate) fn feature_index(name: &str) -> Option<usize> {
    FEATURES.iter().position(|feature| feature.name == name)
}
