//! Configuration in files: the parts that every crate with a configuration needs.
//!
//! A crate declares its configuration as structs with serde and schemars, with units as [`Text`], and a `check`
//! that refuses values out of range as [`Wrong`]. A [`Document`] reads such structs from TOML or JSON, and
//! turns what is wrong into a [`ConfigError`] with file and line. [`to_toml`] prints them with their comments.

mod check;
mod deserialize;
mod distribution;
mod document;
mod kind;
mod nearest;
mod print;
mod quantity;
mod text;
mod tree;

pub use check::{At, Wrong, each, number, positive, refuse, within, wrong};
pub use distribution::Distribution;
pub use document::{ConfigError, Document, Source};
pub use kind::{or_word, take_kind};
pub use nearest::{nearest, suggestion};
pub use print::to_toml;
pub use quantity::{Angle, Frequency, Gain, Length, Power, Speed};
pub use text::{Measure, Quantity, Text};
pub use tree::{Node, Origin, Value};

/// What [`word_or_table`] expands to.
#[doc(hidden)]
pub use serde;
