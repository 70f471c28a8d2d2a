//! Cost method: chooses by the cost of each CCA on earlier connections, as oracle/bpftune's tcp_conn_tuner.

use config::{FieldError, check_number};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DecisionInput, Recommendation, cca_named, check_cca_name, not_empty};
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
    /// Share of retransmitted segments above which connections switch to `on_loss` whatever the costs; never if absent.
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

    pub(super) fn choices(&self) -> Vec<&str> {
        let all = self.candidates.iter().chain([&self.on_loss]);
        all.map(String::as_str).collect()
    }

    pub(super) fn recommend(
        &self,
        input: &DecisionInput<'_>,
        default: &'static str,
    ) -> Option<Recommendation> {
        let lossy = |share: f64| self.loss_share.is_some_and(|threshold| share > threshold);
        if let Some(current) = input.current_cca {
            let share = input.view.retransmitted;
            let to = if lossy(share) {
                cca_named(&self.on_loss).ok()?
            } else {
                current
            };
            return Some(Recommendation {
                to,
                reason: format!("{:.1} % of segments sent again", share * 100.0),
                confidence: 1.0,
            });
        }
        let destination = input.destination?;
        if destination.connections < self.min_connections {
            return Some(Recommendation {
                to: default,
                reason: format!(
                    "{} earlier connections are too few",
                    destination.connections
                ),
                confidence: 1.0,
            });
        }
        self.cheapest(destination, input.draw)
    }

    /// Returns the candidate with the lowest cost; a candidate that was never tried costs nothing.
    fn cheapest(&self, destination: &DestinationEntry, draw: f64) -> Option<Recommendation> {
        let all: Vec<_> = self
            .candidates
            .iter()
            .filter_map(|n| cca_named(n).ok())
            .collect();
        if draw < self.explore {
            let share = draw / self.explore;
            let to = all[((share * all.len() as f64) as usize).min(all.len() - 1)];
            return Some(Recommendation {
                to,
                reason: "at random, to learn".to_owned(),
                confidence: 1.0,
            });
        }
        let cost = |name: &str| destination.ccas.get(name).map_or(0.0, |entry| entry.cost);
        let to = all.into_iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
        Some(Recommendation {
            to,
            reason: format!("lowest cost so far, {:.3}", cost(to)),
            confidence: 1.0,
        })
    }
}
