//! kNN policy: chooses by the measured outcomes of the CCAs at similar moments of running connections.

use std::collections::BTreeMap;

use config::{FieldError, reject};
use results::Weights;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::knn_examples::{
    CAPACITY_USE, ExampleTable, Neighbour, Neighbours, OUTCOME_METRICS, PRIOR_CCA,
};
use super::rules::check_kind;
use super::{DecisionInput, Recommendation};
use crate::features::feature_index;
use crate::requirement::Requirement;

/// Maximum number of families of networks in a reason.
const MAX_FAMILIES: usize = 3;

/// Measured moments of running connections, and the parameters for each requirement.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnnPolicy {
    /// Number of nearest rows of the table whose outcomes are averaged.
    pub neighbours: usize,
    /// Requirements that the table decides for running connections; the others have trees.
    pub choices: Vec<KnnParams>,
    /// Table of measured moments as CSV. A row has the family of networks, the CCA in use before, the fair share of the
    /// flow among competing ones, and the features (empty where unknown). For each CCA that took over, it has `a`, `b`
    /// and `c` (parts of PM), `use` (share of the capacity), and `goodput@`, `delay@` and `power` over that of the best,
    /// in percent, in columns such as `a:bbr`.
    pub table: ExampleTable,
}

/// Parameters for a requirement: the weights of the distance, and the minimum expected gain of a switch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnnParams {
    /// Requirement: goodput, balanced, delay, fct, goodput@, delay@ or power.
    pub requirement: String,
    /// Margin: minimum expected gain of a switch, relative to the best CCA of each row.
    pub margin: f64,
    /// Minimum gain of the neighbours, in standard errors.
    #[serde(default)]
    pub sure: f64,
    /// Minimum age of the connection for a switch, s; default 0.
    #[serde(default)]
    pub after: f64,
    /// Largest distance with a confidence of 1, which falls to 0 at twice this distance.
    pub reach: f64,
    /// Weight of each feature, and of the CCA in use (`before`), in the distance. The distance is the weighted mean of
    /// the differences in rank among the moments, from 0 to 1.
    pub weights: BTreeMap<String, f64>,
}

/// Measure of a requirement from the metrics of an outcome.
#[derive(Clone, Copy)]
enum Measure {
    /// PM with these weights.
    Pm(Weights),
    /// Metric by its index in [`OUTCOME_METRICS`].
    Metric(usize),
}

impl Measure {
    fn evaluate(self, metrics: &[f32; OUTCOME_METRICS.len()]) -> f64 {
        match self {
            Self::Pm(weights) => weights.pm([metrics[0], metrics[1], metrics[2]].map(f64::from)),
            Self::Metric(index) => f64::from(metrics[index]),
        }
    }
}

/// Expected outcome of a CCA: its weighted mean over the nearest rows.
#[derive(Clone)]
struct ExpectedOutcome {
    cca: &'static str,
    /// Mean of `scores`.
    mean_score: f64,
    /// Measure over that of the best CCA, with the penalty for unfair shares; by neighbour.
    scores: Vec<f64>,
    /// Measure as results have it; for requirements that PM does not express, over that of the best CCA.
    measure: f64,
}

impl KnnPolicy {
    pub(super) fn check(&self, has_tree: impl Fn(&str) -> bool) -> Result<(), FieldError> {
        let field = |name: &str| format!("method.tree.moments.{name}");
        let rows = self.table.rows();
        if !(1..=rows).contains(&self.neighbours) {
            let reason = format!(
                "{} is not allowed; allowed: 1 to {rows}, the rows of the table",
                self.neighbours
            );
            return reject(field("neighbours"), reason);
        }
        for (index, params) in self.choices.iter().enumerate() {
            let field = |name: &str| field(&format!("choices[{index}].{name}"));
            let kind = &params.requirement;
            check_kind(field("requirement"), kind)?;
            let mut earlier = self.choices[..index].iter();
            if earlier.any(|other| other.requirement == *kind) {
                let reason = format!("{kind:?} has a choice already");
                return reject(field("requirement"), reason);
            }
            if has_tree(kind) {
                let reason = format!("{kind:?} has a tree in flight; allowed: either of them");
                return reject(field("requirement"), reason);
            }
            let bounds = [
                ("margin", params.margin, 0.0, 1.0),
                ("sure", params.sure, 0.0, 100.0),
                ("after", params.after, 0.0, 3600.0),
                ("reach", params.reach, 1e-6, 1.0),
            ];
            for (name, value, low, high) in bounds {
                config::check_number(field(name), value, low, high)?;
            }
            for (name, weight) in &params.weights {
                if name != PRIOR_CCA && feature_index(name).is_none_or(|n| !self.table.has(n)) {
                    let reason = format!(
                        "{name:?} is not in the table; allowed: {PRIOR_CCA}, {}",
                        self.table.features().collect::<Vec<_>>().join(", ")
                    );
                    return reject(field("weights"), reason);
                }
                if !(0.0..=1e6).contains(weight) {
                    let reason = format!("{weight} of {name}; allowed: 0 to 1000000");
                    return reject(field("weights"), reason);
                }
            }
            if params.weights.values().all(|weight| *weight == 0.0) {
                let reason = "all are 0; allowed: one above 0 or more";
                return reject(field("weights"), reason);
            }
        }
        Ok(())
    }

    pub(super) fn candidates(&self) -> impl Iterator<Item = &str> {
        self.table.ccas().iter().copied()
    }

    /// Returns whether there are parameters for one of these kinds of requirements.
    pub(super) fn supports(&self, kinds: &[&str]) -> bool {
        let mut choices = self.choices.iter();
        choices.any(|choice| kinds.contains(&choice.requirement.as_str()))
    }

    /// Returns the decision for a running connection; `None` if the policy has no parameters for the requirement.
    pub(super) fn recommend(
        &self,
        input: &DecisionInput<'_>,
        linux_only: bool,
    ) -> Option<Recommendation> {
        let (params, measure) = self.params(input)?;
        let current = input.current_cca?;
        let age = input.estimates.age.as_secs_f64();
        if age < params.after {
            let reason = format!("age {age:.1} s < {} s", params.after);
            return Some(Recommendation::certain(current, reason));
        }
        let weight = |name: &str| params.weights.get(name).copied().unwrap_or(0.0);
        let nearest = self.table.nearest(
            input.features,
            weight,
            current,
            weight(PRIOR_CCA),
            self.neighbours,
        );
        let confidence = (2.0 - nearest.distance / params.reach).clamp(0.0, 1.0);
        let starvation_limit = input.requirement.starvation_limit();
        let outcomes =
            self.expected_outcomes(&nearest.neighbours, measure, starvation_limit, linux_only);
        // Of equal CCAs, the first one in the table wins.
        let best = outcomes.iter().reduce(|best, outcome| {
            if outcome.mean_score > best.mean_score {
                outcome
            } else {
                best
            }
        })?;
        let neighbours = self.neighbours_text(&nearest, confidence);
        let text = format!("{neighbours}: {:.3} expected of {}", best.measure, best.cca);
        let (cca, reason) = match outcomes.iter().find(|outcome| outcome.cca == current) {
            _ if best.cca == current => (current, text),
            None => (best.cca, format!("{text}, nothing known of {current}")),
            Some(current_outcome) => {
                let compared = format!(
                    "{text}, {:.3} of {current}, {:.3} and {:.3} of the best",
                    current_outcome.measure, best.mean_score, current_outcome.mean_score
                );
                let (gain, error) = mean_gain(best, current_outcome, &nearest.neighbours);
                let margin = params.margin;
                if gain < margin || gain < params.sure * error {
                    (current, format!("{compared}: too little"))
                } else {
                    let gain = format!("gain {gain:.3} \u{b1} {error:.3}, margin {margin}");
                    (best.cca, format!("{compared}: {gain}"))
                }
            }
        };
        Some(Recommendation {
            cca,
            reason,
            confidence,
        })
    }

    /// Returns the parameters of the requirement, or else of the nearest named one, and its measure.
    fn params(&self, input: &DecisionInput<'_>) -> Option<(&KnnParams, Measure)> {
        let find = |kind: &str| {
            self.choices
                .iter()
                .find(|params| params.requirement == kind)
        };
        let requirement = input.requirement;
        if let Some(params) = find(requirement.kind()) {
            return Some((params, measure(requirement)));
        }
        let substitute = requirement.at_capacity(&input.estimates.capacity);
        Some((
            find(substitute.nearest_named().kind())?,
            measure(substitute),
        ))
    }

    /// Returns a text on the nearest neighbours and their distance.
    fn neighbours_text(&self, nearest: &Neighbours, confidence: f64) -> String {
        let unsure = if confidence < 1.0 {
            format!(", confidence {confidence:.2}")
        } else {
            String::new()
        };
        format!(
            "{} of {} moments are most alike ({}; distance {:.3}{unsure})",
            self.neighbours,
            self.table.rows(),
            self.table.families(
                nearest.neighbours.iter().map(|neighbour| neighbour.row),
                MAX_FAMILIES
            ),
            nearest.distance
        )
    }

    /// Returns the weighted mean outcome of each CCA at the neighbours.
    fn expected_outcomes(
        &self,
        neighbours: &[Neighbour],
        measure: Measure,
        starvation_limit: f64,
        linux_only: bool,
    ) -> Vec<ExpectedOutcome> {
        let ccas: Vec<_> = self.table.available(linux_only).collect();
        let mut outcomes: Vec<_> = ccas
            .iter()
            .map(|&(_, cca)| ExpectedOutcome {
                cca,
                mean_score: 0.0,
                scores: Vec::with_capacity(neighbours.len()),
                measure: 0.0,
            })
            .collect();
        let total: f64 = neighbours.iter().map(|neighbour| neighbour.weight).sum();
        for &Neighbour { row, weight } in neighbours {
            let measured = |cca: usize| measure.evaluate(self.table.outcome(row, cca));
            let penalty = |cca: usize| {
                self.table
                    .fair_share_ratio(row, cca)
                    .map_or(1.0, |ratio| fair_share_penalty(ratio, starvation_limit))
            };
            let score = |cca: usize| measured(cca) * penalty(cca);
            let best = ccas.iter().map(|&(cca, _)| score(cca)).fold(0.0, f64::max);
            for (outcome, &(cca, _)) in outcomes.iter_mut().zip(&ccas) {
                // If all scores are zero, all CCAs are equally good.
                let relative = if best > 0.0 { score(cca) / best } else { 1.0 };
                outcome.mean_score += weight / total * relative;
                outcome.scores.push(relative);
                outcome.measure += weight / total * measured(cca);
            }
        }
        outcomes
    }
}

/// Returns the weighted mean difference of two scores over the neighbours, and its standard error.
fn mean_gain(
    best: &ExpectedOutcome,
    other: &ExpectedOutcome,
    neighbours: &[Neighbour],
) -> (f64, f64) {
    let gain = best.mean_score - other.mean_score;
    let total: f64 = neighbours.iter().map(|neighbour| neighbour.weight).sum();
    let (mut spread, mut squares) = (0.0, 0.0);
    let scores = best.scores.iter().zip(&other.scores);
    for (&Neighbour { weight, .. }, (best, other)) in neighbours.iter().zip(scores) {
        spread += weight / total * (best - other - gain).powi(2);
        squares += (weight / total).powi(2);
    }
    (gain, (spread * squares).sqrt())
}

/// Capacity use over the fair share above which a flow takes too much.
const MAX_FAIR_SHARE_RATIO: f64 = 1.5;

/// Returns the factor for a measure by the ratio of the capacity use to the fair share. Below the starvation limit the
/// flow gets too little, and above [`MAX_FAIR_SHARE_RATIO`] it takes too much.
fn fair_share_penalty(ratio: f64, starvation_limit: f64) -> f64 {
    let ratio = ratio.max(1e-9);
    (ratio / starvation_limit).min(1.0) * (MAX_FAIR_SHARE_RATIO / ratio).min(1.0)
}

/// Returns the measure of a requirement.
fn measure(requirement: Requirement) -> Measure {
    let index = |kind: &str| OUTCOME_METRICS.iter().position(|metric| *metric == kind);
    match requirement {
        Requirement::Goodput | Requirement::Completion => Measure::Metric(CAPACITY_USE),
        _ => index(requirement.kind()).map_or(Measure::Pm(requirement.weights()), Measure::Metric),
    }
}
