//! Backlog limit: how many frames may wait at a sender for the send buffer.

use config::{Scalar, read_scalar};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Maximum number of waiting frames; the oldest are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Backlog {
    /// No frame is dropped.
    #[default]
    All,
    /// This number, one or more.
    Frames(u32),
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
        let expected = "\"all\", \"newest\" or a number of frames from 1 on";
        read_scalar(deserializer, expected, |scalar| match scalar {
            Scalar::Word("all") => Some(Self::All),
            Scalar::Word("newest") => Some(Self::Frames(1)),
            Scalar::Number(0) => None,
            Scalar::Number(frames) => u32::try_from(frames).ok().map(Self::Frames),
            _ => None,
        })
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
