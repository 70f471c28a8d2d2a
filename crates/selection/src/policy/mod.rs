//! Policies: files that choose a CCA by the estimates of a connection.

mod builtin;
mod cost;
mod initial_window;
mod knn;
mod knn_distance;
mod knn_examples;
mod method;
mod rules;
mod table;
mod tie_break;
mod tree;
mod tuning;

use std::collections::BTreeMap;

use config::{FieldError, reject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use builtin::{BUILT_IN, builtin, builtin_text};
pub use cost::Cost;
pub use initial_window::InitialWindow;
pub use knn::{KnnParams, KnnPolicy};
pub use knn_examples::{ExampleTable, OUTCOME_METRICS};
pub use method::{Fixed, Method};
pub use rules::{Condition, Rule, Rules};
pub use table::{Cell, Table};
pub use tree::{Leaf, Moment, Node, Split, Tree, Trees};
pub use tuning::Tuning;

use self::tie_break::break_tie;
use crate::DEFAULT_CCA;
use crate::destination_cache::DestinationEntry;
use crate::estimators::PathEstimates;
use crate::features::Features;
use crate::file_text::{cca_named, check_text, in_one_line};
use crate::requirement::Requirement;

/// Error of a policy that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PolicyError {
    /// There is no built-in policy of that name.
    #[error("{0:?} is not a policy; allowed: {list}, or the file of one", list = BUILT_IN.map(|p| p.0).join(", "))]
    Unknown(String),
    /// The text is no policy, or a field has a value that is not allowed.
    #[error("{origin}: {reason}")]
    Text {
        /// File or name of the policy.
        origin: String,
        /// Fault of the text; of a field with its name and what is allowed.
        reason: String,
    },
}

/// Policy, as its file describes it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Name of the policy.
    pub name: String,
    /// Description in one sentence.
    pub description: String,
    /// Source: a paper, a program, or the training that made it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Networks that it was trained on, by family or scenario.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trained_on: Vec<String>,
    /// CCA of a connection about which nothing is known; default cubic.
    #[serde(default = "default_cca")]
    pub default: String,
    /// Substitutes on a Linux kernel for CCAs that it lacks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub instead: BTreeMap<String, String>,
    /// Initial window of flows that are known to be small; by default that of all connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<InitialWindow>,
    /// Times between decisions, and limits on switches.
    #[serde(default)]
    pub tuning: Tuning,
    /// Method by which it chooses.
    pub method: Method,
    /// Whether it runs on a Linux kernel, and so uses the substitutes in `instead`.
    #[serde(skip)]
    kernel: bool,
}

fn default_cca() -> String {
    DEFAULT_CCA.to_owned()
}

/// Input of a policy's decision: the state of a connection.
#[derive(Clone, Copy, Debug)]
pub struct DecisionInput<'a> {
    /// Estimates of the connection.
    pub view: &'a PathEstimates,
    /// Features of the same estimates.
    pub features: &'a Features,
    /// Requirement to optimise.
    pub requirement: Requirement,
    /// CCA in use; `None` before there is one.
    pub current_cca: Option<&'static str>,
    /// Whether a choice has been made for this connection. If not, the CCA in use is the default that set it up.
    pub is_cca_chosen: bool,
    /// CCAs that the operator prefers among equals.
    pub prefer: &'a [&'static str],
    /// Results of earlier connections to the destination.
    pub destination: Option<&'a DestinationEntry>,
    /// A number from 0 to 1 drawn for this decision.
    pub draw: f64,
}

/// Output of a policy's decision.
#[derive(Clone, PartialEq, Debug)]
pub struct Recommendation {
    /// CCA that the policy chooses.
    pub to: &'static str,
    /// Reason in words.
    pub reason: String,
    /// Lowest confidence of the features that decided, from 0 to 1.
    pub confidence: f64,
}

/// Returns whether Linux has the CCA.
fn is_in_linux(name: &str) -> bool {
    cca::registry::find(name).is_some_and(|cca| cca.linux)
}

/// Checks that a list of `what` is not empty.
fn not_empty<T>(field: impl Into<String>, list: &[T], what: &str) -> Result<(), FieldError> {
    if !list.is_empty() {
        return Ok(());
    }
    let reason = format!("the list is empty; allowed: one {what} or more");
    reject(field, reason)
}

/// Returns the CCA of this name, or the error that it is unknown.
fn check_cca_name(field: impl Into<String>, name: &str) -> Result<&'static str, FieldError> {
    cca_named(name).map_err(|reason| FieldError::new(field, reason))
}

impl Policy {
    /// Parses a policy file; errors name it as `origin`.
    ///
    /// # Errors
    /// [`PolicyError`] names the field, its value and what is allowed.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, PolicyError> {
        let read = || {
            check_text(text)?;
            method::check(text).map_err(|error| error.to_string())?;
            let policy: Self = toml::from_str(text).map_err(|error| in_one_line(text, &error))?;
            policy.check().map_err(|error| error.to_string())?;
            Ok(policy)
        };
        read().map_err(|reason| PolicyError::Text {
            origin: origin.to_owned(),
            reason,
        })
    }

    /// Returns the JSON schema (draft 2020-12) of policy files.
    pub fn schema() -> String {
        format!("{:#}\n", schemars::schema_for!(Self).to_value())
    }

    fn check(&self) -> Result<(), FieldError> {
        check_cca_name("default", &self.default)?;
        self.tuning.check()?;
        if let Some(initial_window) = &self.initial_window {
            initial_window.check()?;
        }
        for (name, other) in &self.instead {
            check_cca_name("instead", name)?;
            if !is_in_linux(check_cca_name(format!("instead.{name}"), other)?) {
                let reason = format!("Linux has no {other:?} either; allowed: CCAs of Linux");
                return reject(format!("instead.{name}"), reason);
            }
        }
        match &self.method {
            Method::Fixed(fixed) => check_cca_name("method.fixed.cca", &fixed.cca).map(drop),
            Method::Table(table) => table.check(),
            Method::Rules(rules) => rules.check(),
            Method::Tree(trees) => trees.check(),
            Method::Cost(cost) => cost.check(),
        }
    }

    /// Returns the CCA for a connection about which nothing is known.
    pub(crate) fn default_cca(&self) -> &'static str {
        self.resolve_cca(cca_named(&self.default).unwrap_or(DEFAULT_CCA))
    }

    /// Returns the policy as it runs on a Linux kernel.
    #[must_use]
    pub(crate) fn for_kernel(mut self) -> Self {
        self.kernel = true;
        self
    }

    fn resolve_cca(&self, cca: &'static str) -> &'static str {
        if self.kernel {
            self.linux_substitute(cca)
        } else {
            cca
        }
    }

    /// Returns the policy with another CCA if its method is `fixed`, and unchanged otherwise.
    #[must_use]
    pub(crate) fn fixed_to(mut self, cca: &'static str) -> Self {
        if let Method::Fixed(fixed) = &mut self.method {
            fixed.cca = cca.to_owned();
        }
        self
    }

    /// Returns the CCA that runs as `cca` on a Linux kernel: its substitute if Linux lacks it.
    pub fn linux_substitute(&self, cca: &'static str) -> &'static str {
        let other = self.instead.get(cca).filter(|_| !is_in_linux(cca));
        other.and_then(|name| cca_named(name).ok()).unwrap_or(cca)
    }

    /// Returns all CCAs that the policy may choose.
    pub fn choices(&self) -> Vec<&'static str> {
        let names: Vec<&str> = match &self.method {
            Method::Fixed(fixed) => vec![&fixed.cca],
            Method::Table(table) => table.choices(),
            Method::Rules(rules) => rules.choices(),
            Method::Tree(trees) => trees.choices(),
            Method::Cost(cost) => cost.choices(),
        };
        let mut result: Vec<_> = names
            .into_iter()
            .filter_map(|n| cca_named(n).ok())
            .collect();
        result.push(self.default_cca());
        result.sort_unstable();
        result.dedup();
        result
    }

    /// Returns whether the policy switches the CCA of running connections.
    pub fn switches_running_connections(&self) -> bool {
        match &self.method {
            Method::Fixed(_) => false,
            Method::Table(table) => table.has_phases(),
            Method::Rules(_) => true,
            Method::Tree(trees) => trees.switch_running_connections(),
            Method::Cost(cost) => cost.loss_share.is_some(),
        }
    }

    /// Returns whether the policy supports the requirement, or the nearest predefined one.
    pub(crate) fn supports(&self, requirement: Requirement) -> bool {
        match &self.method {
            // These methods choose the same CCA for every requirement.
            Method::Fixed(_) | Method::Cost(_) => true,
            Method::Table(table) => table.supports(),
            Method::Rules(rules) => rules.supports(requirement),
            Method::Tree(trees) => trees.supports(requirement),
        }
    }

    /// Returns whether the policy decides by measurements of the path. Those of the handshake are then preferred to the
    /// destination cache.
    pub(crate) fn needs_measurements(&self) -> bool {
        matches!(
            self.method,
            Method::Table(_) | Method::Rules(_) | Method::Tree(_)
        )
    }

    /// Returns whether the policy may find several CCAs equally good, so that a preference decides.
    pub(crate) fn has_ties(&self) -> bool {
        match &self.method {
            Method::Fixed(_) | Method::Cost(_) | Method::Tree(_) => false,
            Method::Table(table) => table.has_ties(),
            Method::Rules(rules) => rules.has_ties(),
        }
    }

    /// Returns the decision of the policy; `None` if too little is known.
    pub fn recommend(&self, input: &DecisionInput<'_>) -> Option<Recommendation> {
        let mut recommendation = self.by_method(input)?;
        recommendation.to = self.resolve_cca(recommendation.to);
        Some(recommendation)
    }

    fn by_method(&self, input: &DecisionInput<'_>) -> Option<Recommendation> {
        match &self.method {
            Method::Fixed(fixed) => Some(Recommendation {
                to: cca_named(&fixed.cca).unwrap_or(DEFAULT_CCA),
                reason: "fixed".to_owned(),
                confidence: 1.0,
            }),
            Method::Table(table) => table.recommend(input),
            // Before the first RTT sample no feature has a meaning.
            Method::Rules(_) | Method::Tree(_) if input.view.base_rtt.value.is_zero() => None,
            Method::Rules(rules) => rules.recommend(input),
            Method::Tree(trees) => trees.recommend(input, self.default_cca(), self.kernel),
            Method::Cost(cost) => cost.recommend(input, self.default_cca()),
        }
    }

    /// Returns the decision for a new connection about which too little is known.
    pub(crate) fn default_recommendation(&self) -> Recommendation {
        Recommendation {
            to: self.default_cca(),
            reason: "nothing is known that the policy decides by".to_owned(),
            confidence: 1.0,
        }
    }
}
