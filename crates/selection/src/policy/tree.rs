//! Decision trees from training.

use std::collections::BTreeMap;

use config::{FieldError, check_number, invalid_value, reject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::knn::KnnPolicy;
use super::rules::{check_feature, check_kind};
use super::{DecisionInput, Recommendation, canonical_cca, check_cca_name, not_empty};
use crate::features::{feature_index, format_value};
use crate::requirement::Requirement;

/// Trees, one per requirement and moment, and the features that they were trained on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trees {
    /// Features used in training; a build without one of them rejects the policy.
    pub features: Vec<String>,
    /// The trees.
    pub trees: Vec<Tree>,
    /// Measured moments, which decide for running connections with the requirements that they name; by default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moments: Option<KnnPolicy>,
}

/// Moment at which a tree is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// At the start of a connection, of which little is known.
    Start,
    /// While the connection runs.
    #[serde(rename = "flight")]
    Running,
}

/// A tree for one requirement and moment; its first node is the root.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// Requirement: goodput, balanced, delay, fct, goodput@, delay@ or power. Without a tree of its own, fct takes that
    /// for goodput, goodput@ and power take that for balanced, and delay@ takes that for delay.
    pub requirement: String,
    /// Moment: start or flight.
    pub moment: Moment,
    /// Margin: minimum expected gain of a switch, or at the start of a CCA other than the default, relative to the
    /// requirement's measure; default 0.
    #[serde(default)]
    pub margin: f64,
    /// The nodes.
    pub nodes: Vec<Node>,
}

/// Node of a tree: a split, which has a feature, or a leaf, which has parts.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Node {
    /// Leads to one of two nodes: one below the threshold, the other at or above it.
    Split(Split),
    /// Expected parts of PM for each CCA.
    Leaf(Leaf),
}

impl<'de> Deserialize<'de> for Node {
    /// Chooses the variant by the field that only it has, so that errors name what is wrong with that variant.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let table = toml::Table::deserialize(deserializer)?;
        if table.contains_key("feature") {
            Split::deserialize(table).map(Self::Split)
        } else {
            Leaf::deserialize(table).map(Self::Leaf)
        }
        .map_err(|error| D::Error::custom(error.message()))
    }
}

/// Split of a tree.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// Name of the feature.
    pub feature: String,
    /// The threshold.
    pub threshold: f64,
    /// Index of the next node if the feature is below the threshold.
    pub below: usize,
    /// Index of the next node otherwise.
    pub from: usize,
    /// Index of the next node if the feature is unknown. By default it is that below the threshold, and the decision
    /// has no confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<usize>,
}

/// Leaf of a tree.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Leaf {
    /// CCAs to choose from.
    pub take: Vec<String>,
    /// Expected parts A, B and C of PM for each CCA, including CCAs that may be in use but not chosen. In trees for
    /// goodput, A is the delivered share of what could have been delivered. In trees for goodput@, delay@ and power, A
    /// is the requirement's measure over that of the best CCA.
    pub parts: BTreeMap<String, [f64; 3]>,
    /// Number of training cases in the leaf.
    pub cases: u32,
}

impl Trees {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        for (index, name) in self.features.iter().enumerate() {
            check_feature(format!("method.tree.features[{index}]"), name)?;
        }
        for (index, tree) in self.trees.iter().enumerate() {
            let field = |name: &str| format!("method.tree.trees[{index}].{name}");
            check_kind(field("requirement"), &tree.requirement)?;
            tree.check(&self.features, &field)?;
            let same = |other: &Tree| {
                (&other.requirement, other.moment) == (&tree.requirement, tree.moment)
            };
            if self.trees[..index].iter().any(same) {
                let reason = format!(
                    "{:?} has this tree already; allowed: one for each of start and flight",
                    tree.requirement
                );
                return reject(field("moment"), reason);
            }
        }
        not_empty("method.tree.trees", &self.trees, "tree")?;
        self.moments.as_ref().map_or(Ok(()), |moments| {
            moments.check(|kind| self.find(Moment::Running, kind).is_some())
        })
    }

    fn find(&self, moment: Moment, kind: &str) -> Option<&Tree> {
        let mut trees = self.trees.iter();
        trees.find(|tree| tree.moment == moment && tree.requirement == kind)
    }

    pub(super) fn candidates(&self) -> Vec<&str> {
        let nodes = self.trees.iter().flat_map(|tree| &tree.nodes);
        let leaves = nodes.filter_map(|node| match node {
            Node::Leaf(leaf) => Some(leaf),
            Node::Split(_) => None,
        });
        let of_leaves = leaves.flat_map(|leaf| leaf.take.iter().map(String::as_str));
        let of_moments = self.moments.iter().flat_map(KnnPolicy::candidates);
        of_leaves.chain(of_moments).collect()
    }

    /// Returns whether a tree or the measured moments support the requirement, or the nearest named one.
    pub(super) fn supports(&self, requirement: Requirement) -> bool {
        let kinds = [requirement.kind(), requirement.nearest_named().kind()];
        let mut trees = self.trees.iter();
        trees.any(|tree| kinds.contains(&tree.requirement.as_str()))
            || self.moments.iter().any(|moments| moments.supports(&kinds))
    }

    /// Returns whether there is a tree for running connections, or there are measured moments.
    pub(super) fn switch_running_connections(&self) -> bool {
        let mut trees = self.trees.iter();
        trees.any(|tree| tree.moment == Moment::Running) || self.moments.is_some()
    }

    /// Returns the CCA with the highest expected measure. For a new connection the gain is relative to `default`. If
    /// `linux_only`, measured moments choose among the CCAs of Linux.
    pub(super) fn recommend(
        &self,
        input: &DecisionInput<'_>,
        default: &'static str,
        linux_only: bool,
    ) -> Option<Recommendation> {
        if input.is_cca_chosen
            && let Some(moments) = &self.moments
            && let Some(recommendation) = moments.recommend(input, linux_only)
        {
            return Some(recommendation);
        }
        let requirement = input.requirement;
        let substitute = requirement.at_capacity(&input.estimates.capacity);
        let moment = if input.is_cca_chosen {
            Moment::Running
        } else {
            Moment::Start
        };
        let own_tree = self.find(moment, requirement.kind());
        // A tree of its own for a requirement that PM does not express has the measure in place of A.
        let weights = match own_tree {
            Some(_) if requirement.nearest_named() != requirement => Requirement::Goodput.weights(),
            _ => substitute.weights(),
        };
        let tree = own_tree.or_else(|| self.find(moment, substitute.nearest_named().kind()))?;
        let TreePath {
            leaf,
            conditions,
            confidence,
        } = tree.descend(input)?;
        let candidates = leaf.take.iter().filter_map(|name| {
            let parts = leaf.parts.get(name)?;
            Some((name, weights.pm(*parts)))
        });
        // Of equal CCAs, the first one in the file wins.
        let (best, best_score) =
            candidates.reduce(|best, other| if other.1 > best.1 { other } else { best })?;
        let in_use = input.current_cca.filter(|_| input.is_cca_chosen);
        let current = in_use.unwrap_or(default);
        // A CCA that is not in the leaf has no expectation to compare with.
        let current_score = leaf.parts.get(current).map(|parts| weights.pm(*parts));
        let gain = current_score.map_or(f64::INFINITY, |score| best_score - score);
        let margin = tree.margin;
        let is_too_little = gain < margin && current != best;
        let mut reason = conditions;
        if !reason.is_empty() {
            reason.push_str(": ");
        }
        reason += &format!("{best_score:.3} expected of {best}");
        reason += &match current_score {
            _ if current == best => String::new(),
            Some(score) if is_too_little => format!(", {score:.3} of {current}: too little"),
            Some(score) => format!(", {score:.3} of {current}: gain {gain:.3}, margin {margin}"),
            None => format!(", nothing known of {current}"),
        };
        Some(Recommendation {
            cca: if is_too_little {
                current
            } else {
                canonical_cca(best).ok()?
            },
            reason,
            confidence,
        })
    }
}

impl Tree {
    fn check(&self, features: &[String], field: &dyn Fn(&str) -> String) -> Result<(), FieldError> {
        check_number(field("margin"), self.margin, 0.0, 1.0)?;
        not_empty(field("nodes"), &self.nodes, "node")?;
        let mut is_reached = vec![false; self.nodes.len()];
        is_reached[0] = true;
        for (index, node) in self.nodes.iter().enumerate() {
            if !is_reached[index] {
                let reason = "no node leads here; allowed: nodes that an earlier one names";
                return reject(field(&format!("nodes[{index}]")), reason);
            }
            let field = |name: &str| field(&format!("nodes[{index}].{name}"));
            match node {
                Node::Split(split) => {
                    if !features.contains(&split.feature) {
                        let reason = format!(
                            "{:?} is not among the features of the training; allowed: {}",
                            split.feature,
                            features.join(", ")
                        );
                        return reject(field("feature"), reason);
                    }
                    if !split.threshold.is_finite() {
                        invalid_value(field("threshold"), split.threshold, "numbers")?;
                    }
                    let known = [("below", split.below), ("from", split.from)];
                    let unknown = split.unknown.map(|next| ("unknown", next));
                    for (name, next) in known.into_iter().chain(unknown) {
                        // Indices only grow along a path, so that every path ends.
                        if next <= index || next >= self.nodes.len() {
                            let last = self.nodes.len() - 1;
                            let reason = format!(
                                "{next} is not a later node; allowed: from {} to {last}",
                                index + 1
                            );
                            return reject(field(name), reason);
                        }
                        is_reached[next] = true;
                    }
                }
                Node::Leaf(leaf) => {
                    not_empty(field("take"), &leaf.take, "congestion control")?;
                    for name in &leaf.take {
                        check_cca_name(field("take"), name)?;
                        if !leaf.parts.contains_key(name) {
                            let reason = format!("{name:?} is not among parts");
                            return reject(field("take"), reason);
                        }
                    }
                    for (name, parts) in &leaf.parts {
                        check_cca_name(field("parts"), name)?;
                        if parts.iter().any(|part| !(0.0..=1.0).contains(part)) {
                            let reason = format!("{parts:?} of {name}; allowed: from 0 to 1");
                            return reject(field("parts"), reason);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the leaf for an input, and the path to it.
    fn descend(&self, input: &DecisionInput<'_>) -> Option<TreePath<'_>> {
        let (mut index, mut conditions, mut confidence) = (0, String::new(), 1.0_f64);
        loop {
            let split = match self.nodes.get(index)? {
                Node::Split(split) => split,
                Node::Leaf(leaf) => {
                    return Some(TreePath {
                        leaf,
                        conditions,
                        confidence,
                    });
                }
            };
            let name = &split.feature;
            if !conditions.is_empty() {
                conditions.push_str(", ");
            }
            let Some(estimate) = input.features.0[feature_index(name)?] else {
                conditions.push_str(&format!("{name} unknown"));
                if split.unknown.is_none() {
                    confidence = 0.0;
                }
                index = split.unknown.unwrap_or(split.below);
                continue;
            };
            let (sign, next) = if estimate.value < split.threshold {
                ("<", split.below)
            } else {
                (">=", split.from)
            };
            let value = format_value(estimate.value);
            conditions.push_str(&format!("{name} {value} {sign} {}", split.threshold));
            if estimate.confidence < 1.0 {
                conditions.push_str(&format!(" (confidence {:.2})", estimate.confidence));
            }
            confidence = confidence.min(estimate.confidence);
            index = next;
        }
    }
}

/// Path from the root of a tree to a leaf.
struct TreePath<'a> {
    leaf: &'a Leaf,
    /// Conditions on the path, in words.
    conditions: String,
    /// Lowest confidence of the features on the path.
    confidence: f64,
}
