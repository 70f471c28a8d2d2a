//! What past connections have found, per destination.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::estimators::View;
use crate::policy::in_one_line;

/// How a congestion control has done.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// Connections that had it.
    pub connections: u32,
    /// Smoothed cost: RTT and rate against the best of the destination (oracle/bpftune), lower is better.
    pub cost: f64,
}

/// What is known of a destination.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Remembered {
    /// Connections so far.
    pub connections: u32,
    /// Lowest RTT, ms.
    pub min_rtt_ms: f64,
    /// Highest delivery rate, Mbit/s.
    pub max_rate_mbps: f64,
    /// Last capacity, Mbit/s.
    pub capacity_mbps: f64,
    /// Room of the bottleneck's buffer, segments; 0 if it was never full.
    pub buffer_segments: f64,
    /// Share of segments sent again on the last connection.
    pub retransmitted: f64,
    /// Congestion controls that were tried.
    pub ccas: BTreeMap<String, Tried>,
}

/// What is known of all destinations.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    destinations: BTreeMap<String, Remembered>,
}

/// How much a new cost moves the smoothed one.
const LEARNING_RATE: f64 = 0.25;

impl Memory {
    /// The memory in the text of a file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| in_one_line(text, &error))
    }

    /// Takes over what another memory knows of other destinations.
    pub fn extend(&mut self, other: Self) {
        self.destinations.extend(other.destinations);
    }

    /// What is known of a destination.
    pub fn of(&self, destination: &str) -> Option<&Remembered> {
        self.destinations.get(destination)
    }

    /// A connection to `destination` under `cca` has ended as `view`, having sent this share of its segments
    /// again over its whole life.
    pub fn remember(&mut self, destination: &str, cca: &str, view: &View, retransmitted: f64) {
        if view.base_rtt.value.is_zero() {
            return;
        }
        let known = self.destinations.entry(destination.to_owned()).or_default();
        let rtt = view.base_rtt.value.as_secs_f64() * 1e3;
        let rate = view.rate.as_mbps();
        known.connections += 1;
        known.min_rtt_ms = match known.min_rtt_ms {
            0.0 => rtt,
            before => before.min(rtt),
        };
        known.max_rate_mbps = known.max_rate_mbps.max(rate);
        known.capacity_mbps = view.capacity.value.as_mbps();
        known.buffer_segments = known.buffer_segments.max(view.buffer.value);
        known.retransmitted = retransmitted;
        let cost = (rtt - known.min_rtt_ms) / known.min_rtt_ms
            + (known.max_rate_mbps - rate) / known.max_rate_mbps.max(f64::MIN_POSITIVE);
        let tried = known.ccas.entry(cca.to_owned()).or_default();
        tried.connections += 1;
        tried.cost += (cost - tried.cost)
            * if tried.connections == 1 {
                1.0
            } else {
                LEARNING_RATE
            };
    }
}
