//! packetdrill scripts for Python.

use ::packetdrill::{Verdict, parse, play};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{Result, reject};
use crate::faults::guarded;

/// Plays a packetdrill script; errors call it `name`. Returns `status` (passed, failed, not applicable), `line`,
/// `expected`, `seen`, `reason`, and `assertions`: lines, Python codes and the values that they may name.
#[pyfunction]
pub(crate) fn play_packetdrill<'py>(
    py: Python<'py>,
    text: &str,
    name: &str,
) -> Result<Bound<'py, PyDict>> {
    let report = guarded(name, || {
        let script = parse(text)
            .map_err(|error| reject(format!("{name}:{}: {}", error.line, error.message)))?;
        Ok(play(&script))
    })?;
    let outcome = PyDict::new(py);
    let (status, line, expected, seen, reason) = match report.verdict {
        Verdict::Passed => ("passed", None, None, None, None),
        Verdict::Failed(failure) => (
            "failed",
            Some(failure.line),
            Some(failure.expected),
            Some(failure.actual),
            Some(failure.reason),
        ),
        Verdict::NotApplicable { line, reason } => {
            ("not applicable", Some(line), None, None, Some(reason))
        }
    };
    outcome.set_item("status", status)?;
    outcome.set_item("line", line)?;
    outcome.set_item("expected", expected)?;
    outcome.set_item("seen", seen)?;
    outcome.set_item("reason", reason)?;
    let assertions = PyList::empty(py);
    for assertion in report.assertions {
        let fields = PyDict::new(py);
        for (name, value) in assertion.fields {
            fields.set_item(name, value)?;
        }
        assertions.append((assertion.line, assertion.code, fields))?;
    }
    outcome.set_item("assertions", assertions)?;
    Ok(outcome)
}
