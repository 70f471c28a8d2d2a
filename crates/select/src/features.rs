//! Features: the numbers that rules and trees look at.

use crate::estimators::View;

/// A number that a policy may look at.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// Name in policy files.
    pub name: &'static str,
    /// Meaning, with the unit.
    pub meaning: &'static str,
    of: fn(&View) -> f64,
}

impl Feature {
    /// Writes a value with four significant digits, so that it stays on the right side of a threshold.
    pub(crate) fn spelt(&self, value: f64) -> String {
        if self.name == "flow_size" && value == UNKNOWN_SIZE {
            return "unknown".to_owned();
        }
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

/// Value of the feature `flow_size` where the application does not know the size, MB.
const UNKNOWN_SIZE: f64 = 1e6;

/// All features, in the order of [`Features`].
pub static FEATURES: [Feature; 18] = [
    Feature {
        name: "age",
        meaning: "time since the first sample, s",
        of: |view| view.age.as_secs_f64(),
    },
    Feature {
        name: "base_rtt",
        meaning: "lowest RTT, ms; 0 before the first sample",
        of: |view| view.base_rtt.value.as_secs_f64() * 1e3,
    },
    Feature {
        name: "capacity",
        meaning: "capacity of the path, payload, Mbit/s; 0 before it is known",
        of: |view| view.capacity.value.as_mbps(),
    },
    Feature {
        name: "trend",
        meaning: "relative change of the capacity, 1/s, times its confidence",
        of: |view| view.trend.value * view.trend.confidence,
    },
    Feature {
        name: "movement",
        meaning: "-1 for forward, 1 for backward, times the confidence",
        of: |view| view.movement_score(),
    },
    Feature {
        name: "variability",
        meaning: "standard deviation of the capacity over its mean, the trend left out",
        of: |view| view.variability.value,
    },
    Feature {
        name: "queue_ratio",
        meaning: "smoothed RTT over lowest RTT, less 1",
        of: View::queue_ratio,
    },
    Feature {
        name: "queue",
        meaning: "what waits at the bottleneck, segments",
        of: |view| view.queue.value,
    },
    Feature {
        name: "buffer",
        meaning: "room of the bottleneck's buffer, segments; 0 while it has never been full",
        of: |view| view.buffer.value,
    },
    Feature {
        name: "use",
        meaning: "delivery rate over capacity",
        of: View::utilisation,
    },
    Feature {
        name: "retransmitted",
        meaning: "share of segments sent again lately",
        of: |view| view.retransmitted,
    },
    Feature {
        name: "random_loss",
        meaning: "share of segments lost while the queue was short",
        of: |view| view.random_loss.value,
    },
    Feature {
        name: "window_limited",
        meaning: "1 if the receive window limits, times the confidence",
        of: |view| f64::from(u8::from(view.window_limited.value)) * view.window_limited.confidence,
    },
    Feature {
        name: "slow_start",
        meaning: "1 in slow start",
        of: |view| f64::from(u8::from(view.slow_start)),
    },
    Feature {
        name: "bdp",
        meaning: "capacity times lowest RTT, segments",
        of: View::bdp,
    },
    Feature {
        name: "sinr",
        meaning: "SINR that the radio tells, dB; -100 without",
        of: |view| view.hints.sinr_db.unwrap_or(-100.0),
    },
    Feature {
        name: "speed",
        meaning: "speed that the radio tells, km/h; -1 without",
        of: |view| view.hints.speed_mps.map_or(-1.0, |mps| mps * 3.6),
    },
    Feature {
        name: "flow_size",
        meaning: "what the application will send, MB; 1000000 if it does not know",
        of: |view| {
            view.flow_size
                .map_or(UNKNOWN_SIZE, |bytes| bytes as f64 / 1e6)
        },
    },
];

/// The features of a view.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Features(pub [f64; FEATURES.len()]);

impl Features {
    /// Returns the features of `view`.
    pub fn of(view: &View) -> Self {
        Self(core::array::from_fn(|index| (FEATURES[index].of)(view)))
    }
}

/// Returns the number of the feature called `name`.
pub(crate) fn feature_called(name: &str) -> Option<usize> {
    FEATURES.iter().position(|feature| feature.name == name)
}
