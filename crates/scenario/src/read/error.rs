//! Why a text is not a scenario.

use super::tree::Origin;

/// What is wrong with a scenario: where, in which field, and what is allowed; one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {}{message}", if field.is_empty() { String::new() } else { format!("{field}: ") })]
pub struct ScenarioError {
    /// `FILE:LINE`, `FILE`, or the override.
    pub place: String,
    /// The field, as overrides write it (`flows.0.cca`); empty where the text is not even TOML.
    pub field: String,
    /// The value and what is allowed.
    pub message: String,
}

/// As [`ScenarioError`], before anybody knows how the file is called.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) origin: Origin,
    pub(crate) field: String,
    pub(crate) message: String,
}

impl ScenarioError {
    pub(super) fn new(file: &str, overrides: &[String], problem: Problem) -> Self {
        let place = match problem.origin {
            Origin::Whole => file.to_owned(),
            Origin::Line(line) => format!("{file}:{line}"),
            Origin::Override(number) => format!("override {}", overrides[number]),
        };
        Self {
            place,
            field: problem.field,
            message: problem.message,
        }
    }
}
