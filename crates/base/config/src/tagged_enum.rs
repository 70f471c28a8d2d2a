//! Tagged enums, written as a word (`queue = "codel"`) or as a table that begins with its kind
//! (`queue = { kind = "codel", target = "5ms" }`).
//!
//! Serde's internally tagged enums would work, but they buffer the table, and lose the field and the line of a wrong
//! value. The tree that scenarios are read from returns `kind` first.

use schemars::Schema;
use serde::de::{Error, MapAccess};
use serde_json::{Value, json};

/// Removes `kind`, the first entry, from a table.
///
/// # Errors
/// If the table does not begin with `kind`.
pub fn take_kind<'de, A: MapAccess<'de>>(map: &mut A) -> Result<String, A::Error> {
    match map.next_key::<String>()? {
        Some(key) if key == "kind" => map.next_value(),
        _ => Err(A::Error::missing_field("kind")),
    }
}

/// Adds the words of kinds without compulsory fields to the schema of a tagged enum.
pub fn add_kind_words(schema: &mut Schema) {
    let Some(Value::Array(kinds)) = schema.get_mut("oneOf") else {
        return;
    };
    let words: Vec<Value> = kinds
        .iter()
        .filter(|kind| kind["required"] == json!(["kind"]))
        .map(|kind| kind["properties"]["kind"]["const"].clone())
        .collect();
    kinds.push(json!({ "type": "string", "enum": words }));
}

/// Implements `Deserialize` for an enum of unit variants and newtype variants with a default.
#[macro_export]
macro_rules! word_or_table {
    ($name:ident { $($unit_word:literal => $unit:ident,)* } { $($word:literal => $variant:ident($body:ty),)+ }) => {
        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use $crate::serde::Deserialize as _;
                use $crate::serde::de::{Error, MapAccess, Visitor, value::MapAccessDeserializer};
                const WORDS: &[&str] = &[$($unit_word,)* $($word,)+];

                /// Fields of a kind without fields.
                #[derive($crate::serde::Deserialize)]
                #[serde(deny_unknown_fields, crate = "config::serde")]
                #[allow(dead_code)]
                struct Nothing {}

                struct Alternatives;
                impl<'de> Visitor<'de> for Alternatives {
                    type Value = $name;

                    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        write!(f, "one of {} or a table with kind", WORDS.join(", "))
                    }

                    fn visit_str<E: Error>(self, word: &str) -> Result<$name, E> {
                        match word {
                            $($unit_word => Ok($name::$unit),)*
                            $($word => Ok($name::$variant(<$body>::default())),)+
                            other => Err(E::unknown_variant(other, WORDS)),
                        }
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let kind = $crate::take_kind(&mut map)?;
                        let fields = MapAccessDeserializer::new(map);
                        match kind.as_str() {
                            $($unit_word => Nothing::deserialize(fields).map(|_| $name::$unit),)*
                            $($word => <$body>::deserialize(fields).map($name::$variant),)+
                            other => Err(A::Error::unknown_variant(other, WORDS)),
                        }
                    }
                }
                deserializer.deserialize_any(Alternatives)
            }
        }
    };
}
