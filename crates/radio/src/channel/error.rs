//! Errors about values and files that cannot be used.

use core::fmt;

/// Error about a parameter outside of the range of its model: field, value and what is allowed.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{field} = {value} {allowed}")]
pub struct ParameterError {
    /// The parameter, with its unit.
    pub field: &'static str,
    /// The value as given.
    pub value: String,
    /// What is allowed, beginning with "must".
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

/// Error about a file that cannot be used: `FILE:LINE: what is wrong`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct FileError {
    file: String,
    line: Option<usize>,
    message: String,
}

impl FileError {
    pub(crate) fn on(file: &str, line: usize, message: impl fmt::Display) -> Self {
        Self {
            file: file.to_owned(),
            line: Some(line),
            message: message.to_string(),
        }
    }

    pub(crate) fn whole(file: &str, message: impl fmt::Display) -> Self {
        Self {
            file: file.to_owned(),
            line: None,
            message: message.to_string(),
        }
    }

    /// Returns the line with the mistake, counted from one; `None` if the file as a whole is wrong.
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}
