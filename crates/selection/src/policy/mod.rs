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
use crate::file_text::{canonical_cca, check_text, toml_error_text};
use crate::requirement::Requirement;

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
    runs_on_kernel: bool,
}

fn default_cca() -> String {
    DEFAULT_CCA.to_owned()
}

/// Input of a policy's decision: the state of a connection.
#[derive(Clone, Copy, Debug)]
pub struct DecisionInput<'a> {
    /// Estimates of the connection.
    pub estimates: &'a PathEstimates,
    /// Features of the same estimates.
    pub features: &'a Features,
    /// Requirement to optimise.
    pub requirement: Requirement,
    /// CCA in use; `None` before there is one.
    pub current_cca: Option<&'static str>,
    /// Whether a CCA has been chosen for this connection. If not, the CCA in use is the default of the policy.
    pub is_cca_chosen: bool,
    /// CCAs that the operator prefers among equally good ones.
    pub prefer: &'a [&'static str],
    /// Results of earlier connections to the destination.
    pub destination: Option<&'a DestinationEntry>,
    /// Random number from 0 to 1 for this decision.
    pub draw: f64,
}

/// Output of a policy's decision.
#[derive(Clone, PartialEq, Debug)]
pub struct Recommendation {
    /// CCA that the policy chooses.
    pub cca: &'static str,
    /// Reason in words.
    pub reason: String,
    /// Lowest confidence of the features that decided, from 0 to 1.
    pub confidence: f64,
}

impl Recommendation {
    fn certain(cca: &'static str, reason: impl Into<String>) -> Self {
        Self {
            cca,
            reason: reason.into(),
            confidence: 1.0,
        }
    }
}

/// Returns whether Linux has the CCA.
fn is_in_linux(name: &str) -> bool {
    cca::registry::find(name).is_some_and(|cca| cca.linux)
}

/// Returns the CCAs of these names, without unknown ones.
fn known_ccas<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Vec<&'static str> {
    let ccas = names.into_iter().map(|name| canonical_cca(name.as_ref()));
    ccas.filter_map(Result::ok).collect()
}

/// Checks that a list is not empty; errors call its elements `what`.
fn not_empty<T>(field: impl Into<String>, list: &[T], what: &str) -> Result<(), FieldError> {
    if !list.is_empty() {
        return Ok(());
    }
    let reason = format!("the list is empty; allowed: one {what} or more");
    reject(field, reason)
}

/// Returns the kernel's name of the CCA called `name`, or the error that it is unknown.
fn check_cca_name(field: impl Into<String>, name: &str) -> Result<&'static str, FieldError> {
    canonical_cca(name).map_err(|reason| FieldError::new(field, reason))
}

impl Policy {
    /// Parses a policy file; errors name it as `origin`.
    ///
    /// # Errors
    /// The message names the field, its value and what is allowed.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, String> {
        let parse = || {
            check_text(text)?;
            method::check(text).map_err(|error| error.to_string())?;
            let policy: Self =
                toml::from_str(text).map_err(|error| toml_error_text(text, &error))?;
            policy.check().map_err(|error| error.to_string())?;
            Ok(policy)
        };
        parse().map_err(|reason: String| format!("{origin}: {reason}"))
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
        for (name, substitute) in &self.instead {
            check_cca_name("instead", name)?;
            if !is_in_linux(check_cca_name(format!("instead.{name}"), substitute)?) {
                let reason = format!("Linux has no {substitute:?} either; allowed: CCAs of Linux");
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
        self.resolve_cca(canonical_cca(&self.default).unwrap_or(DEFAULT_CCA))
    }

    /// Returns the policy as it runs on a Linux kernel.
    #[must_use]
    pub(crate) fn for_kernel(mut self) -> Self {
        self.runs_on_kernel = true;
        self
    }

    fn resolve_cca(&self, cca: &'static str) -> &'static str {
        if self.runs_on_kernel {
            self.linux_substitute(cca)
        } else {
            cca
        }
    }

    /// Returns the policy with another CCA if its method is `fixed`, and unchanged otherwise.
    #[must_use]
    pub(crate) fn with_fixed_cca(mut self, cca: &'static str) -> Self {
        if let Method::Fixed(fixed) = &mut self.method {
            fixed.cca = cca.to_owned();
        }
        self
    }

    /// Returns the CCA that runs as `cca` on a Linux kernel: its substitute if Linux lacks it.
    pub fn linux_substitute(&self, cca: &'static str) -> &'static str {
        let substitute = self.instead.get(cca).filter(|_| !is_in_linux(cca));
        substitute
            .and_then(|name| canonical_cca(name).ok())
            .unwrap_or(cca)
    }

    /// Returns all CCAs that the policy may choose.
    pub fn candidates(&self) -> Vec<&'static str> {
        let names: Vec<&str> = match &self.method {
            Method::Fixed(fixed) => vec![&fixed.cca],
            Method::Table(table) => table.candidates(),
            Method::Rules(rules) => rules.candidates(),
            Method::Tree(trees) => trees.candidates(),
            Method::Cost(cost) => cost.candidates(),
        };
        let mut candidates = known_ccas(names);
        candidates.push(self.default_cca());
        candidates.sort_unstable();
        candidates.dedup();
        candidates
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
            // Fixed and cost choose the same CCA for every requirement; a cell of a table has all named ones.
            Method::Fixed(_) | Method::Cost(_) | Method::Table(_) => true,
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
        let mut recommendation = match &self.method {
            Method::Fixed(fixed) => Some(Recommendation::certain(
                canonical_cca(&fixed.cca).unwrap_or(DEFAULT_CCA),
                "fixed",
            )),
            Method::Table(table) => table.recommend(input),
            // Before the first RTT sample no feature has a meaning.
            Method::Rules(_) | Method::Tree(_) if input.estimates.base_rtt.value.is_zero() => None,
            Method::Rules(rules) => rules.recommend(input),
            Method::Tree(trees) => trees.recommend(input, self.default_cca(), self.runs_on_kernel),
            Method::Cost(cost) => cost.recommend(input, self.default_cca()),
        }?;
        recommendation.cca = self.resolve_cca(recommendation.cca);
        Some(recommendation)
    }

    /// Returns the decision for a new connection about which too little is known.
    pub(crate) fn default_recommendation(&self) -> Recommendation {
        Recommendation::certain(
            self.default_cca(),
            "nothing is known that the policy decides by",
        )
    }
}
