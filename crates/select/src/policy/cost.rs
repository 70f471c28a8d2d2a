//! What congestion controls have cost on earlier connections: the rule of oracle/bpftune's tcp_conn_tuner.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Advice, Situation, Wrong, cca_named, named, not_empty};
use crate::memory::Remembered;

/// Costs per destination; [`Memory::remember`](crate::Memory::remember) computes them, [`Remembered`] keeps
/// them. While there were few connections, the only choice is another congestion control for one that loses
/// much.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Whom to choose from.
    pub candidates: Vec<String>,
    /// Connections to a destination from which on costs decide.
    pub min_connections: u32,
    /// Share of choices that are made at random, to learn.
    pub explore: f64,
    /// Share of segments sent again from which on `on_loss` is taken, without regard to costs; never if not
    /// given.
    pub loss_share: Option<f64>,
    /// Whom to take then.
    pub on_loss: String,
}

impl Cost {
    pub(super) fn check(&self) -> Result<(), Wrong> {
        let field = |name: &str| format!("method.cost.{name}");
        not_empty(field("candidates"), &self.candidates, "congestion control")?;
        for name in &self.candidates {
            named(field("candidates"), name)?;
        }
        named(field("on_loss"), &self.on_loss)?;
        let shares = [
            ("explore", Some(self.explore)),
            ("loss_share", self.loss_share),
        ];
        for (name, share) in shares {
            if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
                let reason = format!("{share} is not allowed; allowed: from 0 to 1");
                return Err((field(name), reason));
            }
        }
        Ok(())
    }

    pub(super) fn choices(&self) -> Vec<&str> {
        let all = self.candidates.iter().chain([&self.on_loss]);
        all.map(String::as_str).collect()
    }

    pub(super) fn advise(
        &self,
        situation: &Situation<'_>,
        default: &'static str,
    ) -> Option<Advice> {
        let lossy = |share: f64| self.loss_share.is_some_and(|least| share > least);
        if let Some(present) = situation.present {
            let share = situation.view.retransmitted;
            let to = if lossy(share) {
                cca_named(&self.on_loss).ok()?
            } else {
                present
            };
            return Some(Advice {
                to,
                reason: format!("{:.1} % of segments sent again", share * 100.0),
            });
        }
        let known = situation.known?;
        if known.connections < self.min_connections {
            return Some(Advice {
                to: default,
                reason: format!("{} earlier connections are too few", known.connections),
            });
        }
        self.cheapest(known, situation.draw)
    }

    /// Who has cost least; who was not tried costs nothing.
    fn cheapest(&self, known: &Remembered, draw: f64) -> Option<Advice> {
        let all: Vec<_> = self
            .candidates
            .iter()
            .filter_map(|n| cca_named(n).ok())
            .collect();
        if draw < self.explore {
            let share = draw / self.explore;
            let to = all[((share * all.len() as f64) as usize).min(all.len() - 1)];
            return Some(Advice {
                to,
                reason: "at random, to learn".to_owned(),
            });
        }
        let cost = |name: &str| known.ccas.get(name).map_or(0.0, |tried| tried.cost);
        let to = all.into_iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
        Some(Advice {
            to,
            reason: format!("lowest cost so far, {:.3}", cost(to)),
        })
    }
}
