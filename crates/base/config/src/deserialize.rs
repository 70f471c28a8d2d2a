//! Serde deserializer over the tree of a document; its errors have field and line.

use core::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::document::LocatedError;
use crate::{FieldError, Location, Node, Value, suggestion};

/// End of the message about a value that must be a table.
const NO_TABLE: &str = " is not a table";
/// Start of the message about an unknown field.
pub const UNKNOWN_FIELD: &str = "there is no such field";

/// Error of serde. Each list and table around the value adds its field on the way up the tree.
#[derive(Debug)]
pub struct ReadError {
    /// Path to the field, from the innermost outwards.
    fields: Vec<String>,
    location: Option<Location>,
    message: String,
}

impl ReadError {
    fn in_field(mut self, field: &str, location: Location) -> Self {
        self.fields.push(field.to_owned());
        self.location.get_or_insert(location);
        self
    }
}

impl From<ReadError> for LocatedError {
    fn from(error: ReadError) -> Self {
        let outside_in: Vec<String> = error.fields.into_iter().rev().collect();
        Self {
            location: error.location.unwrap_or(Location::Whole),
            error: FieldError {
                field: outside_in.join("."),
                message: error.message,
            },
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self {
            fields: Vec::new(),
            location: None,
            message: message.to_string(),
        }
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format!(
            "{} is not {}",
            describe_value(unexpected),
            describe_expected(expected)
        ))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let hint = suggestion(variant, expected.iter().copied());
        Self::custom(format!(
            "{variant:?} is not a choice here{hint}; allowed: {}",
            expected.join(", ")
        ))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let hint = suggestion(field, expected.iter().copied());
        let allowed = if expected.is_empty() {
            "none".to_owned()
        } else {
            expected.join(", ")
        };
        Self::custom(format!("{UNKNOWN_FIELD}{hint}; allowed: {allowed}"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::custom(format!("field {field} is missing"))
    }
}

/// Returns the value that was read, in the terms of TOML.
fn describe_value(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Bool(b) => b.to_string(),
        Unexpected::Unsigned(n) => n.to_string(),
        Unexpected::Signed(n) => n.to_string(),
        Unexpected::Float(x) => x.to_string(),
        Unexpected::Str(text) => format!("{text:?}"),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// Returns the expected type, in the terms of TOML instead of Rust.
fn describe_expected(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "a text".to_owned(),
        "a sequence" => "a list".to_owned(),
        rust if rust.starts_with("struct ") => "a table".to_owned(),
        other => other.to_owned(),
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::Bool(b) => visitor.visit_bool(*b),
            Value::Integer(n) => match u64::try_from(*n) {
                Ok(n) => visitor.visit_u64(n),
                Err(_) => visitor.visit_i64(*n),
            },
            Value::Float(x) => visitor.visit_f64(*x),
            Value::Text(text) => visitor.visit_str(text),
            Value::List(items) => visitor.visit_seq(Items(items.iter().enumerate())),
            Value::Table(fields) => visitor.visit_map(Fields {
                entries: fields.iter(),
                current: None,
            }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        allowed: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_any(visitor).map_err(|error| {
            if allowed.is_empty() || !error.fields.is_empty() || !error.message.ends_with(NO_TABLE)
            {
                return error;
            }
            let message = format!("{}; allowed in it: {}", error.message, allowed.join(", "));
            ReadError { message, ..error }
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::Text(text) => {
                let word: StrDeserializer<'_, ReadError> = text.as_str().into_deserializer();
                visitor.visit_enum(word)
            }
            _ => Err(de::Error::custom(format!(
                "not a word; allowed: {}",
                variants.join(", ")
            ))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

struct Items<'de>(core::iter::Enumerate<core::slice::Iter<'de, Node>>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        self.0
            .next()
            .map(|(index, node)| {
                seed.deserialize(node)
                    .map_err(|error| error.in_field(&index.to_string(), node.location))
            })
            .transpose()
    }
}

struct Fields<'de> {
    entries: core::slice::Iter<'de, (String, Node)>,
    /// Entry whose key was read, but not its value.
    current: Option<&'de (String, Node)>,
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        self.current = self.entries.next();
        self.current
            .map(|(key, node)| {
                let name: StrDeserializer<'de, ReadError> = key.as_str().into_deserializer();
                seed.deserialize(name)
                    .map_err(|error| error.in_field(key, node.location))
            })
            .transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let Some((key, node)) = self.current else {
            return Err(de::Error::custom("a value is asked for before its key"));
        };
        seed.deserialize(node)
            .map_err(|error| error.in_field(key, node.location))
    }
}
