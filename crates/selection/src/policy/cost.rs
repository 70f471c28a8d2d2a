//! Cost method: chooses by the cost of each CCA on earlier connections, as oracle/bpftune's tcp_conn_tuner.

use config::{FieldError, check_number};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DecisionInput, Recommendation, canonical_cca, check_cca_name, known_ccas, not_empty};
use crate::destination_cache::DestinationEntry;

/// Chooses by the cost of each CCA once the destination has `min_connections`; before, the default. A running
/// connection with many retransmissions switches to `on_loss`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// CCAs to choose from.
    pub candidates: Vec<String>,
    /// Minimum number of connections to a destination before costs are used.
    pub min_connections: u32,
    /// Share of choices that are made at random, to learn the costs of other candidates.
    pub explore: f64,
    /// Share of retransmitted segments above which connections switch to `on_loss`, regardless of costs; never if absent.
    pub loss_share: Option<f64>,
    /// CCA to switch to when many segments are retransmitted.
    pub on_loss: String,
}

impl Cost {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        let field = |name: &str| format!("method.cost.{name}");
        not_empty(field("candidates"), &self.candidates, "congestion control")?;
        for name in &self.candidates {
            check_cca_name(field("candidates"), name)?;
        }
        check_cca_name(field("on_loss"), &self.on_loss)?;
        check_number(field("explore"), self.explore, 0.0, 1.0)?;
        check_number(
            field("loss_share"),
            self.loss_share.unwrap_or_default(),
            0.0,
            1.0,
        )
    }

    pub(super) fn candidates(&self) -> Vec<&str> {
        let all = self.candidates.iter().chain([&self.on_loss]);
        all.map(String::as_str).collect()
    }

    pub(super) fn recommend(
        &self,
        input: &DecisionInput<'_>,
        default: &'static str,
    ) -> Option<Recommendation> {
        if let Some(current) = input.current_cca {
            let share = input.estimates.retransmitted;
            let is_lossy = self.loss_share.is_some_and(|threshold| share > threshold);
            let cca = if is_lossy {
                canonical_cca(&self.on_loss).ok()?
            } else {
                current
            };
            let reason = format!("{:.1} % of segments sent again", share * 100.0);
            return Some(Recommendation::certain(cca, reason));
        }
        let destination = input.destination?;
        let connections = destination.connections;
        if connections < self.min_connections {
            let reason = format!("{connections} earlier connections are too few");
            return Some(Recommendation::certain(default, reason));
        }
        self.cheapest(destination, input.draw)
    }

    /// Returns the candidate with the lowest cost; a candidate that was never tried costs nothing.
    fn cheapest(&self, destination: &DestinationEntry, draw: f64) -> Option<Recommendation> {
        let candidates = known_ccas(&self.candidates);
        if draw < self.explore {
            let scaled = draw / self.explore * candidates.len() as f64;
            let cca = candidates[(scaled as usize).min(candidates.len() - 1)];
            return Some(Recommendation::certain(cca, "at random, to learn"));
        }
        let cost = |name: &str| destination.ccas.get(name).map_or(0.0, |entry| entry.cost);
        let cca = candidates
            .into_iter()
            .min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
        let reason = format!("lowest cost so far, {:.3}", cost(cca));
        Some(Recommendation::certain(cca, reason))
    }
}
