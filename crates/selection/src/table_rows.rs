//! Rows of the result tables: decisions of selectors, and their estimates.

use results::{DecisionRow, EstimateRow};
use units::{Duration, Instant};

use crate::features::{FEATURES, Features};
use crate::selector::{Decision, Selector};

/// Returns the row of a decision.
pub fn decision_row(connection: u32, decision: &Decision) -> DecisionRow {
    DecisionRow {
        flow: connection,
        t_ns: decision.at.as_nanos(),
        cause: decision.cause.word().to_owned(),
        from_cca: decision.from.to_owned(),
        to_cca: decision.to.to_owned(),
        reason: decision.reason.clone(),
        measures: measures(&decision.features),
    }
}

/// Returns the known features as `name=value`.
fn measures(features: &Features) -> String {
    let all: Vec<String> = FEATURES
        .iter()
        .zip(features.0)
        .filter_map(|(feature, estimate)| Some(format!("{}={:.4}", feature.name, estimate?.value)))
        .collect();
    all.join(" ")
}

/// Returns the row of the estimates of a selector in the slot that began at `slot`.
pub(crate) fn estimate_row(slot: Instant, connection: u32, selector: &Selector) -> EstimateRow {
    let estimates = selector.estimators().estimates();
    let milliseconds = |time: Duration| {
        if time.is_zero() {
            f64::NAN
        } else {
            time.as_secs_f64() * 1e3
        }
    };
    EstimateRow {
        flow: connection,
        t_s: slot.as_secs_f64(),
        using_cca: selector.current().to_owned(),
        base_rtt_ms: milliseconds(estimates.base_rtt.value),
        latency: estimates.latency.value.to_string(),
        latency_confidence: estimates.latency.confidence,
        capacity_mbps: estimates.capacity.value.as_mbps(),
        capacity_confidence: estimates.capacity.confidence,
        trend: estimates.trend.value,
        trend_confidence: estimates.trend.confidence,
        movement: estimates.movement.value.to_string(),
        movement_confidence: estimates.movement.confidence,
        variability: estimates.variability.value,
        variability_confidence: estimates.variability.confidence,
        queue_segments: estimates.queue.value,
        queue_confidence: estimates.queue.confidence,
        buffer_segments: estimates.buffer.value,
        buffer_confidence: estimates.buffer.confidence,
        window_limited: u32::from(estimates.window_limited.value),
        window_limited_confidence: estimates.window_limited.confidence,
        random_loss: estimates.random_loss.value,
        random_loss_confidence: estimates.random_loss.confidence,
        phase: estimates.phase.value.to_string(),
        phase_confidence: estimates.phase.confidence,
        speed: estimates.speed.value.to_string(),
        speed_confidence: estimates.speed.confidence,
    }
}
