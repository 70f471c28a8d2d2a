//! Tests of scenarios, as users write them.

mod errors;
mod hash;
mod library;
mod limits;
mod overrides;
mod radio;
mod radio_errors;

mod schema;
