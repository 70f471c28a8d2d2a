//! Auto: the words after `auto`, which name a policy and what it selects for.

mod files;

use std::collections::BTreeMap;

use crate::file_text::cca_named;
use crate::policy::{Method, Policy};
use crate::requirement::Requirement;

pub use files::Files;

/// Error of the words after `auto`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AutoError {
    /// There is no such parameter.
    #[error("auto has no parameter {parameter:?}; allowed: {allowed}", allowed = Auto::PARAMETERS.map(|p| p.0).join(", "))]
    Unknown {
        /// Name of the unknown parameter.
        parameter: String,
    },
    /// A value is not allowed.
    #[error("auto: {parameter}: {reason}")]
    Value {
        /// Name of the parameter.
        parameter: &'static str,
        /// Fault of the value, and the values that are allowed.
        reason: String,
    },
}

/// A congestion control that a policy selects and changes.
#[derive(Clone, PartialEq, Debug)]
pub struct Auto {
    /// Name of a built-in policy, or a policy file.
    pub policy: String,
    /// Measure to maximise.
    pub requirement: Requirement,
    /// Size of the flow, bytes, where the application knows it.
    pub flow_size: Option<u64>,
    /// Whether the selector asks the radio for hints.
    pub hints: bool,
    /// CCAs that the operator prefers among equals, the most preferred first.
    pub prefer: Vec<&'static str>,
    /// CCA of the policy `fixed`.
    pub cca: Option<&'static str>,
    /// Memory file with results of earlier connections, per destination.
    pub memory: Option<String>,
}

impl Default for Auto {
    fn default() -> Self {
        Self {
            policy: Self::DEFAULT_POLICY.to_owned(),
            requirement: Requirement::default(),
            flow_size: None,
            hints: false,
            prefer: Vec::new(),
            cca: None,
            memory: None,
        }
    }
}

impl Auto {
    /// Name that a flow gives in place of a CCA to have one selected.
    pub const NAME: &str = "auto";
    /// Policy used when none is named.
    pub(crate) const DEFAULT_POLICY: &str = "default";
    /// Names, meanings and defaults of the parameters.
    pub const PARAMETERS: [(&str, &str, &str); 7] = [
        (
            "policy",
            "built-in policy, or file of one",
            Self::DEFAULT_POLICY,
        ),
        (
            "requirement",
            "goodput, balanced, delay, fct, power, goodput@RTT such as goodput@100ms, delay@RATE such as delay@2Mbps, or \
             weights of use/delay/losses such as 1/5/1",
            "balanced",
        ),
        (
            "flow_size",
            "size of the data that the application will send, such as 20MB",
            "unknown",
        ),
        (
            "hints",
            "whether the radio gives hints to the selector: on or off",
            "off",
        ),
        (
            "prefer",
            "CCAs that the operator prefers among equals, such as bbr/cubic; used by policies with a preference",
            "none",
        ),
        ("cca", "CCA of the policy fixed", "cubic"),
        (
            "memory",
            "file with results of earlier connections, per destination",
            "none",
        ),
    ];

    /// Parses the parameters of `auto`.
    ///
    /// # Errors
    /// [`AutoError`] names the parameter.
    pub fn new(settings: &BTreeMap<String, String>) -> Result<Self, AutoError> {
        let mut auto = Self::default();
        for (name, value) in settings {
            let bad = |parameter, reason| AutoError::Value { parameter, reason };
            match name.as_str() {
                "policy" => auto.policy = file(value).map_err(|e| bad("policy", e))?,
                "requirement" => {
                    auto.requirement = value.parse().map_err(|e| bad("requirement", e))?;
                }
                "flow_size" => {
                    let size: units::Bytes = value.parse().map_err(|e| bad("flow_size", e))?;
                    auto.flow_size = Some(size.get());
                }
                "hints" => {
                    auto.hints = match value.as_str() {
                        "on" => true,
                        "off" => false,
                        other => {
                            let reason = format!("{other:?} is not allowed; allowed: on, off");
                            return Err(bad("hints", reason));
                        }
                    }
                }
                "prefer" => {
                    auto.prefer = value
                        .split('/')
                        .map(|name| cca_named(name.trim()))
                        .collect::<Result<_, _>>()
                        .map_err(|e| bad("prefer", e))?;
                }
                "cca" => auto.cca = Some(cca_named(value).map_err(|e| bad("cca", e))?),
                "memory" => auto.memory = Some(file(value).map_err(|e| bad("memory", e))?),
                _ => {
                    return Err(AutoError::Unknown {
                        parameter: name.clone(),
                    });
                }
            }
        }
        Ok(auto)
    }

    /// Checks that the policy can use these parameters.
    ///
    /// # Errors
    /// [`AutoError`] names the parameter.
    pub fn check(&self, policy: &Policy) -> Result<(), AutoError> {
        let bad = |parameter, reason| AutoError::Value { parameter, reason };
        let called = &self.policy;
        if let Some(cca) = self.cca
            && !matches!(policy.method, Method::Fixed(_))
        {
            let reason = format!(
                "{cca:?} with policy {called:?}, which selects; allowed: with policy fixed only"
            );
            return Err(bad("cca", reason));
        }
        if !self.prefer.is_empty() && !policy.has_ties() {
            let reason = format!(
                "{:?} with policy {called:?}, which never returns equivalent CCAs; allowed: with rules and tables that do",
                self.prefer.join("/")
            );
            return Err(bad("prefer", reason));
        }
        if !policy.supports(self.requirement) {
            let answered = Requirement::NAMED
                .into_iter()
                .filter(|each| policy.supports(*each));
            let answered: Vec<_> = answered.map(|each| each.to_string()).collect();
            let reason = format!(
                "\"{}\" with policy {called:?}, which says nothing about it; allowed: {}",
                self.requirement,
                answered.join(", ")
            );
            return Err(bad("requirement", reason));
        }
        Ok(())
    }
}

/// Checks the name of a file or built-in policy. Commas and plus signs separate CCAs in line-ups, so a name contains
/// neither.
fn file(name: &str) -> Result<String, String> {
    if name.contains([',', '+']) {
        return Err(format!(
            "{name:?} has a comma or a plus sign; allowed: names of files without"
        ));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::builtin;

    fn words(text: &str) -> Result<Auto, String> {
        let each = text.split(' ').filter_map(|word| word.split_once('='));
        let settings = each.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Auto::new(&settings.collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn words_that_a_policy_cannot_use_are_rejected() {
        let checked = |text: &str| {
            let auto = words(text).expect("words");
            let policy = builtin(&auto.policy).expect("built in");
            auto.check(&policy).map_err(|error| error.to_string())
        };
        for policy in ["default", "fixed", "bpftune", "thesis-inflight"] {
            assert_eq!(
                checked(&format!("policy={policy} prefer=bbr/cubic")),
                Err(format!(
                    "auto: prefer: \"bbr/cubic\" with policy {policy:?}, which never returns equivalent CCAs; \
                     allowed: with rules and tables that do"
                ))
            );
        }
        for policy in ["rules", "thesis-establishment"] {
            assert_eq!(
                checked(&format!("policy={policy} prefer=bbr/cubic")),
                Ok(())
            );
            assert!(checked(&format!("policy={policy} cca=bbr")).is_err());
        }
        assert_eq!(checked("policy=fixed cca=bbr"), Ok(()));
    }

    #[test]
    fn a_policy_that_says_nothing_about_the_requirement_is_rejected() {
        let text = r#"
name = "mine"
description = "For goodput and balanced."
[[method.rules.rules]]
requirements = ["goodput", "balanced"]
choose = ["bbr"]
because = "test"
"#;
        let policy = Policy::from_toml(text, "mine.toml").expect("a policy");
        let checked = |requirement: &str| {
            let auto = words(&format!("policy=mine.toml requirement={requirement}"));
            let checked = auto.expect("words").check(&policy);
            checked.map_err(|error| error.to_string())
        };
        assert_eq!(checked("goodput"), Ok(()));
        assert_eq!(checked("1/1/2"), Ok(()));
        assert_eq!(
            checked("delay"),
            Err(
                "auto: requirement: \"delay\" with policy \"mine.toml\", which says nothing about it; \
                 allowed: goodput, balanced"
                    .to_owned()
            )
        );
        // Weights are treated as the nearest named requirement.
        assert!(checked("1/9/1").is_err());
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(words("flow_size=2MB").unwrap().flow_size, Some(2_000_000));
        let error = words("flow_size=0").unwrap_err();
        assert!(
            error.contains("300kB") && error.contains("units: B, kB"),
            "{error}"
        );
        let (_, meaning, _) = Auto::PARAMETERS[2];
        assert!(meaning.starts_with("size") && meaning.contains("20MB"));
    }

    #[test]
    fn files_have_no_signs_that_stand_between_congestion_controls() {
        assert_eq!(
            words("memory=a+b.toml"),
            Err(
                "auto: memory: \"a+b.toml\" has a comma or a plus sign; allowed: names of files without"
                    .to_owned()
            )
        );
        assert!(words("policy=a,b.toml").is_err());
    }
}
