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

/// Returns the known features as `name=value`; those that are unknown are left out.
fn measures(features: &Features) -> String {
    let all: Vec<String> = FEATURES
        .iter()
        .zip(features.0)
        .filter_map(|(feature, known)| Some(format!("{}={:.4}", feature.name, known?.value)))
        .collect();
    all.join(" ")
}

/// Returns the row of the estimates of a selector in the slot that began at `slot`.
pub(crate) fn estimate_row(slot: Instant, connection: u32, selector: &Selector) -> EstimateRow {
    let view = selector.estimators().view();
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
        base_rtt_ms: milliseconds(view.base_rtt.value),
        latency: view.latency.value.to_string(),
        latency_confidence: view.latency.confidence,
        capacity_mbps: view.capacity.value.as_mbps(),
        capacity_confidence: view.capacity.confidence,
        trend: view.trend.value,
        trend_confidence: view.trend.confidence,
        movement: view.movement.value.to_string(),
        movement_confidence: view.movement.confidence,
        variability: view.variability.value,
        variability_confidence: view.variability.confidence,
        queue_segments: view.queue.value,
        queue_confidence: view.queue.confidence,
        buffer_segments: view.buffer.value,
        buffer_confidence: view.buffer.confidence,
        window_limited: u32::from(view.window_limited.value),
        window_limited_confidence: view.window_limited.confidence,
        random_loss: view.random_loss.value,
        random_loss_confidence: view.random_loss.confidence,
        phase: view.phase.value.to_string(),
        phase_confidence: view.phase.confidence,
        speed: view.speed.value.to_string(),
        speed_confidence: view.speed.confidence,
    }
}
