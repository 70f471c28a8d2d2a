//! Checks: ranges of values, with errors that name the field.

use core::fmt::Display;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::Quantity;

/// A value that is refused.
///
/// A validator names the field as it stands in its own table. Its caller adds the names of the tables around it
/// with [`At::at`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// The field, with dots between tables; empty for the value itself.
    pub field: String,
    /// The value and what is allowed.
    pub message: String,
}

impl Display for Wrong {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.field.as_str() {
            "" => f.write_str(&self.message),
            field => write!(f, "{field}: {}", self.message),
        }
    }
}

impl Wrong {
    /// Creates the refusal of a field, with the whole message.
    pub fn new(field: impl Into<String>, message: impl Display) -> Self {
        Self {
            field: field.into(),
            message: message.to_string(),
        }
    }
}

/// Adds the name of the table around a field that was refused.
pub trait At {
    /// Adds `table` before the name of the field.
    #[must_use]
    fn at(self, table: impl Display) -> Self;
}

impl<T> At for Result<T, Wrong> {
    fn at(self, table: impl Display) -> Self {
        self.map_err(|Wrong { field, message }| Wrong {
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
/// The first item that `check` refuses, by its position in the list.
pub fn each<'a, T: 'a>(
    name: &str,
    items: impl IntoIterator<Item = &'a T>,
    mut check: impl FnMut(&'a T) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    let mut numbered = items.into_iter().enumerate();
    numbered.try_for_each(|(index, item)| check(item).at(index).at(name))
}

/// Refuses a field with a whole message.
///
/// # Errors
/// Always.
pub fn refuse(field: impl Into<String>, message: impl Into<String>) -> Result<(), Wrong> {
    Err(Wrong::new(field, message.into()))
}

/// Refuses `value`, which is not among what is allowed.
///
/// # Errors
/// Always.
pub fn wrong(
    field: impl Into<String>,
    value: impl Display,
    allowed: impl Display,
) -> Result<(), Wrong> {
    refuse(
        field,
        format!("{value} is out of range; allowed: {allowed}"),
    )
}

/// Checks that a quantity is not zero.
///
/// # Errors
/// If it is zero.
pub fn positive<Q: Quantity + Default + PartialEq>(
    field: impl Into<String>,
    value: Q,
) -> Result<(), Wrong> {
    if value == Q::default() {
        wrong(field, value.write(), "more than zero")
    } else {
        Ok(())
    }
}

/// Checks that a quantity is from `low` to `high`.
///
/// # Errors
/// If it is outside.
pub fn within<Q: Quantity + PartialOrd>(
    field: impl Into<String>,
    value: Q,
    low: Q,
    high: Q,
) -> Result<(), Wrong> {
    if low <= value && value <= high {
        return Ok(());
    }
    let allowed = format!("{} to {}", low.write(), high.write());
    wrong(field, value.write(), allowed)
}

/// Checks that a number without unit is from `low` to `high`; NaN never is.
///
/// # Errors
/// If it is outside.
pub fn number(field: impl Into<String>, value: f64, low: f64, high: f64) -> Result<(), Wrong> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        wrong(field, value, format!("{low} to {high}"))
    }
}

/// Checks that `value` is one of those allowed.
///
/// # Errors
/// If it is none of them.
pub fn one_of<T: PartialEq + Display>(
    field: impl Into<String>,
    value: T,
    allowed: &[T],
) -> Result<(), Wrong> {
    if allowed.contains(&value) {
        return Ok(());
    }
    let allowed: Vec<String> = allowed.iter().map(T::to_string).collect();
    wrong(field, value, allowed.join(", "))
}

/// Checks that a whole number is from `low` to `high`.
///
/// # Errors
/// If it is outside.
pub fn count(field: impl Into<String>, value: u32, low: u32, high: u32) -> Result<(), Wrong> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        wrong(field, value, format!("{low} to {high}"))
    }
}

/// Refuses a field that is set to `value` but belongs to something else, `what`.
///
/// # Errors
/// If `is_set`.
pub fn only_for(
    field: impl Into<String>,
    is_set: bool,
    value: impl Display,
    what: impl Display,
) -> Result<(), Wrong> {
    if is_set {
        let message = format!("{value} is set, but this is only for {what}; leave it out");
        return refuse(field, message);
    }
    Ok(())
}

/// Returns the fields of a table that are not at their default, with their values in JSON.
pub fn changed<T: Default + Serialize>(table: &T) -> Vec<(String, String)> {
    let fields = |table: &T| match serde_json::to_value(table) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let plain = fields(&T::default());
    fields(table)
        .into_iter()
        .filter(|(name, value)| plain.get(name) != Some(value))
        .map(|(name, value)| (name, value.to_string()))
        .collect()
}

/// Notes that `field` has the value `name`. Names appear in results and must differ, so no other field may have it.
///
/// # Errors
/// If another field has it.
pub fn unique<'a>(
    names: &mut BTreeMap<&'a str, String>,
    name: &'a str,
    field: String,
) -> Result<(), Wrong> {
    match names.get(name) {
        Some(first) => refuse(field, format!("{name:?} is already the value of {first}")),
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
        let found = each("times", &times, |time| positive("", *time)).at("path");
        let wrong = found.unwrap_err();
        assert_eq!(wrong.field, "path.times.1");
        assert_eq!(wrong.message, "0s is out of range; allowed: more than zero");
    }
}
