//! CCA choice: a CCA by name and parameters, or `auto`.

use core::str::FromStr;
use std::collections::BTreeMap;

use cca::{Settings, registry};
use config::parse_spec;
use schemars::JsonSchema;
use selection::Auto;
use serde::de::{Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// CCA with the parameters that differ from the default, or `auto` with its parameters. The text is as on the command
/// line: `cubic:beta=0.8,hystart=off`, `auto:requirement=delay`.
#[derive(Clone, PartialEq, Debug)]
pub struct CcaChoice {
    /// The kernel's name, or `auto`.
    pub name: &'static str,
    /// Parameters by name.
    pub parameters: BTreeMap<String, Parameter>,
}

impl Default for CcaChoice {
    fn default() -> Self {
        Self {
            name: "cubic",
            parameters: BTreeMap::new(),
        }
    }
}

impl CcaChoice {
    /// Creates the choice of the CCA called `name`, with these parameters.
    fn new(
        name: &str,
        parameters: impl IntoIterator<Item = (String, Parameter)>,
    ) -> Result<Self, String> {
        if name.eq_ignore_ascii_case(Auto::NAME) {
            let choice = Self {
                name: Auto::NAME,
                parameters: parameters.into_iter().collect(),
            };
            return match Auto::new(&choice.settings()) {
                Ok(_) => Ok(choice),
                Err(error) => Err(error.to_string()),
            };
        }
        let cca = registry::called(name, &[Auto::NAME])?;
        let checked = parameters.into_iter().map(|(parameter, value)| {
            let text = cca
                .canonical(&parameter, &value.to_string())
                .map_err(|error| error.to_string())?;
            Ok((parameter, Parameter::from(text.as_str())))
        });
        let choice = Self {
            name: cca.name,
            parameters: checked.collect::<Result<_, String>>()?,
        };
        let checked = cca.check(&choice.settings());
        checked.map_err(|error| error.to_string())?;
        Ok(choice)
    }

    /// Returns the CCA of that name with its default parameters.
    pub fn plain(name: &'static str) -> Self {
        Self {
            name,
            parameters: BTreeMap::new(),
        }
    }

    /// Returns the parameters of `auto`; `None` if the CCA is a fixed one.
    pub fn auto(&self) -> Option<Auto> {
        (self.name == Auto::NAME).then(|| Auto::new(&self.settings()).unwrap_or_default())
    }

    /// Returns the parameters as CCAs read them.
    pub fn settings(&self) -> Settings {
        let parameters = self.parameters.iter();
        parameters
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect()
    }
}

impl core::fmt::Display for CcaChoice {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name)?;
        for (number, (name, value)) in self.parameters.iter().enumerate() {
            let sign = if number == 0 { ':' } else { ',' };
            write!(f, "{sign}{name}={value}")?;
        }
        Ok(())
    }
}

impl FromStr for CcaChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, settings) = parse_spec(text)?;
        let parameters = settings
            .into_iter()
            .map(|(parameter, value)| (parameter.to_owned(), Parameter::from(value)));
        Self::new(name, parameters)
    }
}

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

impl Serialize for CcaChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        if self.parameters.is_empty() {
            return serializer.serialize_str(self.name);
        }
        let mut table = serializer.serialize_map(None)?;
        table.serialize_entry("name", self.name)?;
        for (name, value) in &self.parameters {
            table.serialize_entry(name, value)?;
        }
        table.end()
    }
}

impl<'de> Deserialize<'de> for CcaChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Alternatives;
        impl<'de> Visitor<'de> for Alternatives {
            type Value = CcaChoice;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(
                    f,
                    "the name of a congestion control or a table of name and parameters"
                )
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<CcaChoice, E> {
                name.parse().map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CcaChoice, A::Error> {
                #[derive(Deserialize)]
                struct Table {
                    name: String,
                    #[serde(flatten)]
                    parameters: BTreeMap<String, Parameter>,
                }
                let table = Table::deserialize(MapAccessDeserializer::new(map))?;
                CcaChoice::new(&table.name, table.parameters).map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_any(Alternatives)
    }
}

impl JsonSchema for CcaChoice {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CcaChoice".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [
            { "type": "string", "examples": registry::sorted_names() },
            {
                "type": "object",
                "properties": { "name": { "type": "string", "examples": registry::sorted_names() } },
                "required": ["name"],
                "additionalProperties": { "type": ["boolean", "number", "string"] }
            }
        ] })
    }
}
