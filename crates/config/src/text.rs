//! Quantities: values written as texts with a unit, for serde and for the JSON schema alike.

use core::fmt;
use core::marker::PhantomData;
use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use units::{Bytes, Duration, Rate};

/// A value that scenario files write as a text: `"68ms"`, `"20Mbit/s"`, `"1bdp"`.
pub trait Quantity: Sized {
    /// Name in the JSON schema.
    const NAME: &'static str;
    /// Regular expression of the JSON schema (ECMA 262) that every accepted text matches.
    const PATTERN: &'static str;

    /// Reads `text`.
    ///
    /// # Errors
    /// What is allowed, if `text` is not such a quantity.
    fn read(text: &str) -> Result<Self, String>;

    /// The text that [`Quantity::read`] reads back to the same value.
    fn write(&self) -> String;
}

/// A quantity that distributions are over.
pub trait Measure: Quantity + Copy {
    /// The number of base units: nanoseconds or bytes.
    fn to_base(self) -> f64;

    /// The quantity nearest to a number of base units; zero for negative numbers.
    fn from_base(base: f64) -> Self;
}

impl Measure for Duration {
    fn to_base(self) -> f64 {
        self.as_nanos() as f64
    }

    fn from_base(base: f64) -> Self {
        Self::from_nanos(libm::round(base) as u64)
    }
}

impl Measure for Bytes {
    fn to_base(self) -> f64 {
        self.get() as f64
    }

    fn from_base(base: f64) -> Self {
        Self::new(libm::round(base) as u64)
    }
}

impl Quantity for Duration {
    const NAME: &'static str = "Duration";
    const PATTERN: &'static str = r"^\s*[0-9.+eE-]+\s*(ns|us|µs|ms|s|min|h)\s*$";

    fn read(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|e: units::ParseQuantityError| e.to_string())
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl Quantity for Rate {
    const NAME: &'static str = "Rate";
    const PATTERN: &'static str = r"^\s*[0-9.+eE-]+\s*[kMG]?(bit/s|bps)\s*$";

    fn read(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|e: units::ParseQuantityError| e.to_string())
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl Quantity for Bytes {
    const NAME: &'static str = "Bytes";
    const PATTERN: &'static str = r"^\s*[0-9.+eE-]+\s*([kMG]|[KMG]i)?B\s*$";

    fn read(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|e: units::ParseQuantityError| e.to_string())
    }

    /// In powers of 1024 where powers of 1000 would not come out even.
    fn write(&self) -> String {
        match self.get() {
            n if n % 1000 == 0 || n % 1024 != 0 => self.to_string(),
            n if n % 1_048_576 == 0 => format!("{}MiB", n / 1_048_576),
            n => format!("{}KiB", n / 1024),
        }
    }
}

/// How serde and schemars treat a field of type `T` or `Option<T>`: `#[serde(with = "Text::<T>")]`.
pub struct Text<T>(PhantomData<T>);

impl<Q: Quantity> Text<Q> {
    /// Writes the text of the quantity.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(value: &Q, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&value.write())
    }

    /// Reads the quantity from its text.
    ///
    /// # Errors
    /// If there is no such text.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Q, D::Error> {
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl<Q: Quantity> Text<Option<Q>> {
    /// Writes the text of the quantity, or nothing.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(value: &Option<Q>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.serialize_some(&value.write()),
            None => serializer.serialize_none(),
        }
    }

    /// Reads the quantity from its text, or nothing.
    ///
    /// # Errors
    /// If there is something else.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Q>, D::Error> {
        deserializer.deserialize_option(OptionReader(PhantomData))
    }
}

impl<Q: Quantity> JsonSchema for Text<Q> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Q::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": Q::PATTERN })
    }
}

impl<Q: Quantity> JsonSchema for Text<Option<Q>> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Optional{}", Q::NAME).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "null"], "pattern": Q::PATTERN })
    }
}

struct Reader<Q>(PhantomData<Q>);

impl<Q: Quantity> Visitor<'_> for Reader<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text with a unit")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Q, E> {
        Q::read(text).map_err(E::custom)
    }

    /// A bare number has no unit: the reader's complaint says what is wanted.
    fn visit_i64<E: Error>(self, number: i64) -> Result<Q, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Q, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Q, E> {
        self.visit_str(&number.to_string())
    }
}

struct OptionReader<Q>(PhantomData<Q>);

impl<'de, Q: Quantity> Visitor<'de> for OptionReader<Q> {
    type Value = Option<Q>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text with a unit")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Text::<Q>::deserialize(deserializer).map(Some)
    }
}
