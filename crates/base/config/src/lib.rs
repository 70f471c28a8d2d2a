//! Configuration files: types and checks shared by all crates with settings.
//!
//! A crate declares its configuration with [`table!`], with quantities of `units` as texts with a unit, and a
//! `check` that rejects values out of range as [`FieldError`]. A [`Document`] reads such structs from TOML or JSON, and
//! turns what is wrong into a [`ConfigError`] with file and line. [`to_toml`] prints them with their comments.

mod buffer;
mod cross;
mod deserialize;
mod digest;
mod distribution;
mod document;
mod nesting;
mod optional_table;
mod parameter;
mod scalar;
mod spec;
mod suggest;
mod table;
mod tagged_enum;
mod to_toml;
mod tree;
mod validate;

pub use buffer::Buffer;
pub use cross::Cross;
pub use deserialize::UNKNOWN_FIELD;
pub use digest::{
    SEAL_LABEL, Seal, check_seal, digest, digest_placeholder, seal_state, seal_text, write_seal,
};
pub use distribution::Distribution;
pub use document::{ConfigError, Document, Source};
pub use nesting::check_nesting;
pub use optional_table::OptionalTable;
pub use parameter::Parameter;
pub use scalar::{Scalar, read_scalar};
pub use spec::{Settings, Spec};
pub use suggest::{nearest, suggestion};
pub use tagged_enum::{add_kind_words, take_kind};
pub use to_toml::to_toml;
pub use tree::{Location, Node, Value};
pub use units::{Measure, Quantity, as_text, word_or_time};
pub use validate::{
    FieldContext, FieldError, changed_fields, check_choice, check_each, check_number,
    check_positive, check_range, check_unique, invalid_value, reject, reject_if_set,
};

/// Crates that the macros expand to.
#[doc(hidden)]
pub use {schemars, serde};

/// The name by which the macros call this crate.
extern crate self as config;
