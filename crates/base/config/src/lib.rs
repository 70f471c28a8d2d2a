//! Configuration in files: the parts that every crate with a configuration needs.
//!
//! A crate declares its configuration with [`table!`], with quantities of `units` as texts with a unit, and a
//! `check` that refuses values out of range as [`Wrong`]. A [`Document`] reads such structs from TOML or JSON, and
//! turns what is wrong into a [`ConfigError`] with file and line. [`to_toml`] prints them with their comments.

mod buffer;
mod check;
mod cross;
mod deserialize;
mod digest;
mod distribution;
mod document;
mod kind;
mod named;
mod nearest;
mod nesting;
mod or_off;
mod print;
mod table;
mod tree;

pub use buffer::Buffer;
pub use check::{
    At, Wrong, changed, count, each, number, one_of, only_for, positive, refuse, unique, within,
    wrong,
};
pub use cross::Cross;
pub use digest::{SEAL_LABEL, Seal, blank, check_seal, check_sealed, digest, seal, sealed};
pub use distribution::Distribution;
pub use document::{ConfigError, Document, Source};
pub use kind::{or_word, take_kind};
pub use named::named;
pub use nearest::{nearest, suggestion};
pub use nesting::check_nesting;
pub use or_off::OrOff;
pub use print::to_toml;
pub use tree::{Node, Origin, Value};
pub use units::{Measure, Quantity, as_text, word_or_time};

/// Crates that the macros expand to.
#[doc(hidden)]
pub use {schemars, serde};

/// The name by which the macros call this crate.
extern crate self as config;
