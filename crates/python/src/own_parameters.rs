//! Parameters of congestion controls that are Python classes: their types, and their entries in the catalogue.

use cca::Parameter;
use cca::parameters::Setting;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyAny;

use crate::error::{Result, reject};

/// Type of a parameter: that of its default in Python.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// `on` or `off`.
    Bool,
    /// Whole number.
    Int,
    /// Number.
    Float,
    /// Text.
    Str,
}

impl Kind {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Self::Bool,
            "int" => Self::Int,
            "float" => Self::Float,
            "str" => Self::Str,
            _ => return None,
        })
    }

    /// Describes the allowed values, in words.
    fn allowed(self) -> String {
        match self {
            Self::Bool => bool::allowed(None),
            Self::Int => "whole numbers".to_owned(),
            Self::Float => f64::allowed(None),
            Self::Str => "texts".to_owned(),
        }
    }

    /// Converts a value to the form in which it is printed; `None` if it is not allowed.
    fn canonical(self, text: &str) -> Option<String> {
        let text = text.trim();
        match self {
            Self::Bool => bool::read(text).map(|value| value.show()),
            Self::Int => text.parse::<i64>().ok().map(|value| value.to_string()),
            Self::Float => f64::read(text).map(|value| value.show()),
            Self::Str => Some(text.to_owned()),
        }
    }

    /// Returns the Python object of a value in its printed form.
    pub(crate) fn value<'py>(self, py: Python<'py>, text: &str) -> Result<Bound<'py, PyAny>> {
        let invalid = || reject(format!("{text:?} is none of {}", self.allowed()));
        Ok(match self {
            Self::Bool => bool::read(text).ok_or_else(invalid)?.into_bound_py_any(py),
            Self::Int => text
                .parse::<i64>()
                .map_err(|_| invalid())?
                .into_bound_py_any(py),
            Self::Float => f64::read(text).ok_or_else(invalid)?.into_bound_py_any(py),
            Self::Str => text.into_bound_py_any(py),
        }?)
    }
}

/// Parameters in the catalogue, and their types by name; both live as long as the process.
type DeclaredParameters = (&'static [Parameter], &'static [(String, Kind)]);

/// Declares parameters by their names, types and defaults.
pub(crate) fn declare(declarations: Vec<(String, String, String)>) -> Result<DeclaredParameters> {
    let mut parameters = Vec::new();
    let mut kinds = Vec::new();
    for (name, kind, default) in declarations {
        let kind = Kind::from_name(&kind).ok_or_else(|| {
            reject(format!(
                "parameter {name}: {kind:?} is no type of one; allowed: bool, int, float, str"
            ))
        })?;
        let default = kind.canonical(&default).ok_or_else(|| {
            let allowed = kind.allowed();
            reject(format!(
                "parameter {name}: the default {default:?} is none of {allowed}"
            ))
        })?;
        parameters.push(Parameter {
            name: Box::leak(name.clone().into_boxed_str()),
            meaning: "Argument of the class.",
            unit: "",
            source: "the class",
            default: Box::leak(Box::new(move || default.clone())),
            allowed: Box::leak(Box::new(move || kind.allowed())),
            canonical: Box::leak(Box::new(move |text: &str| kind.canonical(text))),
        });
        kinds.push((name, kind));
    }
    Ok((parameters.leak(), kinds.leak()))
}
