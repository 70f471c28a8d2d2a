//! Auto: the parameters of `auto`, which name a policy and what it selects for.

mod files;

use std::collections::BTreeMap;

use crate::file_text::canonical_cca;
use crate::policy::{Method, Policy};
use crate::requirement::Requirement;

pub use files::Files;

/// A congestion control that a policy selects and switches.
#[derive(Clone, PartialEq, Debug)]
pub struct Auto {
    /// Name of a built-in policy, or a policy file.
    pub policy: String,
    /// Requirement to optimise.
    pub requirement: Requirement,
    /// Size of the flow, bytes, where the application knows it.
    pub flow_size: Option<u64>,
    /// Whether the selector asks the radio for hints.
    pub hints: bool,
    /// CCAs that the operator prefers among equally good ones, the most preferred first.
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
    /// The message names the parameter.
    pub fn new(settings: &BTreeMap<String, String>) -> Result<Self, String> {
        let mut auto = Self::default();
        for (name, value) in settings {
            auto.set(name, value)?;
        }
        Ok(auto)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let value_error = |reason: String| format!("auto: {name}: {reason}");
        match name {
            "policy" => self.policy = file_name(value).map_err(value_error)?,
            "requirement" => self.requirement = value.parse().map_err(value_error)?,
            "flow_size" => {
                let size = value.parse::<units::Bytes>();
                self.flow_size = Some(size.map_err(value_error)?.get());
            }
            "hints" => {
                self.hints = match value {
                    "on" => true,
                    "off" => false,
                    other => {
                        let reason = format!("{other:?} is not allowed; allowed: on, off");
                        return Err(value_error(reason));
                    }
                }
            }
            "prefer" => {
                let names = value.split('/').map(|name| canonical_cca(name.trim()));
                self.prefer = names.collect::<Result<_, _>>().map_err(value_error)?;
            }
            "cca" => self.cca = Some(canonical_cca(value).map_err(value_error)?),
            "memory" => self.memory = Some(file_name(value).map_err(value_error)?),
            _ => {
                let allowed = Self::PARAMETERS.map(|(name, ..)| name).join(", ");
                return Err(format!(
                    "auto has no parameter {name:?}; allowed: {allowed}"
                ));
            }
        }
        Ok(())
    }

    /// Checks that the policy can use these parameters.
    fn check(&self, policy: &Policy) -> Result<(), String> {
        let name = &self.policy;
        if let Some(cca) = self.cca
            && !matches!(policy.method, Method::Fixed(_))
        {
            return Err(format!(
                "auto: cca: {cca:?} with policy {name:?}, which selects; allowed: with policy fixed only"
            ));
        }
        if !self.prefer.is_empty() && !policy.has_ties() {
            return Err(format!(
                "auto: prefer: {:?} with policy {name:?}, which never returns equivalent CCAs; allowed: with rules and \
                 tables that do",
                self.prefer.join("/")
            ));
        }
        if !policy.supports(self.requirement) {
            let supported = Requirement::NAMED
                .into_iter()
                .filter(|each| policy.supports(*each));
            return Err(format!(
                "auto: requirement: \"{}\" with policy {name:?}, which says nothing about it; allowed: {}",
                self.requirement,
                supported
                    .map(Requirement::kind)
                    .collect::<Vec<_>>()
                    .join(", ")
            ));
        }
        Ok(())
    }
}

/// Checks the name of a file or built-in policy. Commas and plus signs separate CCAs in line-ups, so a name contains
/// neither.
fn file_name(name: &str) -> Result<String, String> {
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
