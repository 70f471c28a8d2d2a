//! Scenarios.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use path::Traces;
use pyo3::prelude::*;
use scenario::{Lineup, Samples};
use units::Duration;

use crate::radio::no_radio;
use crate::refuse;

/// A network, the flows on it, and how long it is looked at. Immutable.
#[pyclass(frozen, module = "celltcp._core")]
pub(crate) struct Scenario {
    pub(crate) inner: Arc<scenario::Scenario>,
    pub(crate) traces: Arc<Traces>,
}

impl Scenario {
    fn load(mut inner: scenario::Scenario, directory: &Path) -> PyResult<Self> {
        inner.load_selection(directory).map_err(refuse)?;
        let traces = Traces::load(&inner, directory).map_err(refuse)?;
        Ok(Self {
            inner: Arc::new(inner),
            traces: Arc::new(traces),
        })
    }

    fn changed(&self, change: impl FnOnce(&mut scenario::Scenario)) -> Self {
        let mut inner = (*self.inner).clone();
        change(&mut inner);
        Self {
            inner: Arc::new(inner),
            traces: Arc::clone(&self.traces),
        }
    }
}

#[pymethods]
impl Scenario {
    /// Reads a scenario file and the traces that it names, relative to `directory`.
    #[staticmethod]
    #[pyo3(signature = (text, origin, directory, overrides))]
    fn from_toml(
        text: &str,
        origin: &str,
        directory: PathBuf,
        overrides: Vec<String>,
    ) -> PyResult<Self> {
        let inner = scenario::Scenario::from_toml(text, origin, &overrides).map_err(refuse)?;
        Self::load(inner, &directory)
    }

    /// The scenario that a link trace alone makes; files are relative to the working directory.
    #[staticmethod]
    #[pyo3(signature = (down, up, overrides))]
    fn of_trace(down: &str, up: Option<&str>, overrides: Vec<String>) -> PyResult<Self> {
        let inner = scenario::Scenario::from_trace(down, up, &overrides).map_err(refuse)?;
        Self::load(inner, Path::new(""))
    }

    /// Name in results.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// What it stands for.
    #[getter]
    fn description(&self) -> &str {
        &self.inner.description
    }

    /// Length of a run, s.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.inner.duration.as_secs_f64()
    }

    /// Length of a slot, s.
    #[getter]
    fn slot_s(&self) -> f64 {
        self.inner.slot.as_secs_f64()
    }

    /// Hash of all that matters to a run.
    #[getter]
    fn hash(&self) -> String {
        self.inner.hash()
    }

    /// What differs between runs; empty if nothing does.
    #[getter]
    fn randomness(&self) -> Vec<&'static str> {
        self.inner.randomness()
    }

    /// The congestion controls of all flows, those that they switch to or may be given included, by the
    /// kernel's names.
    #[getter]
    fn ccas(&self) -> PyResult<Vec<&'static str>> {
        let mut all = Vec::new();
        for flow in &self.inner.flows {
            all.extend(flow.switch.iter().map(|switch| switch.to.name));
            match flow.cca.auto() {
                Some(auto) => all.extend(self.inner.policy(&auto).map_err(refuse)?.choices()),
                None => all.push(flow.cca.name),
            }
        }
        Ok(all)
    }

    /// The congestion controls of the flows with their parameters, joined by plus signs.
    #[getter]
    fn lineup(&self) -> String {
        let flows = self.inner.flows.iter();
        let names: Vec<String> = flows.map(|flow| flow.cca.to_string()).collect();
        names.join("+")
    }

    /// The complete scenario as commented TOML.
    fn to_toml(&self) -> String {
        self.inner.to_toml()
    }

    /// The complete scenario as JSON.
    fn to_json(&self) -> String {
        self.inner.to_json()
    }

    /// The same scenario with another congestion control of the first flow, or, if several are joined by
    /// a plus sign, of as many flows at the same time; missing ones are added.
    fn with_cca(&self, lineup: &str) -> PyResult<Self> {
        let lineup: Lineup = lineup.parse().map_err(refuse)?;
        let mut inner = (*self.inner).clone();
        lineup.apply(&mut inner);
        // What a command names counts from where it runs.
        inner.load_selection(Path::new("")).map_err(refuse)?;
        Ok(Self {
            inner: Arc::new(inner),
            traces: Arc::clone(&self.traces),
        })
    }

    /// The same scenario with the state of connections sampled at every ACK (`"every-ack"`), never
    /// (`"off"`), or at an interval such as `"10ms"`.
    fn with_samples(&self, samples: &str) -> PyResult<Self> {
        let samples = match samples {
            "off" => Samples::Off,
            "every-ack" => Samples::EveryAck,
            interval => Samples::Interval(interval.parse::<Duration>().map_err(refuse)?),
        };
        Ok(self.changed(|scenario| scenario.samples = samples))
    }

    /// Whether the access link is cellular.
    #[getter]
    fn has_radio(&self) -> bool {
        self.inner.radio.is_some()
    }

    /// The same scenario with every TTI of its radio recorded.
    fn with_radio_log(&self) -> PyResult<Self> {
        if self.inner.radio.is_none() {
            return Err(no_radio(&self.inner));
        }
        Ok(self.changed(|scenario| {
            if let Some(radio) = &mut scenario.radio {
                radio.log = true;
            }
        }))
    }

    fn __repr__(&self) -> String {
        format!("<Scenario {} {}>", self.inner.name, self.inner.hash())
    }
}

/// The JSON schema of scenario files.
#[pyfunction]
pub(crate) fn scenario_schema() -> String {
    scenario::Scenario::schema()
}
