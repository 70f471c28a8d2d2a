//! Destination cache: results of earlier connections, per destination.

use std::collections::BTreeMap;

use config::{
    ConfigError, Document, FieldContext, FieldError, check_number, invalid_value, reject,
};
use serde::{Deserialize, Serialize};

use crate::estimators::PathEstimates;
use crate::file_text::canonical_cca;

/// Maximum RTT in a memory file, ms: `TCP_RTO_MAX` of Linux.
const MAX_RTT_MS: f64 = 120_000.0;

/// Results of one CCA.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CcaStats {
    /// Connections that used it.
    pub connections: u32,
    /// Smoothed cost: RTT and rate against the best of the destination (oracle/bpftune), lower is better.
    pub cost: f64,
}

/// Results of the connections to one destination.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DestinationEntry {
    /// Connections so far.
    pub connections: u32,
    /// Lowest RTT, ms.
    pub min_rtt_ms: f64,
    /// Highest delivery rate, Mbit/s.
    pub max_rate_mbps: f64,
    /// Capacity that the last connection estimated, Mbit/s.
    pub capacity_mbps: f64,
    /// Size of the bottleneck's buffer, segments; 0 if it was never full.
    pub buffer_segments: f64,
    /// Share of segments that the last connection retransmitted.
    pub retransmitted: f64,
    /// Results by CCA.
    pub ccas: BTreeMap<String, CcaStats>,
}

impl DestinationEntry {
    /// Checks that all values are possible, and that CCAs have the kernel's names, as selectors use them.
    fn check(&self) -> Result<(), FieldError> {
        check_number("min_rtt_ms", self.min_rtt_ms, 0.0, MAX_RTT_MS)?;
        not_negative("max_rate_mbps", self.max_rate_mbps)?;
        not_negative("capacity_mbps", self.capacity_mbps)?;
        not_negative("buffer_segments", self.buffer_segments)?;
        check_number("retransmitted", self.retransmitted, 0.0, 1.0)?;
        for (cca, stats) in &self.ccas {
            let checked = match canonical_cca(cca) {
                Ok(canonical) if canonical == cca => not_negative("cost", stats.cost),
                Ok(canonical) => reject(
                    "",
                    format!("is another name of {canonical:?}; allowed: {canonical}"),
                ),
                Err(reason) => reject("", reason),
            };
            checked.in_table(cca).in_table("ccas")?;
        }
        Ok(())
    }
}

/// Checks that a number is finite, and zero or more.
fn not_negative(field: &str, value: f64) -> Result<(), FieldError> {
    if (0.0..=f64::MAX).contains(&value) {
        Ok(())
    } else {
        invalid_value(field, value, "numbers from 0")
    }
}

/// Results of the connections to all destinations.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DestinationCache {
    destinations: BTreeMap<String, DestinationEntry>,
}

/// Result of a connection at its end.
#[derive(Clone, PartialEq, Debug)]
pub struct ConnectionResult<'a> {
    /// CCA at the end.
    pub cca: &'a str,
    /// Lowest RTT, ms; 0 or NaN without any sample, in which case nothing is remembered.
    pub min_rtt_ms: f64,
    /// Delivery rate at the end, Mbit/s.
    pub rate_mbps: f64,
    /// Capacity at the end, Mbit/s.
    pub capacity_mbps: f64,
    /// Size of the bottleneck's buffer, segments; 0 if it was never full.
    pub buffer_segments: f64,
    /// Share of segments retransmitted over the whole connection.
    pub retransmitted: f64,
}

impl<'a> ConnectionResult<'a> {
    /// Returns the result of a connection at its end; `retransmitted` is a share of its segments.
    pub(crate) fn new(cca: &'a str, estimates: &PathEstimates, retransmitted: f64) -> Self {
        Self {
            cca,
            min_rtt_ms: estimates.base_rtt.value.as_secs_f64() * 1e3,
            rate_mbps: estimates.rate.as_mbps(),
            capacity_mbps: estimates.capacity.value.as_mbps(),
            buffer_segments: estimates.buffer.value,
            retransmitted,
        }
    }
}

/// Weight of a new cost in the smoothed one (oracle/bpftune, tcp_conn_tuner).
const LEARNING_RATE: f64 = 0.25;

impl DestinationCache {
    /// Parses the text of a memory file, which errors call `file`.
    ///
    /// # Errors
    /// The message names destination, field, value and what is allowed.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, ConfigError> {
        config::check_seal(text).map_err(|message| ConfigError {
            place: file.to_owned(),
            field: String::new(),
            message,
        })?;
        let document = Document::from_toml(text, file)?;
        let cache: Self = document.read()?;
        for (name, entry) in &cache.destinations {
            let checked = entry.check().in_table(name).in_table("destinations");
            checked.map_err(|error| document.error(error))?;
        }
        Ok(cache)
    }

    /// Returns the results of the connections to a destination.
    pub fn get(&self, destination: &str) -> Option<&DestinationEntry> {
        self.destinations.get(destination)
    }

    /// Returns the text of the memory file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_else(|error| unreachable!("numbers by name: {error}"))
    }

    /// Adds a connection to `destination` that has ended.
    ///
    /// Its cost is (RTT - lowest RTT) / lowest RTT + (highest rate - rate) / highest rate. Lowest and highest are taken
    /// over all connections so far (oracle/bpftune, tcp_conn_tuner).
    pub fn add_result(&mut self, destination: &str, result: &ConnectionResult<'_>) {
        let (rtt, rate) = (result.min_rtt_ms, result.rate_mbps);
        if rtt.is_nan() || rtt <= 0.0 {
            return;
        }
        let entry = self.destinations.entry(destination.to_owned()).or_default();
        entry.connections += 1;
        entry.min_rtt_ms = match entry.min_rtt_ms {
            0.0 => rtt,
            previous => previous.min(rtt),
        };
        entry.max_rate_mbps = entry.max_rate_mbps.max(rate);
        entry.capacity_mbps = result.capacity_mbps;
        entry.buffer_segments = entry.buffer_segments.max(result.buffer_segments);
        entry.retransmitted = result.retransmitted.min(1.0);
        let cost = (rtt - entry.min_rtt_ms) / entry.min_rtt_ms
            + (entry.max_rate_mbps - rate) / entry.max_rate_mbps.max(f64::MIN_POSITIVE);
        let stats = entry.ccas.entry(result.cca.to_owned()).or_default();
        stats.connections += 1;
        stats.cost += (cost - stats.cost)
            * if stats.connections == 1 {
                1.0
            } else {
                LEARNING_RATE
            };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(cca: &str, min_rtt_ms: f64, rate_mbps: f64) -> ConnectionResult<'_> {
        ConnectionResult {
            cca,
            min_rtt_ms,
            rate_mbps,
            capacity_mbps: 20.0,
            buffer_segments: 30.0,
            retransmitted: 0.01,
        }
    }

    /// oracle/bpftune, tcp_conn_tuner: the first cost counts in full, later ones by a quarter.
    #[test]
    fn costs_are_smoothed_and_survive_their_file() {
        let mut memory = DestinationCache::default();
        let endings = [
            ending("cubic", 50.0, 10.0),
            ending("bbr", 50.0, 8.0),
            ending("cubic", 60.0, 5.0),
            ending("reno", 0.0, 0.0),
            ending("reno", f64::NAN, 0.0),
        ];
        endings
            .iter()
            .for_each(|ending| memory.add_result("a phone", ending));
        let known = memory.get("a phone").expect("remembered");
        assert_eq!(known.connections, 3);
        let cost = |cca: &str| known.ccas[cca].cost;
        assert!((cost("bbr") - 0.2).abs() < 1e-12);
        assert!((cost("cubic") - 0.25 * (0.2 + 0.5)).abs() < 1e-12);
        assert!(!known.ccas.contains_key("reno"));
        assert_eq!(
            DestinationCache::from_toml(&memory.to_toml(), "f"),
            Ok(memory)
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |line: &str| {
            let text = format!("[destinations.phone]\nconnections = 2\n{line}\n");
            let error = DestinationCache::from_toml(&text, "f").expect_err("it is wrong");
            error.to_string()
        };
        for (line, message) in [
            (
                "min_rtt_ms = inf",
                "f:3: destinations.phone.min_rtt_ms: inf is out of range; allowed: 0 to 120000",
            ),
            (
                "min_rtt_ms = nan",
                "f:3: destinations.phone.min_rtt_ms: NaN is out of range; allowed: 0 to 120000",
            ),
            (
                "min_rtt_ms = -5.0",
                "f:3: destinations.phone.min_rtt_ms: -5 is out of range; allowed: 0 to 120000",
            ),
            (
                "capacity_mbps = \"fast\"",
                "f:3: destinations.phone.capacity_mbps: \"fast\" is not a number",
            ),
            (
                "retransmitted = 2",
                "f:3: destinations.phone.retransmitted: 2 is out of range; allowed: 0 to 1",
            ),
            (
                "min_rtt = 5",
                "f:3: destinations.phone.min_rtt: there is no such field; allowed: connections, min_rtt_ms, \
                 max_rate_mbps, capacity_mbps, buffer_segments, retransmitted, ccas",
            ),
            (
                "ccas.cubic.cost = -3",
                "f:3: destinations.phone.ccas.cubic.cost: -3 is out of range; allowed: numbers from 0",
            ),
            (
                "ccas.cubic.connections = -1",
                "f:3: destinations.phone.ccas.cubic.connections: -1 is not \
                 a whole number from 0 to 4294967295",
            ),
            (
                "ccas.cubic = 3",
                "f:3: destinations.phone.ccas.cubic: 3 is not a table; allowed in it: connections, cost",
            ),
            (
                "ccas.newreno.cost = 1",
                "f:3: destinations.phone.ccas.newreno: is another name of \"reno\"; allowed: reno",
            ),
        ] {
            assert_eq!(wrong(line), message);
        }
        let cubix = wrong("ccas.cubix.cost = 1.0");
        let message = "f:3: destinations.phone.ccas.cubix: \"cubix\" is not a congestion control; did you mean \"cubic\"?; \
                    allowed: ";
        assert!(cubix.starts_with(message), "{cubix}");
        assert!(wrong("min_rtt_ms = ").starts_with("f:3: "));
        let other = DestinationCache::from_toml("[places.phone]", "f").expect_err("it is wrong");
        assert_eq!(
            other.to_string(),
            "f:1: places: there is no such field; allowed: destinations"
        );
    }
}
