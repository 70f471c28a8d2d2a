//! Cost method: chooses by the cost of each CCA on earlier connections, as oracle/bpftune's tcp_conn_tuner.

use config::{FieldError, number};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DecisionInput, Recommendation, cca_named, named, not_empty};
use crate::destination_cache::DestinationEntry;

/// Choice by the cost of each CCA on earlier connections to the destination. Until there were enough connections, the
/// only choice is `on_loss` for a connection with many losses.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// CCAs to choose from.
    pub candidates: Vec<String>,
    /// Number of connections to a destination from which on the costs decide.
    pub min_connections: u32,
    /// Share of choices that are made at random, to learn the costs of other candidates.
    pub explore: f64,
    /// Share of retransmitted segments above which `on_loss` is taken whatever the costs; never if absent.
    pub loss_share: Option<f64>,
    /// CCA taken when many segments are retransmitted.
    pub on_loss: String,
}

impl Cost {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        let field = |name: &str| format!("method.cost.{name}");
        not_empty(field("candidates"), &self.candidates, "congestion control")?;
        for name in &self.candidates {
            named(field("candidates"), name)?;
        }
        named(field("on_loss"), &self.on_loss)?;
        number(field("explore"), self.explore, 0.0, 1.0)?;
        number(
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
        let lossy = |share: f64| self.loss_share.is_some_and(|least| share > least);
        if let Some(present) = input.present {
            let share = input.view.retransmitted;
            let to = if lossy(share) {
                cca_named(&self.on_loss).ok()?
            } else {
                present
            };
            return Some(Recommendation {
                to,
                reason: format!("{:.1} % of segments sent again", share * 100.0),
                confidence: 1.0,
            });
        }
        let known = input.known?;
        if known.connections < self.min_connections {
            return Some(Recommendation {
                to: default,
                reason: format!("{} earlier connections are too few", known.connections),
                confidence: 1.0,
            });
        }
        self.cheapest(known, input.draw)
    }

    /// Returns the candidate with the lowest cost; a candidate that was never tried costs nothing.
    fn cheapest(&self, known: &DestinationEntry, draw: f64) -> Option<Recommendation> {
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
        let cost = |name: &str| known.ccas.get(name).map_or(0.0, |tried| tried.cost);
        let to = all.into_iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
        Some(Recommendation {
            to,
            reason: format!("lowest cost so far, {:.3}", cost(to)),
            confidence: 1.0,
        })
    }
}
