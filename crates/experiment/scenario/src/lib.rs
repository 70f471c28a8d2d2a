//! Scenario: the parts that a run is configured from, and how its files are read, checked, overridden, printed
//! and hashed.

mod expand;
mod hash;
mod model;
mod randomness;
mod read;
mod schema;
mod synonyms;
mod validate;

pub use config::{ConfigError, Distribution, Measure, Quantity};
pub use model::*;
pub use synonyms::field_meant;
