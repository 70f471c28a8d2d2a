//! Explicit rules, of which the first that holds decides.

use config::{FieldContext, FieldError, invalid_value, reject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DecisionInput, Recommendation, break_tie, check_cca_name, known_ccas, not_empty};
use crate::estimate::Estimate;
use crate::features::{FEATURES, feature_index};
use crate::requirement::Requirement;

/// Rules in the order in which they are tried.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The rules.
    pub rules: Vec<Rule>,
}

/// Rule: the CCAs to choose if its conditions hold.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Requirements to which the rule applies: goodput, balanced, delay, fct, power, "goodput@" and "delay@" with any
    /// bound. Where no rule names fct, power, "goodput@" or "delay@", the rules of the nearest of goodput, balanced and
    /// delay apply instead.
    pub requirements: Vec<String>,
    /// Conditions, all of which must hold. A condition on a feature that is unknown does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Condition>,
    /// CCAs to choose; a list of several means that they are equally good.
    pub choose: Vec<String>,
    /// Reason in words.
    pub because: String,
}

impl Rule {
    /// Returns the lowest confidence of its features if all conditions hold.
    fn confidence(&self, input: &DecisionInput<'_>) -> Option<f64> {
        self.when.iter().try_fold(1.0, |min: f64, condition| {
            Some(min.min(condition.confidence(input)?))
        })
    }
}

/// Condition on a feature.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// Name of the feature.
    pub feature: String,
    /// The feature is at least this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The feature is less than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
}

impl Condition {
    /// Checks that the bounds are numbers and that values between them exist.
    fn check(&self) -> Result<(), FieldError> {
        for (name, bound) in [("at_least", self.at_least), ("below", self.below)] {
            if let Some(bound) = bound.filter(|bound| !bound.is_finite()) {
                return invalid_value(name, bound, "numbers");
            }
        }
        match (self.at_least, self.below) {
            (Some(at_least), Some(below)) if below <= at_least => {
                invalid_value("below", below, format!("more than at_least, {at_least}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the confidence of the feature if the condition holds. It does not hold if the feature is unknown.
    fn confidence(&self, input: &DecisionInput<'_>) -> Option<f64> {
        let Estimate { value, confidence } = input.features.0[feature_index(&self.feature)?]?;
        let holds = self.at_least.is_none_or(|at_least| value >= at_least)
            && self.below.is_none_or(|below| value < below);
        holds.then_some(confidence)
    }
}

/// Checks that there is a feature called `name`.
pub(super) fn check_feature(field: String, name: &str) -> Result<(), FieldError> {
    if feature_index(name).is_some() {
        return Ok(());
    }
    let all = FEATURES.each_ref().map(|feature| feature.name).join(", ");
    reject(field, format!("{name:?} is not a feature; allowed: {all}"))
}

/// Checks that all requirements are ones that rules and trees may name.
pub(super) fn check_kinds(field: &str, names: &[String]) -> Result<(), FieldError> {
    names
        .iter()
        .try_for_each(|name| check_kind(field.to_owned(), name))
}

/// Checks that a requirement is one that rules and trees may name.
pub(super) fn check_kind(field: String, name: &str) -> Result<(), FieldError> {
    if Requirement::kinds().any(|kind| kind == name) {
        return Ok(());
    }
    let allowed = Requirement::kinds().collect::<Vec<_>>().join(", ");
    let reason = format!("{name:?} is not a requirement; allowed: {allowed}");
    reject(field, reason)
}

impl Rules {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        not_empty("method.rules.rules", &self.rules, "rule")?;
        for (rule_index, rule) in self.rules.iter().enumerate() {
            let field = |name: &str| format!("method.rules.rules[{rule_index}].{name}");
            not_empty(field("requirements"), &rule.requirements, "requirement")?;
            check_kinds(&field("requirements"), &rule.requirements)?;
            for (index, condition) in rule.when.iter().enumerate() {
                let table = field(&format!("when[{index}]"));
                check_feature(format!("{table}.feature"), &condition.feature)?;
                condition.check().in_table(&table)?;
                if condition.at_least.is_none() && condition.below.is_none() {
                    return reject(table, "has no bound; allowed: at_least, below, or both");
                }
            }
            not_empty(field("choose"), &rule.choose, "congestion control")?;
            for name in &rule.choose {
                check_cca_name(field("choose"), name)?;
            }
        }
        Ok(())
    }

    pub(super) fn candidates(&self) -> Vec<&str> {
        let rules = self.rules.iter();
        rules
            .flat_map(|rule| rule.choose.iter().map(String::as_str))
            .collect()
    }

    /// Returns the kind of requirement whose rules apply to the requirement: its own, or that of the nearest named one.
    fn applicable_kind(&self, requirement: Requirement) -> &'static str {
        let kind = requirement.kind();
        if self.has_kind(kind) {
            kind
        } else {
            requirement.nearest_named().kind()
        }
    }

    fn has_kind(&self, kind: &str) -> bool {
        let mut kinds = self.rules.iter().flat_map(|rule| &rule.requirements);
        kinds.any(|of_rule| of_rule == kind)
    }

    /// Returns whether any rule applies to the requirement.
    pub(super) fn supports(&self, requirement: Requirement) -> bool {
        self.has_kind(self.applicable_kind(requirement))
    }

    pub(super) fn has_ties(&self) -> bool {
        self.rules.iter().any(|rule| rule.choose.len() > 1)
    }

    /// Returns the recommendation of the first rule whose conditions hold.
    pub(super) fn recommend(&self, input: &DecisionInput<'_>) -> Option<Recommendation> {
        let requirement = input.requirement.at_capacity(&input.estimates.capacity);
        let kind = self.applicable_kind(requirement);
        let (rule, confidence) = self
            .rules
            .iter()
            .filter(|rule| rule.requirements.iter().any(|of_rule| of_rule == kind))
            .find_map(|rule| Some((rule, rule.confidence(input)?)))?;
        let tied = known_ccas(&rule.choose);
        Some(Recommendation {
            cca: break_tie(&tied, input.prefer, input.current_cca)?,
            reason: rule.because.clone(),
            confidence,
        })
    }
}
