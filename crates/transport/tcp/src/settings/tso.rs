//! TSO: the size of bursts to the device, as in scenarios.

use config::{Scalar, read_scalar};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Number of segments handed to the device at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tso {
    /// Segments that the pacing rate sends in about a millisecond.
    Linux,
    /// Fixed number.
    Segments(u32),
}

impl Tso {
    /// Returns the fixed number; `None` for bursts sized by the pacing rate.
    pub fn segments(self) -> Option<u32> {
        match self {
            Self::Linux => None,
            Self::Segments(segments) => Some(segments),
        }
    }
}

impl Serialize for Tso {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Linux => serializer.serialize_str("linux"),
            Self::Segments(segments) => serializer.serialize_u32(*segments),
        }
    }
}

impl<'de> Deserialize<'de> for Tso {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "\"linux\" or a number of segments from 1 to 44";
        read_scalar(deserializer, expected, |scalar| match scalar {
            Scalar::Word("linux") => Some(Self::Linux),
            Scalar::Number(segments @ 1..=44) => Some(Self::Segments(segments as u32)),
            _ => None,
        })
    }
}

impl JsonSchema for Tso {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Tso".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "const": "linux" },
            { "type": "integer", "minimum": 1, "maximum": 44 }
        ] })
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer, U64Deserializer};

    use super::*;

    #[test]
    fn a_burst_is_that_of_linux_or_a_number_of_segments() {
        let number = |segments: u64| {
            let number: U64Deserializer<Error> = segments.into_deserializer();
            Tso::deserialize(number).map_err(|error| error.to_string())
        };
        let word: StrDeserializer<Error> = "linux".into_deserializer();
        assert_eq!(Tso::deserialize(word), Ok(Tso::Linux));
        assert_eq!(number(1), Ok(Tso::Segments(1)));
        assert_eq!(number(44), Ok(Tso::Segments(44)));
        for rejected in [0, 45] {
            let error = number(rejected).expect_err("more than a burst can hold, or nothing");
            assert!(
                error.contains("a number of segments from 1 to 44"),
                "{error}"
            );
        }
    }
}
