//! Parameter: a value of any type in a document, such as that of a sysctl.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Value of a parameter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Parameter {
    /// On or off.
    Switch(bool),
    /// A number.
    Number(f64),
    /// A word, or a quantity with its unit.
    Text(String),
}

impl core::fmt::Display for Parameter {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Switch(true) => f.write_str("on"),
            Self::Switch(false) => f.write_str("off"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl From<&str> for Parameter {
    fn from(text: &str) -> Self {
        match (text, text.parse::<f64>()) {
            ("on", _) => Self::Switch(true),
            ("off", _) => Self::Switch(false),
            (_, Ok(number)) if number.is_finite() => Self::Number(number),
            _ => Self::Text(text.to_owned()),
        }
    }
}
