//! Policies of selectors, for Python.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use selection::policy::{BUILT_IN, OUTCOME_METRICS, Policy, builtin, builtin_text};
use selection::{Auto, ConnectionResult, DestinationCache, FEATURES, Requirement};

use crate::error::{Result, reject};

/// Returns the names of the built-in policies.
#[pyfunction]
pub(crate) fn builtin_policies() -> Vec<&'static str> {
    BUILT_IN.map(|(name, _)| name).to_vec()
}

/// Returns the file of the built-in policy called `name`.
#[pyfunction]
pub(crate) fn policy_text(name: &str) -> Result<&'static str> {
    Ok(builtin_text(name)?)
}

/// Returns name, description, source and choices of a policy: of a built-in one by its name, or of the one in
/// `text`, which errors call `name`.
#[pyfunction]
#[pyo3(signature = (name, text=None))]
pub(crate) fn describe_policy<'py>(
    py: Python<'py>,
    name: &str,
    text: Option<&str>,
) -> Result<Bound<'py, PyDict>> {
    let policy = match text {
        Some(text) => Policy::from_toml(text, name),
        None => builtin(name),
    }?;
    let description = PyDict::new(py);
    description.set_item("choices", policy.candidates())?;
    description.set_item("in_flight", policy.switches_running_connections())?;
    description.set_item("name", policy.name)?;
    description.set_item("description", policy.description)?;
    description.set_item("source", policy.source)?;
    Ok(description)
}

/// Result of an earlier connection: `celltcp.selection.prior_connections.PriorConnection`.
#[derive(FromPyObject)]
pub(crate) struct EarlierConnection {
    cca: String,
    rtt_ms: f64,
    rate_mbps: f64,
    capacity_mbps: f64,
    buffer_segments: f64,
    retransmitted: f64,
}

/// Returns the memory file after these connections to `destination`, in their order; `known` is the file before them,
/// which errors call `file`.
#[pyfunction]
#[pyo3(signature = (destination, connections, known="", file="memory"))]
pub(crate) fn memory_text(
    destination: &str,
    connections: Vec<EarlierConnection>,
    known: &str,
    file: &str,
) -> Result<String> {
    let mut memory = DestinationCache::from_toml(known, file)?;
    for each in &connections {
        memory.add_result(
            destination,
            &ConnectionResult {
                cca: &each.cca,
                min_rtt_ms: each.rtt_ms,
                rate_mbps: each.rate_mbps,
                capacity_mbps: each.capacity_mbps,
                buffer_segments: each.buffer_segments,
                retransmitted: each.retransmitted,
            },
        );
    }
    Ok(memory.to_toml())
}

/// Returns the JSON schema of policy files.
#[pyfunction]
pub(crate) fn policy_schema() -> String {
    Policy::schema()
}

/// Returns name and meaning of the features that policies may look at.
#[pyfunction]
pub(crate) fn selection_features(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    PyList::new(
        py,
        FEATURES
            .iter()
            .map(|feature| (feature.name, feature.meaning)),
    )
}

/// Returns name, meaning and default of the parameters of `auto`.
#[pyfunction]
pub(crate) fn auto_parameters(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    PyList::new(py, Auto::PARAMETERS)
}

/// Returns the names of the requirements that rules can name, without their bounds.
#[pyfunction]
pub(crate) fn requirement_kinds() -> Vec<&'static str> {
    Requirement::kinds().collect()
}

/// Returns the names of the metrics of an outcome in the tables of kNN policies.
#[pyfunction]
pub(crate) fn outcome_parts() -> Vec<&'static str> {
    OUTCOME_METRICS.to_vec()
}

/// Returns a requirement in the form in which it is printed (`"delay"`, `"1/5/1"`), and its weights of use, delay and
/// losses.
#[pyfunction]
pub(crate) fn parse_requirement(text: &str) -> Result<(String, (f64, f64, f64))> {
    let requirement: Requirement = text
        .parse()
        .map_err(|error| reject(format!("requirement: {error}")))?;
    let weights = requirement.weights();
    Ok((
        requirement.to_string(),
        (weights.alpha, weights.beta, weights.gamma),
    ))
}
