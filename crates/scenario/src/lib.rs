//! The one definition of a scenario: what it consists of, its defaults, how it is read, checked,
//! overridden, printed and hashed, and the JSON schema of its files.

mod kind;
mod model;
mod nearest;
mod print;
mod randomness;
mod read;
mod schema;
mod text;
mod validate;

pub use model::*;
pub use read::ScenarioError;
pub use text::{Measure, Quantity};
