//! Congestion controls by name.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::nearest::nearest;

/// The congestion controls of the Linux kernel, by its names.
pub const KERNEL_CCAS: [&str; 17] = [
    "bbr",
    "bic",
    "cdg",
    "cubic",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "reno",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
];

/// Those that celltcp itself has.
pub const NATIVE_CCAS: [&str; 3] = ["reno", "cubic", "bbr"];

/// Names in the literature, and the kernel's.
const ALIASES: [(&str, &str); 8] = [
    ("newreno", "reno"),
    ("new-reno", "reno"),
    ("bbr1", "bbr"),
    ("bbrv1", "bbr"),
    ("westwood+", "westwood"),
    ("hstcp", "highspeed"),
    ("h-tcp", "htcp"),
    ("stcp", "scalable"),
];

/// A name that no congestion control has, or none that is here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{name:?} is not {wanted}{}; allowed: {}", suggestion.map(|s| format!("; did you mean {s:?}?")).unwrap_or_default(), allowed.join(", "))]
pub struct UnknownCca {
    name: String,
    wanted: &'static str,
    suggestion: Option<&'static str>,
    allowed: &'static [&'static str],
}

/// The kernel's name of the congestion control that the kernel or the literature calls `name`, in any
/// case of letters.
///
/// # Errors
/// If there is none of that name.
pub fn canonical_cca(name: &str) -> Result<&'static str, UnknownCca> {
    let lower = name.to_ascii_lowercase();
    let alias = ALIASES.iter().find(|(alias, _)| *alias == lower);
    let wanted = alias.map_or(lower.as_str(), |(_, canonical)| canonical);
    let known = KERNEL_CCAS.iter().find(|known| **known == wanted);
    known.copied().ok_or_else(|| UnknownCca {
        name: name.to_owned(),
        wanted: "a congestion control",
        suggestion: nearest(
            &lower,
            KERNEL_CCAS
                .into_iter()
                .chain(ALIASES.map(|(alias, _)| alias)),
        ),
        allowed: &KERNEL_CCAS,
    })
}

/// As [`canonical_cca`], for one that celltcp itself has.
///
/// # Errors
/// If there is none of that name, or if only the kernel has it.
pub fn native_cca(name: &str) -> Result<&'static str, UnknownCca> {
    let canonical = canonical_cca(name).map_err(|unknown| UnknownCca {
        suggestion: unknown.suggestion.filter(|s| native_cca(s).is_ok()),
        allowed: &NATIVE_CCAS,
        ..unknown
    })?;
    NATIVE_CCAS
        .contains(&canonical)
        .then_some(canonical)
        .ok_or_else(|| UnknownCca {
            name: name.to_owned(),
            wanted: "a congestion control of the native engine",
            suggestion: None,
            allowed: &NATIVE_CCAS,
        })
}

/// A congestion control and what of its parameters differs from the default.
#[derive(Clone, PartialEq, Debug)]
pub struct CcaChoice {
    /// The kernel's name.
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
    /// The congestion control called `name`, with its parameters at their defaults.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn named(name: &str) -> Result<Self, UnknownCca> {
        canonical_cca(name).map(|name| Self {
            name,
            parameters: BTreeMap::new(),
        })
    }
}

/// The value of a parameter.
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

/// What a parameter may be.
#[derive(Clone, Copy)]
enum Allowed {
    Switch,
    Between(f64, f64),
    Words(&'static [&'static str]),
    Time,
}

impl Allowed {
    fn accepts(self, value: &Parameter) -> bool {
        match (self, value) {
            (Self::Switch, Parameter::Switch(_)) => true,
            (Self::Between(low, high), Parameter::Number(n)) => (low..=high).contains(n),
            (Self::Words(words), Parameter::Text(word)) => words.contains(&word.as_str()),
            (Self::Time, Parameter::Text(time)) => time.parse::<units::Duration>().is_ok(),
            _ => false,
        }
    }
}

impl core::fmt::Display for Allowed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Switch => write!(f, "true, false"),
            Self::Between(low, high) => write!(f, "numbers from {low} to {high}"),
            Self::Words(words) => write!(f, "{}", words.join(", ")),
            Self::Time => write!(f, "times such as \"2ms\""),
        }
    }
}

/// The parameters of congestion controls, under the names that the kernel's modules give them.
const PARAMETERS: [(&str, &str, Allowed); 8] = [
    ("cubic", "c", Allowed::Between(0.001, 100.0)),
    ("cubic", "beta", Allowed::Between(0.01, 0.99)),
    ("cubic", "fast_convergence", Allowed::Switch),
    ("cubic", "tcp_friendliness", Allowed::Switch),
    ("cubic", "hystart", Allowed::Switch),
    (
        "cubic",
        "hystart_detect",
        Allowed::Words(&["train", "delay", "both"]),
    ),
    ("cubic", "hystart_low_window", Allowed::Between(0.0, 1e6)),
    ("cubic", "hystart_ack_delta", Allowed::Time),
];

/// Checks one parameter; `"on"` and `"off"` become a switch.
fn checked(cca: &str, name: &str, value: Parameter) -> Result<Parameter, String> {
    let of_cca = || PARAMETERS.iter().filter(|(owner, ..)| *owner == cca);
    let Some((.., allowed)) = of_cca().find(|(_, known, _)| *known == name) else {
        let names: Vec<&str> = of_cca().map(|(_, known, _)| *known).collect();
        return Err(if names.is_empty() {
            format!("{cca} has no parameters, but {name:?} is given")
        } else {
            let meant = nearest(name, names.iter().copied())
                .map_or(String::new(), |near| format!("; did you mean {near:?}?"));
            format!(
                "{cca} has no parameter {name:?}{meant}; allowed: {}",
                names.join(", ")
            )
        });
    };
    let value = match (allowed, value) {
        (Allowed::Switch, Parameter::Text(word)) if word == "on" => Parameter::Switch(true),
        (Allowed::Switch, Parameter::Text(word)) if word == "off" => Parameter::Switch(false),
        (_, value) => value,
    };
    if allowed.accepts(&value) {
        Ok(value)
    } else {
        let shown = serde_json::to_string(&value).unwrap_or_default();
        Err(format!(
            "{shown} is not a value of {name}; allowed: {allowed}"
        ))
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
                CcaChoice::named(name).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CcaChoice, A::Error> {
                #[derive(Deserialize)]
                struct Table {
                    name: String,
                    #[serde(flatten)]
                    parameters: BTreeMap<String, Parameter>,
                }
                let table = Table::deserialize(MapAccessDeserializer::new(map))?;
                let mut choice = CcaChoice::named(&table.name).map_err(A::Error::custom)?;
                for (name, value) in table.parameters {
                    let value = checked(choice.name, &name, value).map_err(A::Error::custom)?;
                    choice.parameters.insert(name, value);
                }
                Ok(choice)
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
            { "type": "string", "examples": KERNEL_CCAS },
            {
                "type": "object",
                "properties": { "name": { "type": "string", "examples": KERNEL_CCAS } },
                "required": ["name"],
                "additionalProperties": { "type": ["boolean", "number", "string"] }
            }
        ] })
    }
}
