//! Linear QoE of "A Control-Theoretic Approach for Dynamic Adaptive Video Streaming over HTTP" (2015), equation 5.

use crate::log::Log;
use crate::manifest::Manifest;

/// Returns the QoE with the balanced weights of the paper: the sum of the rates in Mbit/s of the played segments, less
/// their changes, less the seconds of stalls and start-up times the highest rate.
pub fn linear_qoe(manifest: &Manifest, log: &Log) -> f64 {
    let rate = |representation: usize| manifest.representations()[representation].rate.as_mbps();
    let watched = log.watched(manifest.segment_duration());
    let rate_sum: f64 = watched.iter().map(|download| rate(download.quality)).sum();
    let changes: f64 = watched
        .windows(2)
        .map(|pair| (rate(pair[0].quality) - rate(pair[1].quality)).abs())
        .sum();
    let startup = log.startup.unwrap_or(log.until - log.opened);
    let waited = (startup + log.stalled()).as_secs_f64();
    rate_sum - changes - rate(manifest.top()) * waited
}
