//! The words after `auto`: which policy, for what.

use std::collections::BTreeMap;

use crate::policy::cca_named;
use crate::requirement::Requirement;

/// What is wrong with the words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AutoError {
    /// There is no such parameter.
    #[error("auto has no parameter {parameter:?}; allowed: {allowed}", allowed = Auto::PARAMETERS.map(|p| p.0).join(", "))]
    Unknown {
        /// Its name.
        parameter: String,
    },
    /// A value is not allowed.
    #[error("auto: {parameter}: {reason}")]
    Value {
        /// The parameter.
        parameter: &'static str,
        /// What is wrong, and what is allowed.
        reason: String,
    },
}

/// A congestion control that a policy selects and changes.
#[derive(Clone, PartialEq, Debug)]
pub struct Auto {
    /// Built-in policy, or file of one.
    pub policy: String,
    /// What is to be as large as possible.
    pub requirement: Requirement,
    /// Size of the flow, bytes, where the application knows it.
    pub flow_size: Option<u64>,
    /// Whether the radio is asked.
    pub hints: bool,
    /// Whom the operator prefers among equals, the most preferred first.
    pub prefer: Vec<&'static str>,
    /// What `fixed` is fixed to.
    pub cca: Option<&'static str>,
    /// File of what is known of destinations.
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
    /// The word that stands for a selected congestion control.
    pub const NAME: &str = "auto";
    /// The policy without other words.
    pub const DEFAULT_POLICY: &str = "default";
    /// Parameters, and what they mean.
    pub const PARAMETERS: [(&str, &str); 7] = [
        (
            "policy",
            "built-in policy, or file of one; default \"default\"",
        ),
        (
            "requirement",
            "goodput, balanced, delay, or weights of use/delay/losses such as 1/5/1; default balanced",
        ),
        (
            "flow_size",
            "bytes that the application will send, if it knows; default unknown",
        ),
        (
            "hints",
            "whether the radio is asked: on or off; default off",
        ),
        (
            "prefer",
            "whom the operator prefers among equals, such as bbr/cubic; default nobody",
        ),
        ("cca", "what the policy fixed is fixed to; default cubic"),
        (
            "memory",
            "file of what is known of destinations; default nothing",
        ),
    ];

    /// What these words mean.
    ///
    /// # Errors
    /// [`AutoError`] names the parameter.
    pub fn new(settings: &BTreeMap<String, String>) -> Result<Self, AutoError> {
        let mut auto = Self::default();
        for (name, value) in settings {
            let bad = |parameter, reason| AutoError::Value { parameter, reason };
            match name.as_str() {
                "policy" => auto.policy.clone_from(value),
                "requirement" => {
                    auto.requirement = value.parse().map_err(|e| bad("requirement", e))?;
                }
                "flow_size" => {
                    let size: units::Bytes = value.parse().map_err(|e| {
                        bad("flow_size", format!("{e}; allowed: sizes such as 20MB"))
                    })?;
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
                        .map(|one| cca_named(one.trim()))
                        .collect::<Result<_, _>>()
                        .map_err(|e| bad("prefer", e))?;
                }
                "cca" => auto.cca = Some(cca_named(value).map_err(|e| bad("cca", e))?),
                "memory" => auto.memory = Some(value.clone()),
                _ => {
                    return Err(AutoError::Unknown {
                        parameter: name.clone(),
                    });
                }
            }
        }
        Ok(auto)
    }
}
