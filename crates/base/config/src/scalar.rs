//! Scalars: values that are written as a word, a number or a switch.

use core::fmt;
use core::marker::PhantomData;

use serde::Deserializer;
use serde::de::{Error, Unexpected, Visitor};

/// Scalar of a document.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scalar<'a> {
    /// `true` or `false`.
    Switch(bool),
    /// A text.
    Word(&'a str),
    /// A whole number.
    Number(u64),
}

/// Deserializes a value that is written as a scalar; `read` returns `None` for a scalar that is no such value.
///
/// # Errors
/// The document has no scalar, or `read` rejects it. The message ends with what was `expected`.
pub fn read_scalar<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    expected: &'static str,
    read: impl Fn(Scalar<'_>) -> Option<T>,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(ScalarVisitor {
        expected,
        read,
        value: PhantomData,
    })
}

struct ScalarVisitor<T, R> {
    expected: &'static str,
    read: R,
    value: PhantomData<T>,
}

impl<T, R: Fn(Scalar<'_>) -> Option<T>> Visitor<'_> for ScalarVisitor<T, R> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<T, E> {
        let value = (self.read)(Scalar::Switch(on));
        value.ok_or_else(|| E::invalid_value(Unexpected::Bool(on), &self))
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<T, E> {
        let value = (self.read)(Scalar::Word(word));
        value.ok_or_else(|| E::invalid_value(Unexpected::Str(word), &self))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        let value = (self.read)(Scalar::Number(number));
        value.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
    }
}
