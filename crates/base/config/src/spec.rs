//! Spec: a name with settings, such as `cubic:beta=0.8,hystart=off` on the command line.

use core::fmt;
use core::str::FromStr;
use std::collections::{BTreeMap, BTreeSet};

use serde::de::{Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Parameter;

/// Chosen values as text (`"off"`, `"0.8"`, `"2ms"`), by name.
pub type Settings = BTreeMap<String, String>;

/// Name with settings. As text, a colon follows the name, and commas separate settings. In a document it is the name
/// alone or a table of the field `name` and the settings. Only the syntax is checked here, not name and settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// Name of a congestion control or a kind of middlebox.
    pub name: String,
    /// Its settings.
    pub settings: Settings,
    /// Settings that a document quotes although they read as switches or numbers, such as `hints = "on"`. They are
    /// printed with their quotes, so that the digest of the document stays.
    quoted: BTreeSet<String>,
}

impl Spec {
    /// Creates the spec of a name with settings.
    pub fn new(name: impl Into<String>, settings: Settings) -> Self {
        Self {
            name: name.into(),
            settings,
            quoted: BTreeSet::new(),
        }
    }
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, list) = text.split_once(':').unwrap_or((text, ""));
        let mut settings = Settings::new();
        for setting in list
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (key, value) = setting.split_once('=').ok_or_else(|| {
                format!("{text:?}: {setting:?} is not a setting; allowed: parameter=value")
            })?;
            let (key, value) = (key.trim(), value.trim());
            if settings.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(format!(
                    "{text:?}: {key:?} is given more than once; allowed: once"
                ));
            }
        }
        Ok(Self::new(name.trim(), settings))
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (index, (name, value)) in self.settings.iter().enumerate() {
            let separator = if index == 0 { ':' } else { ',' };
            write!(f, "{separator}{name}={value}")?;
        }
        Ok(())
    }
}

impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        if self.settings.is_empty() {
            return serializer.serialize_str(&self.name);
        }
        let mut table = serializer.serialize_map(None)?;
        table.serialize_entry("name", &self.name)?;
        for (name, value) in &self.settings {
            if self.quoted.contains(name) {
                table.serialize_entry(name, value)?;
            } else {
                table.serialize_entry(name, &Parameter::from(value.as_str()))?;
            }
        }
        table.end()
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = Spec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a congestion control or a table of name and parameters")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Spec, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Spec, A::Error> {
                #[derive(Deserialize)]
                struct Table {
                    name: String,
                    #[serde(flatten)]
                    settings: BTreeMap<String, Parameter>,
                }
                let Table { name, settings } = Table::deserialize(MapAccessDeserializer::new(map))?;
                let mut spec = Spec::new(name, Settings::new());
                for (name, value) in settings {
                    let text = value.to_string();
                    if Parameter::from(text.as_str()) != value {
                        spec.quoted.insert(name.clone());
                    }
                    spec.settings.insert(name, text);
                }
                Ok(spec)
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}

#[cfg(test)]
mod tests {
    use super::Spec;

    #[test]
    fn a_name_may_have_settings() {
        let spec: Spec = "cubic : hystart = off, beta=0.8,".parse().expect("a spec");
        assert_eq!(spec.name, "cubic");
        assert_eq!(spec.settings["hystart"], "off");
        assert_eq!(spec.to_string(), "cubic:beta=0.8,hystart=off");
        assert_eq!(
            "bbr".parse().as_ref().map(Spec::to_string),
            Ok("bbr".to_owned())
        );
    }

    #[test]
    fn documents_have_the_name_or_a_table() {
        for (text, json) in [
            ("bbr", r#""bbr""#),
            (
                "cubic:beta=0.8,hystart=off",
                r#"{"name":"cubic","beta":0.8,"hystart":false}"#,
            ),
            (
                "auto:hints=on,policy=7",
                r#"{"name":"auto","hints":"on","policy":"7"}"#,
            ),
        ] {
            let spec: Spec = serde_json::from_str(json).expect("a spec");
            assert_eq!(spec.to_string(), text);
            assert_eq!(serde_json::to_string(&spec).expect("JSON"), json);
        }
    }
}
