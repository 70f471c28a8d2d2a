//! Tests of middleboxes: packet flows step by step, and semantics of acknowledgements in randomised runs.

mod conformance;
mod semantics;
