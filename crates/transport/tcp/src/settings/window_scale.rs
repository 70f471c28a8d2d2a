//! Window scale option (RFC 7323), as in scenarios.

use config::{Scalar, read_scalar};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::Bytes;

/// Window scale option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowScale {
    /// No option.
    Off,
    /// Shift that the largest receive buffer needs.
    Automatic,
    /// Fixed shift.
    Fixed(u8),
}

impl WindowScale {
    /// Returns the shift offered with a receive buffer of at most `buffer`; `None` to leave the option out.
    pub fn shift(self, buffer: Bytes) -> Option<u8> {
        match self {
            Self::Off => None,
            Self::Fixed(shift) => Some(shift),
            Self::Automatic => (0..14).find(|s| buffer.get() >> s <= 65_535).or(Some(14)),
        }
    }
}

impl Serialize for WindowScale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::Automatic => serializer.serialize_bool(true),
            Self::Fixed(shift) => serializer.serialize_u8(*shift),
        }
    }
}

impl<'de> Deserialize<'de> for WindowScale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "true, false or a shift from 0 to 14";
        read_scalar(deserializer, expected, |scalar| match scalar {
            Scalar::Switch(true) => Some(Self::Automatic),
            Scalar::Switch(false) => Some(Self::Off),
            Scalar::Number(shift @ 0..=14) => Some(Self::Fixed(shift as u8)),
            _ => None,
        })
    }
}

impl JsonSchema for WindowScale {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WindowScale".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "boolean" },
            { "type": "integer", "minimum": 0, "maximum": 14 }
        ] })
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::{BoolDeserializer, Error, U64Deserializer};

    use super::*;

    /// RFC 7323 §2.3: the shift is at most 14.
    #[test]
    fn a_scale_is_a_switch_or_a_shift_up_to_14() {
        let shift = |shift: u64| {
            let number: U64Deserializer<Error> = shift.into_deserializer();
            WindowScale::deserialize(number).map_err(|error| error.to_string())
        };
        assert_eq!(shift(0), Ok(WindowScale::Fixed(0)));
        assert_eq!(shift(14), Ok(WindowScale::Fixed(14)));
        for rejected in [15, 256] {
            let error = shift(rejected).expect_err("a shift that RFC 7323 forbids");
            assert!(error.contains("a shift from 0 to 14"), "{error}");
        }
        for (on, expected) in [(true, WindowScale::Automatic), (false, WindowScale::Off)] {
            let switch: BoolDeserializer<Error> = on.into_deserializer();
            assert_eq!(WindowScale::deserialize(switch), Ok(expected));
        }
    }
}
