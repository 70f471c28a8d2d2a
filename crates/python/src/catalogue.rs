//! Catalogue of congestion controls, for Python.

use cca::registry;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use scenario::Lineup;

use crate::refuse;

/// Returns the names of all congestion controls.
#[pyfunction]
pub(crate) fn native_ccas() -> Vec<&'static str> {
    registry::all().iter().map(|cca| cca.name).collect()
}

/// Returns the congestion controls of a list such as `cubic:hystart=off,bbr,cubic+reno`, as they are printed.
#[pyfunction]
pub(crate) fn lineups(text: &str) -> PyResult<Vec<String>> {
    let all = Lineup::list(text).map_err(refuse)?;
    Ok(all.iter().map(Lineup::to_string).collect())
}

/// Returns the entry of the congestion control called `name`.
#[pyfunction]
pub(crate) fn describe_cca<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let cca = registry::called(name, &[]).map_err(refuse)?;
    let parameters = PyList::empty(py);
    for (parameter, default) in cca.all_parameters() {
        let entry = PyDict::new(py);
        entry.set_item("name", parameter.name)?;
        entry.set_item("default", default)?;
        entry.set_item("allowed", (parameter.allowed)())?;
        entry.set_item("unit", parameter.unit)?;
        entry.set_item("meaning", parameter.meaning)?;
        entry.set_item("source", parameter.source)?;
        parameters.append(entry)?;
    }
    let about = PyDict::new(py);
    about.set_item("name", cca.name)?;
    about.set_item("title", cca.title)?;
    about.set_item("aliases", cca.aliases.to_vec())?;
    about.set_item("family", cca.family.name())?;
    about.set_item("reference", cca.reference)?;
    about.set_item("year", cca.year)?;
    about.set_item("linux", cca.linux)?;
    about.set_item("parameters", parameters)?;
    Ok(about)
}
