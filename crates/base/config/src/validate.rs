//! Validation: ranges of values, with errors that name the field.

use core::fmt::Display;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::Quantity;

/// A value that is rejected.
///
/// A validator names the field as it stands in its own table. Its caller adds the names of the tables around it
/// with [`FieldContext::in_table`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldError {
    /// The field, with dots between tables; empty for the value itself.
    pub field: String,
    /// The value and what is allowed.
    pub message: String,
}

impl Display for FieldError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.field.as_str() {
            "" => f.write_str(&self.message),
            field => write!(f, "{field}: {}", self.message),
        }
    }
}

impl FieldError {
    /// Creates the rejection of a field, with the whole message.
    pub fn new(field: impl Into<String>, message: impl Display) -> Self {
        Self {
            field: field.into(),
            message: message.to_string(),
        }
    }
}

/// Adds the name of the table around a field that was rejected.
pub trait FieldContext {
    /// Adds `table` before the name of the field.
    #[must_use]
    fn in_table(self, table: impl Display) -> Self;
}

impl<T> FieldContext for Result<T, FieldError> {
    fn in_table(self, table: impl Display) -> Self {
        self.map_err(|FieldError { field, message }| FieldError {
            field: match field.as_str() {
                "" => table.to_string(),
                field => format!("{table}.{field}"),
            },
            message,
        })
    }
}

/// Checks each item of the list called `name`.
///
/// # Errors
/// The first item that `check` rejects, by its position in the list.
pub fn check_each<'a, T: 'a>(
    name: &str,
    items: impl IntoIterator<Item = &'a T>,
    mut check: impl FnMut(&'a T) -> Result<(), FieldError>,
) -> Result<(), FieldError> {
    let mut numbered = items.into_iter().enumerate();
    numbered.try_for_each(|(index, item)| check(item).in_table(index).in_table(name))
}

/// Rejects a field with a whole message.
///
/// # Errors
/// Always.
pub fn reject(field: impl Into<String>, message: impl Into<String>) -> Result<(), FieldError> {
    Err(FieldError::new(field, message.into()))
}

/// Rejects `value`, which is out of range; `allowed` describes the range.
///
/// # Errors
/// Always.
pub fn invalid_value(
    field: impl Into<String>,
    value: impl Display,
    allowed: impl Display,
) -> Result<(), FieldError> {
    reject(
        field,
        format!("{value} is out of range; allowed: {allowed}"),
    )
}

/// Checks that a quantity is not zero.
pub fn check_positive<Q: Quantity + Default + PartialEq>(
    field: impl Into<String>,
    value: Q,
) -> Result<(), FieldError> {
    if value == Q::default() {
        invalid_value(field, value.write(), "more than zero")
    } else {
        Ok(())
    }
}

/// Checks that a quantity is from `low` to `high`.
pub fn check_range<Q: Quantity + PartialOrd>(
    field: impl Into<String>,
    value: Q,
    low: Q,
    high: Q,
) -> Result<(), FieldError> {
    if low <= value && value <= high {
        return Ok(());
    }
    let allowed = format!("{} to {}", low.write(), high.write());
    invalid_value(field, value.write(), allowed)
}

/// Checks that a number without unit is from `low` to `high`; NaN never is.
pub fn check_number<T: PartialOrd + Display>(
    field: impl Into<String>,
    value: T,
    low: T,
    high: T,
) -> Result<(), FieldError> {
    if low <= value && value <= high {
        Ok(())
    } else {
        invalid_value(field, value, format!("{low} to {high}"))
    }
}

/// Checks that `value` is one of those allowed.
pub fn check_choice<T: PartialEq + Display>(
    field: impl Into<String>,
    value: T,
    allowed: &[T],
) -> Result<(), FieldError> {
    if allowed.contains(&value) {
        return Ok(());
    }
    let allowed: Vec<String> = allowed.iter().map(T::to_string).collect();
    invalid_value(field, value, allowed.join(", "))
}

/// Rejects a field that is set to `value`, but has a meaning for `owner` only.
pub fn reject_if_set(
    field: impl Into<String>,
    is_set: bool,
    value: impl Display,
    owner: impl Display,
) -> Result<(), FieldError> {
    if is_set {
        let message = format!("{value} is set, but this is only for {owner}; leave it out");
        return reject(field, message);
    }
    Ok(())
}

/// Returns the fields of a table that are not at their default, with their values in JSON.
pub fn changed_fields<T: Default + Serialize>(table: &T) -> Vec<(String, String)> {
    let fields = |table: &T| match serde_json::to_value(table) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let defaults = fields(&T::default());
    fields(table)
        .into_iter()
        .filter(|(name, value)| defaults.get(name) != Some(value))
        .map(|(name, value)| (name, value.to_string()))
        .collect()
}

/// Adds `name`, the value of `field`, to `names`. Names appear in results, so each field needs a different one.
pub fn check_unique<'a>(
    names: &mut BTreeMap<&'a str, String>,
    name: &'a str,
    field: String,
) -> Result<(), FieldError> {
    match names.get(name) {
        Some(first) => reject(field, format!("{name:?} is already the value of {first}")),
        None => {
            names.insert(name, field);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;

    #[test]
    fn a_nested_check_names_the_whole_field() {
        let times = [Duration::from_millis(1), Duration::ZERO];
        let result = check_each("times", &times, |time| check_positive("", *time)).in_table("path");
        let wrong = result.unwrap_err();
        assert_eq!(wrong.field, "path.times.1");
        assert_eq!(wrong.message, "0s is out of range; allowed: more than zero");
    }
}
