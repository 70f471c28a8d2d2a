//! Quantities: values written as texts with a unit, for serde and for the JSON schema alike.

use core::fmt;
use core::marker::PhantomData;

use crate::{Bytes, Duration, Rate};
use schemars::{Schema, json_schema};
use serde::de::{Deserializer, Error, Visitor};

/// A value that scenario files write as a text: `"68ms"`, `"20Mbit/s"`, `"1bdp"`.
pub trait Quantity: Sized {
    /// Name in the JSON schema.
    const NAME: &'static str;
    /// Regular expression of the JSON schema (ECMA 262) that every accepted text matches.
    const PATTERN: &'static str;

    /// Reads `text`.
    ///
    /// # Errors
    /// Returns the allowed form as a message if `text` is no such quantity.
    fn read(text: &str) -> Result<Self, String>;

    /// The text that [`Quantity::read`] reads back to the same value.
    fn write(&self) -> String;
}

/// A quantity that a distribution can have.
pub trait Measure:
    Quantity + Copy + serde::Serialize + serde::de::DeserializeOwned + schemars::JsonSchema
{
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
    }

    /// Uses powers of 1024 if the number of bytes is a multiple of 1024 and not of 1000.
    fn write(&self) -> String {
        match self.get() {
            n if n % 1000 == 0 || n % 1024 != 0 => self.to_string(),
            n if n % 1_048_576 == 0 => format!("{}MiB", n / 1_048_576),
            n => format!("{}KiB", n / 1024),
        }
    }
}

/// Implements serde's and schemars' traits for a [`Quantity`] in its crate, as the text that it reads and writes.
#[macro_export]
macro_rules! as_text {
    ($($name:ty),+ $(,)?) => {$(
        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&$crate::Quantity::write(self))
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::text::deserialize(deserializer)
            }
        }

        impl $crate::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                <$name as $crate::Quantity>::NAME.into()
            }

            fn json_schema(_: &mut $crate::schemars::SchemaGenerator) -> $crate::schemars::Schema {
                $crate::text::schema::<$name>()
            }
        }
    )+};
}

/// Implements [`Quantity`] for an enum of words and one more variant for a time, and serde's and schemars' traits:
/// `word_or_time!(Timer { "infinity" => Infinity } After, "a timer", "a time such as \"10ms\"")`.
#[macro_export]
macro_rules! word_or_time {
    ($name:ident { $($word:literal => $variant:ident),+ } $time:ident, $what:literal, $example:literal) => {
        impl $crate::Quantity for $name {
            const NAME: &'static str = stringify!($name);
            const PATTERN: &'static str = concat!("^(", $($word, "|",)+ r"\s*[0-9.+eE-]+\s*(ns|us|µs|ms|s|min|h)\s*)$");

            fn read(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    time => time.parse().map(Self::$time).map_err(|_| {
                        let words = [$(concat!("\"", $word, "\"")),+].join(", ");
                        format!("{text:?} is not {}; allowed: {words}, {}", $what, $example)
                    }),
                }
            }

            fn write(&self) -> String {
                match self {
                    $(Self::$variant => $word.to_owned(),)+
                    Self::$time(time) => time.to_string(),
                }
            }
        }

        $crate::as_text!($name);
    };
}

as_text!(Duration, Rate, Bytes);

/// Deserializes a quantity from its text. Binary formats are not self-describing, and hold the text as well.
pub fn deserialize<'de, Q: Quantity, D: Deserializer<'de>>(deserializer: D) -> Result<Q, D::Error> {
    if deserializer.is_human_readable() {
        deserializer.deserialize_any(Reader(PhantomData))
    } else {
        deserializer.deserialize_str(Reader(PhantomData))
    }
}

/// Returns the JSON schema of the text of a quantity.
pub fn schema<Q: Quantity>() -> Schema {
    json_schema!({ "type": "string", "pattern": Q::PATTERN })
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

    /// A bare number has no unit; the error of [`Quantity::read`] gives the allowed form.
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
