//! Decision trees from training.

use std::collections::BTreeMap;

use config::{FieldError, check_number, invalid_value, reject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::knn::KnnPolicy;
use super::rules::{check_feature, check_kind};
use super::{DecisionInput, Recommendation, cca_named, check_cca_name, not_empty};
use crate::features::{Feature, feature_index};
use crate::requirement::Requirement;

/// Trees, one per requirement and moment, and the features that they were trained on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trees {
    /// Features used in training; a build without one of them rejects the policy.
    pub features: Vec<String>,
    /// The trees.
    pub trees: Vec<Tree>,
    /// Measured moments, which decide in flight for the requirements that they name; by default none.
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
    /// Margin: least expected gain of a change, or at the start of a CCA other than the default, relative to the
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
    /// Goes on to one of two nodes, below the threshold or from it on.
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
    /// Expected parts A, B and C of PM for each CCA, including CCAs that may be in use but not taken. In trees for
    /// goodput, A is the delivered share of what could have been delivered. In trees for goodput@, delay@ and power, A
    /// is the requirement's measure over that of the best CCA.
    pub parts: BTreeMap<String, [f64; 3]>,
    /// Number of training cases in the leaf.
    pub cases: u32,
}

impl Trees {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        for (number, name) in self.features.iter().enumerate() {
            check_feature(format!("method.tree.features[{number}]"), name)?;
        }
        for (number, tree) in self.trees.iter().enumerate() {
            let field = |name: &str| format!("method.tree.trees[{number}].{name}");
            check_kind(field("requirement"), &tree.requirement)?;
            tree.check(&self.features, &field)?;
            let same = |other: &Tree| {
                (&other.requirement, other.moment) == (&tree.requirement, tree.moment)
            };
            if self.trees[..number].iter().any(same) {
                let reason = format!(
                    "{:?} has this tree already; allowed: one for each of start and flight",
                    tree.requirement
                );
                return reject(field("moment"), reason);
            }
        }
        not_empty("method.tree.trees", &self.trees, "tree")?;
        let in_flight = |name: &str| {
            let mut trees = self.trees.iter();
            trees.any(|tree| tree.moment == Moment::Running && tree.requirement == name)
        };
        self.moments
            .as_ref()
            .map_or(Ok(()), |moments| moments.check(in_flight))
    }

    pub(super) fn choices(&self) -> Vec<&str> {
        let nodes = self.trees.iter().flat_map(|tree| &tree.nodes);
        let leaves = nodes.filter_map(|node| match node {
            Node::Leaf(leaf) => Some(leaf),
            Node::Split(_) => None,
        });
        let of_leaves = leaves.flat_map(|leaf| leaf.take.iter().map(String::as_str));
        let of_moments = self.moments.iter().flat_map(KnnPolicy::choices);
        of_leaves.chain(of_moments).collect()
    }

    /// Returns whether there is a tree for the requirement, or for the named one that is nearest to it.
    pub(super) fn supports(&self, requirement: Requirement) -> bool {
        let names = [requirement.kind(), requirement.nearest_named().kind()];
        let mut trees = self.trees.iter();
        let by_moments = || {
            self.moments
                .as_ref()
                .is_some_and(|all| all.supports(&names))
        };
        trees.any(|tree| names.contains(&tree.requirement.as_str())) || by_moments()
    }

    /// Returns whether there is a tree for running connections, or moments are known of some.
    pub(super) fn switch_running_connections(&self) -> bool {
        let mut trees = self.trees.iter();
        trees.any(|tree| tree.moment == Moment::Running) || self.moments.is_some()
    }

    /// Returns the CCA with the highest expected measure. For a new connection the gain is measured against `default`.
    /// On a Linux kernel moments choose among the CCAs that it has.
    pub(super) fn recommend(
        &self,
        input: &DecisionInput<'_>,
        default: &'static str,
        kernel: bool,
    ) -> Option<Recommendation> {
        if input.is_cca_chosen
            && let Some(moments) = &self.moments
            && let Some(recommendation) = moments.recommend(input, kernel)
        {
            return Some(recommendation);
        }
        let requirement = input.requirement;
        let substitute = requirement.on(&input.view.capacity);
        let nearest = substitute.nearest_named().to_string();
        let moment = if input.is_cca_chosen {
            Moment::Running
        } else {
            Moment::Start
        };
        let of = |name: &str| {
            let mut trees = self.trees.iter().filter(|tree| tree.moment == moment);
            trees.find(|tree| tree.requirement == name)
        };
        let own = of(requirement.kind());
        // A tree of its own for a requirement that PM does not express has the measure in place of A.
        let weights = match own {
            Some(_) if requirement.nearest_named() != requirement => Requirement::Goodput.weights(),
            _ => substitute.weights(),
        };
        let tree = own.or_else(|| of(&nearest))?;
        let Descent {
            leaf,
            path,
            confidence,
        } = tree.descend(input)?;
        let score = |parts: &[f64; 3]| weights.pm(*parts);
        // Among equals, the first in the file is taken.
        let all = leaf
            .take
            .iter()
            .filter_map(|name| leaf.parts.get_key_value(name));
        let (name, parts) = all.reduce(|best, each| {
            if score(each.1) > score(best.1) {
                each
            } else {
                best
            }
        })?;
        let in_use = input.current_cca.filter(|_| input.is_cca_chosen);
        let current = in_use.unwrap_or(default);
        // A CCA that is not in the leaf has no expectation to compare with.
        let known = leaf.parts.get(current).map(score);
        let gain = known.map_or(f64::INFINITY, |known| score(parts) - known);
        let way = if path.is_empty() { path } else { path + ": " };
        let expected = format!("{way}{:.3} expected of {name}", score(parts));
        let stays = gain < tree.margin && current != name;
        let compared = match known {
            _ if current == name => String::new(),
            Some(known) if stays => format!(", {known:.3} of {current}: too little"),
            Some(known) => {
                let margin = tree.margin;
                format!(", {known:.3} of {current}: gain {gain:.3}, margin {margin}")
            }
            None => format!(", nothing known of {current}"),
        };
        Some(Recommendation {
            to: if stays {
                current
            } else {
                cca_named(name).ok()?
            },
            reason: format!("{expected}{compared}"),
            confidence,
        })
    }
}

impl Tree {
    fn check(&self, features: &[String], field: &dyn Fn(&str) -> String) -> Result<(), FieldError> {
        check_number(field("margin"), self.margin, 0.0, 1.0)?;
        not_empty(field("nodes"), &self.nodes, "node")?;
        let mut reached = vec![false; self.nodes.len()];
        reached[0] = true;
        for (number, node) in self.nodes.iter().enumerate() {
            if !reached[number] {
                let reason = "no node leads here; allowed: nodes that an earlier one names";
                return reject(field(&format!("nodes[{number}]")), reason);
            }
            let field = |name: &str| field(&format!("nodes[{number}].{name}"));
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
                    let ways = [("below", split.below), ("from", split.from)];
                    let unknown = split.unknown.map(|next| ("unknown", next));
                    for (name, next) in ways.into_iter().chain(unknown) {
                        // Numbers only grow along a way, so that every way ends.
                        if next <= number || next >= self.nodes.len() {
                            let last = self.nodes.len() - 1;
                            let reason = format!(
                                "{next} is not a later node; allowed: from {} to {last}",
                                number + 1
                            );
                            return reject(field(name), reason);
                        }
                        reached[next] = true;
                    }
                }
                Node::Leaf(leaf) => {
                    if leaf.take.is_empty() {
                        let reason = "is empty; allowed: one congestion control or more";
                        return reject(field("take"), reason);
                    }
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
    fn descend(&self, input: &DecisionInput<'_>) -> Option<Descent<'_>> {
        let (mut number, mut path, mut confidence) = (0, String::new(), 1.0_f64);
        loop {
            match self.nodes.get(number)? {
                Node::Leaf(leaf) => {
                    return Some(Descent {
                        leaf,
                        path,
                        confidence,
                    });
                }
                Node::Split(split) => {
                    let name = &split.feature;
                    if !path.is_empty() {
                        path.push_str(", ");
                    }
                    let Some(known) = input.features.0[feature_index(name)?] else {
                        path.push_str(&format!("{name} unknown"));
                        if split.unknown.is_none() {
                            confidence = 0.0;
                        }
                        number = split.unknown.unwrap_or(split.below);
                        continue;
                    };
                    let (sign, next) = if known.value < split.threshold {
                        ("<", split.below)
                    } else {
                        (">=", split.from)
                    };
                    let value = Feature::format_value(known.value);
                    path.push_str(&format!("{name} {value} {sign} {}", split.threshold));
                    if known.confidence < 1.0 {
                        path.push_str(&format!(" (confidence {:.2})", known.confidence));
                    }
                    confidence = confidence.min(known.confidence);
                    number = next;
                }
            }
        }
    }
}

/// Way from the root of a tree to a leaf.
struct Descent<'a> {
    leaf: &'a Leaf,
    /// Conditions in words.
    path: String,
    /// Lowest confidence of the features on the way.
    confidence: f64,
}
