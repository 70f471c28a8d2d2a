//! kNN policy: chooses by the measured outcomes of the CCAs at similar moments of running connections.

use std::collections::BTreeMap;

use config::{FieldError, reject};
use results::Weights;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::knn_examples::{CAPACITY_USE, ExampleTable, Neighbour, Neighbours, OUTCOME_METRICS};
use super::rules::check_kind;
use super::{DecisionInput, Recommendation};
use crate::features::feature_index;
use crate::requirement::Requirement;

/// Key of the weight of the CCA in use.
const BEFORE: &str = "before";

/// Maximum of families of networks in a reason.
const MAX_FAMILIES: usize = 3;

/// Measured moments of running connections, and the parameters for each requirement.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnnPolicy {
    /// Number of moments, those most alike, whose outcomes are averaged.
    pub neighbours: usize,
    /// Requirements that are decided by these moments in flight; the others have trees.
    pub choices: Vec<KnnParams>,
    /// Table of the moments as CSV. A row has the family of networks, the CCA in use before, the fair share of the flow
    /// beside others, the features (empty where unknown), and for each CCA that took over there `a`, `b` and `c` (parts
    /// of PM), `use` (share of the capacity), and `goodput@`, `delay@` and `power` over that of the best, in percent,
    /// in columns such as `a:bbr`.
    pub table: ExampleTable,
}

/// Parameters for a requirement: the weights of the distance, and the minimum expected gain of a switch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnnParams {
    /// Requirement: goodput, balanced, delay, fct, goodput@, delay@ or power.
    pub requirement: String,
    /// Margin: least expected gain of a change, relative to the best of each moment.
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

/// Measure of a requirement from the parts of an outcome.
#[derive(Clone, Copy)]
enum Measure {
    /// Weighted parts of PM.
    Parts(Weights),
    /// A part by its index.
    Of(usize),
}

impl Measure {
    fn of(self, parts: &[f32; OUTCOME_METRICS.len()]) -> f64 {
        match self {
            Self::Parts(weights) => weights.pm([parts[0], parts[1], parts[2]].map(f64::from)),
            Self::Of(part) => f64::from(parts[part]),
        }
    }
}

/// Expectation of a CCA: its measure at the moments most alike.
#[derive(Clone)]
struct ExpectedOutcome {
    cca: &'static str,
    /// Measure over that of the best CCA, with the penalty for unfair shares; mean, and at each of
    /// the moments.
    score: f64,
    each: Vec<f64>,
    /// Measure as results have it; for requirements that PM does not express the same over that of the best.
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
        for (number, choice) in self.choices.iter().enumerate() {
            let field = |name: &str| field(&format!("choices[{number}].{name}"));
            check_kind(field("requirement"), &choice.requirement)?;
            let mut earlier = self.choices[..number].iter();
            if earlier.any(|other| other.requirement == choice.requirement) {
                let reason = format!("{:?} has a choice already", choice.requirement);
                return reject(field("requirement"), reason);
            }
            if has_tree(&choice.requirement) {
                let reason = format!(
                    "{:?} has a tree in flight; allowed: either of them",
                    choice.requirement
                );
                return reject(field("requirement"), reason);
            }
            let bounds = [
                ("margin", choice.margin, 0.0, 1.0),
                ("sure", choice.sure, 0.0, 100.0),
                ("after", choice.after, 0.0, 3600.0),
                ("reach", choice.reach, 1e-6, 1.0),
            ];
            for (name, value, low, high) in bounds {
                config::check_number(field(name), value, low, high)?;
            }
            for (name, weight) in &choice.weights {
                if name != BEFORE && feature_index(name).is_none_or(|n| !self.table.has(n)) {
                    let reason = format!(
                        "{name:?} is not in the table; allowed: {BEFORE}, {}",
                        self.table.features().collect::<Vec<_>>().join(", ")
                    );
                    return reject(field("weights"), reason);
                }
                if !(0.0..=1e6).contains(weight) {
                    let reason = format!("{weight} of {name}; allowed: 0 to 1000000");
                    return reject(field("weights"), reason);
                }
            }
            if choice.weights.values().all(|weight| *weight == 0.0) {
                let reason = "all are 0; allowed: one above 0 or more";
                return reject(field("weights"), reason);
            }
        }
        Ok(())
    }

    pub(super) fn choices(&self) -> impl Iterator<Item = &str> {
        self.table.ccas().iter().copied()
    }

    pub(super) fn supports(&self, names: &[&str]) -> bool {
        let mut choices = self.choices.iter();
        choices.any(|choice| names.contains(&choice.requirement.as_str()))
    }

    /// Returns the decision for a running connection; `None` if the policy has no parameters for the requirement.
    pub(super) fn recommend(
        &self,
        input: &DecisionInput<'_>,
        kernel: bool,
    ) -> Option<Recommendation> {
        let requirement = input.requirement;
        let (choice, measure) = self.choice(input)?;
        let current = input.current_cca?;
        let stays = |reason: String, confidence| {
            Some(Recommendation {
                to: current,
                reason,
                confidence,
            })
        };
        let age = input.view.age.as_secs_f64();
        if age < choice.after {
            return stays(format!("age {age:.1} s < {} s", choice.after), 1.0);
        }
        let weight = |name: &str| choice.weights.get(name).copied().unwrap_or(0.0);
        let near = self.table.nearest(
            input.features,
            |feature| weight(feature),
            current,
            weight(BEFORE),
            self.neighbours,
        );
        let confidence = (2.0 - near.distance / choice.reach).clamp(0.0, 1.0);
        let all = self.expected(&near.neighbours, measure, requirement.floor(), kernel);
        // Of equal CCAs, the first one in the table wins.
        let best = all.iter().reduce(
            |best, each| {
                if each.score > best.score { each } else { best }
            },
        )?;
        let known = all.iter().find(|each| each.cca == current);
        let neighbours = self.neighbours_text(&near, confidence);
        let text = format!("{neighbours}: {:.3} expected of {}", best.measure, best.cca);
        if best.cca == current {
            return stays(text, confidence);
        }
        let Some(known) = known else {
            return Some(Recommendation {
                to: best.cca,
                reason: format!("{text}, nothing known of {current}"),
                confidence,
            });
        };
        let compared = format!(
            "{text}, {:.3} of {current}, {:.3} and {:.3} of the best",
            known.measure, best.score, known.score
        );
        let (gain, error) = gain(best, known, &near.neighbours);
        if gain < choice.margin || gain < choice.sure * error {
            return stays(format!("{compared}: too little"), confidence);
        }
        Some(Recommendation {
            to: best.cca,
            reason: format!(
                "{compared}: gain {gain:.3} \u{b1} {error:.3}, margin {}",
                choice.margin
            ),
            confidence,
        })
    }

    /// Returns the parameters of the requirement, or else of the nearest named one, and its measure.
    fn choice(&self, input: &DecisionInput<'_>) -> Option<(&KnnParams, Measure)> {
        let of = |name: &str| self.choices.iter().find(|each| each.requirement == name);
        let requirement = input.requirement;
        if let Some(params) = of(requirement.kind()) {
            return Some((params, measure(requirement)));
        }
        let substitute = requirement.on(&input.view.capacity);
        Some((of(substitute.nearest_named().kind())?, measure(substitute)))
    }

    /// Returns a text on the nearest neighbours and their distance.
    fn neighbours_text(&self, near: &Neighbours, confidence: f64) -> String {
        let unsure = if confidence < 1.0 {
            format!(", confidence {confidence:.2}")
        } else {
            String::new()
        };
        format!(
            "{} of {} moments are most alike ({}; distance {:.3}{unsure})",
            self.neighbours,
            self.table.rows(),
            self.table
                .families(near.neighbours.iter().map(|near| near.row), MAX_FAMILIES),
            near.distance
        )
    }

    /// Returns the weighted mean outcome of each CCA at the neighbours.
    fn expected(
        &self,
        near: &[Neighbour],
        measure: Measure,
        floor: f64,
        kernel: bool,
    ) -> Vec<ExpectedOutcome> {
        let ccas: Vec<_> = self.table.available(kernel).collect();
        let mut result: Vec<_> = ccas
            .iter()
            .map(|&(_, cca)| ExpectedOutcome {
                cca,
                score: 0.0,
                each: Vec::with_capacity(near.len()),
                measure: 0.0,
            })
            .collect();
        let total: f64 = near.iter().map(|near| near.weight).sum();
        for &Neighbour { row, weight } in near {
            let of = |cca: usize| self.table.outcome(row, cca);
            let factor = |cca: usize| {
                self.table
                    .fair_share_ratio(row, cca)
                    .map_or(1.0, |share| fair_share_penalty(share, floor))
            };
            let score = |cca: usize| measure.of(of(cca)) * factor(cca);
            let best = ccas.iter().map(|each| score(each.0)).fold(0.0, f64::max);
            for (each, &(cca, _)) in result.iter_mut().zip(&ccas) {
                // If all scores are zero, all CCAs are equally good.
                let relative = if best > 0.0 { score(cca) / best } else { 1.0 };
                each.score += weight / total * relative;
                each.each.push(relative);
                each.measure += weight / total * measure.of(of(cca));
            }
        }
        result
    }
}

/// Returns the weighted mean difference of two scores over the neighbours, and its standard error.
fn gain(best: &ExpectedOutcome, other: &ExpectedOutcome, near: &[Neighbour]) -> (f64, f64) {
    let gain = best.score - other.score;
    let total: f64 = near.iter().map(|near| near.weight).sum();
    let (mut spread, mut squares) = (0.0, 0.0);
    for (&Neighbour { weight, .. }, (best, other)) in
        near.iter().zip(best.each.iter().zip(&other.each))
    {
        spread += weight / total * (best - other - gain).powi(2);
        squares += (weight / total).powi(2);
    }
    (gain, (spread * squares).sqrt())
}

/// Share of a fair share above which a flow takes too much.
const MAX_FAIR_SHARE: f64 = 1.5;

/// Returns the factor by which a measure is lowered for a share of the fair share: below the floor the flow starves,
/// and above the ceiling it takes too much.
fn fair_share_penalty(share: f64, floor: f64) -> f64 {
    let share = share.max(1e-9);
    (share / floor).min(1.0) * (MAX_FAIR_SHARE / share).min(1.0)
}

/// Returns the measure of a requirement from the parts of an outcome.
fn measure(requirement: Requirement) -> Measure {
    let part = |name: &str| OUTCOME_METRICS.iter().position(|part| *part == name);
    match requirement {
        Requirement::Goodput | Requirement::Completion => Measure::Of(CAPACITY_USE),
        _ => part(requirement.kind()).map_or(Measure::Parts(requirement.weights()), Measure::Of),
    }
}
