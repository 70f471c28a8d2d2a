//! Error about a value that cannot be used.

use core::fmt;

/// Error about a parameter outside of the range of its model: field, value and what is allowed.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{field} = {value} {allowed}")]
pub struct ParameterError {
    /// The parameter, with its unit.
    pub field: &'static str,
    /// The value as given.
    pub value: String,
    /// Allowed values, beginning with "must".
    pub allowed: String,
}

impl ParameterError {
    pub(crate) fn new(
        field: &'static str,
        value: impl fmt::Display,
        allowed: impl Into<String>,
    ) -> Self {
        Self {
            field,
            value: value.to_string(),
            allowed: allowed.into(),
        }
    }

    /// Returns `value` if it is a number from `low` to `high`.
    pub(crate) fn range(field: &'static str, value: f64, low: f64, high: f64) -> Result<f64, Self> {
        if (low..=high).contains(&value) {
            Ok(value)
        } else {
            Err(Self::new(
                field,
                value,
                format!("must be from {low} to {high}"),
            ))
        }
    }
}
