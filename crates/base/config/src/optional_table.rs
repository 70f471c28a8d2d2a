//! Tables that can be turned off: a table of a configuration, or the word `"off"`.

use core::fmt;
use core::marker::PhantomData;
use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};

const OFF: &str = "off";

/// Attribute of serde and schemars for a field of type `Option<T>` whose default is a table: the word `"off"` stands
/// for `None`. The field has the attributes `#[serde(with = "OptionalTable::<T>")]` and `#[schemars(with = "OptionalTable<T>")]`.
pub struct OptionalTable<T>(PhantomData<T>);

impl<T: Serialize> OptionalTable<T> {
    /// Writes the table, or the word.
    pub fn serialize<S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(table) => table.serialize(serializer),
            None => serializer.serialize_str(OFF),
        }
    }
}

impl<'de, T: serde::Deserialize<'de>> OptionalTable<T> {
    /// Reads the table, or the word.
    pub fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        deserializer.deserialize_any(Self(PhantomData))
    }
}

impl<'de, T: serde::Deserialize<'de>> Visitor<'de> for OptionalTable<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a table or {OFF:?}")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Option<T>, E> {
        match word {
            OFF => Ok(None),
            other => Err(E::invalid_value(Unexpected::Str(other), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }
}

impl<T: JsonSchema> JsonSchema for OptionalTable<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}OrOff", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [generator.subschema_for::<T>(), { "const": OFF }] })
    }
}
