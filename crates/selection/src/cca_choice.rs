//! CCA choice: the congestion control of a flow, a fixed one or `auto`.

use core::fmt;
use core::str::FromStr;

use cca::{CcaInfo, Settings, registry};
use config::Spec;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{Auto, DEFAULT_CCA};

/// CCA with the parameters that differ from the default, or `auto` with its parameters: `cubic:beta=0.8,hystart=off`,
/// `auto:requirement=delay`. It is valid, and in the form in which it is printed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Spec")]
pub struct CcaChoice(Spec);

impl Default for CcaChoice {
    fn default() -> Self {
        Self::with_defaults(DEFAULT_CCA)
    }
}

impl CcaChoice {
    /// Returns the CCA that the catalogue calls `name`, with its default parameters.
    pub fn with_defaults(name: &str) -> Self {
        Self(Spec::new(name, Settings::new()))
    }

    /// Returns the kernel's name of the CCA, or `auto`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the parameters.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Returns the CCA; `None` for `auto`.
    pub fn fixed_cca(&self) -> Option<&'static CcaInfo> {
        registry::find(self.name()).filter(|_| self.name() != Auto::NAME)
    }

    /// Returns the parameters of `auto`; `None` if the CCA is a fixed one.
    pub fn auto(&self) -> Option<Auto> {
        (self.name() == Auto::NAME).then(|| Auto::new(self.settings()).unwrap_or_default())
    }
}

impl TryFrom<Spec> for CcaChoice {
    type Error = String;

    fn try_from(mut spec: Spec) -> Result<Self, String> {
        if !spec.name.eq_ignore_ascii_case(Auto::NAME) {
            return registry::canonical(&spec, &[Auto::NAME]).map(Self);
        }
        Auto::new(&spec.settings)?;
        spec.name = Auto::NAME.to_owned();
        Ok(Self(spec))
    }
}

impl FromStr for CcaChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().and_then(Spec::try_into)
    }
}

impl fmt::Display for CcaChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl JsonSchema for CcaChoice {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CcaChoice".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let name = json_schema!({ "type": "string", "examples": registry::sorted_names() });
        json_schema!({ "anyOf": [
            name,
            {
                "type": "object",
                "properties": { "name": name },
                "required": ["name"],
                "additionalProperties": { "type": ["boolean", "number", "string"] }
            }
        ] })
    }
}
