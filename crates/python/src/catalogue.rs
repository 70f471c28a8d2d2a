//! Catalogue of congestion controls, for Python.

use cca::registry;
use config::Spec;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use scenario::{CcaMix, MiddleboxKind};

use crate::error::Result;

/// Returns the names of all congestion controls.
#[pyfunction]
pub(crate) fn native_ccas() -> Vec<&'static str> {
    registry::all().iter().map(|cca| cca.name).collect()
}

/// Returns the names of the kinds of middleboxes: all, or with `splits` those that split connections or do not.
#[pyfunction]
#[pyo3(signature = (splits=None))]
pub(crate) fn middlebox_kinds(splits: Option<bool>) -> Vec<&'static str> {
    let matches = |kind: &&MiddleboxKind| splits.is_none_or(|splits| kind.splits() == splits);
    MiddleboxKind::ALL
        .iter()
        .filter(matches)
        .map(|kind| kind.name())
        .collect()
}

/// Returns the line-ups of a list such as `cubic:hystart=off,bbr,cubic+reno`, as they are printed, each once. `all` and
/// `own` are the CCAs that these words stand for in the list.
#[pyfunction]
#[pyo3(signature = (text, all=None, own=None))]
pub(crate) fn lineups(
    text: &str,
    all: Option<Vec<String>>,
    own: Option<&str>,
) -> Result<Vec<String>> {
    let mixes = CcaMix::list(text, &all.unwrap_or_default(), own)?;
    Ok(format_mixes(mixes))
}

/// Returns each of these line-ups through each choice of middleboxes in a list such as `none,es:reserve=4,split@es`;
/// unchanged without any.
#[pyfunction]
pub(crate) fn mixes_with_middleboxes(
    lineups: Vec<String>,
    middleboxes: &str,
) -> Result<Vec<String>> {
    let mixes = lineups.iter().map(|text| text.parse());
    let mixes = mixes.collect::<Result<Vec<CcaMix>, String>>()?;
    Ok(format_mixes(CcaMix::through(mixes, middleboxes)?))
}

/// Returns the line-ups as texts, each once.
fn format_mixes(lineups: Vec<CcaMix>) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for text in lineups.iter().map(CcaMix::to_string) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// CCA of a flow: its text, its name, and its parameters with their values.
type Flow = (String, String, Vec<(String, String)>);

/// Returns the flows of a line-up, and its middleboxes as text, `None` where it names none. Names need not be known.
#[pyfunction]
pub(crate) fn lineup_parts(text: &str) -> Result<(Vec<Flow>, Option<String>)> {
    let mut mix: CcaMix<Spec, String> = text.parse()?;
    let flow = |flow: Spec| {
        let settings = flow.settings.clone().into_iter().collect();
        (flow.to_string(), flow.name, settings)
    };
    let flows = mix.flows.drain(..).map(flow).collect();
    let middleboxes = mix.to_string().strip_prefix('@').map(str::to_owned);
    Ok((flows, middleboxes))
}

/// Returns the entry of the congestion control called `name`.
#[pyfunction]
pub(crate) fn describe_cca<'py>(py: Python<'py>, name: &str) -> Result<Bound<'py, PyDict>> {
    let cca = registry::lookup(name, &[])?;
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
    let description = PyDict::new(py);
    description.set_item("name", cca.name)?;
    description.set_item("title", cca.title)?;
    description.set_item("aliases", cca.aliases.to_vec())?;
    description.set_item("family", cca.family.name())?;
    description.set_item("reference", cca.reference)?;
    description.set_item("year", cca.year)?;
    description.set_item("linux", cca.linux)?;
    description.set_item("parameters", parameters)?;
    Ok(description)
}
