//! Backlog: the frames that wait at a sender while the connection takes no more.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Frames that wait at most; older ones are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Backlog {
    /// No frame is dropped.
    #[default]
    All,
    /// This number, one or more.
    Frames(u32),
}

impl Backlog {
    /// Returns the number of frames; `None` without a limit.
    pub fn limit(self) -> Option<usize> {
        match self {
            Self::All => None,
            Self::Frames(frames) => Some(frames as usize),
        }
    }
}

impl Serialize for Backlog {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All => serializer.serialize_str("all"),
            Self::Frames(frames) => serializer.serialize_u32(*frames),
        }
    }
}

impl<'de> Deserialize<'de> for Backlog {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Alternatives;
        impl Visitor<'_> for Alternatives {
            type Value = Backlog;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "\"all\", \"newest\" or a number of frames from 1 on")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Backlog, E> {
                match word {
                    "all" => Ok(Backlog::All),
                    "newest" => Ok(Backlog::Frames(1)),
                    other => Err(E::invalid_value(Unexpected::Str(other), &self)),
                }
            }

            fn visit_u64<E: Error>(self, frames: u64) -> Result<Backlog, E> {
                match u32::try_from(frames) {
                    Ok(frames) if frames > 0 => Ok(Backlog::Frames(frames)),
                    _ => Err(E::invalid_value(Unexpected::Unsigned(frames), &self)),
                }
            }

            fn visit_i64<E: Error>(self, frames: i64) -> Result<Backlog, E> {
                match u64::try_from(frames) {
                    Ok(frames) => self.visit_u64(frames),
                    Err(_) => Err(E::invalid_value(Unexpected::Signed(frames), &self)),
                }
            }
        }
        deserializer.deserialize_any(Alternatives)
    }
}

impl JsonSchema for Backlog {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Backlog".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [{ "enum": ["all", "newest"] }, { "type": "integer", "minimum": 1 }],
        })
    }
}
