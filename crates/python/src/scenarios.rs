//! Scenario for Python: a network, the flows on it and the length of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use network_builder::{Files, Traces};
use pyo3::prelude::*;
use pyo3::types::PyType;
use scenario::{CcaMix, Samples};
use units::Duration;

use crate::error::{Error, Result};
use crate::faults::guarded;
use crate::radio::no_radio;
use crate::traces::log_reader;

/// Network, the flows on it, and the length of a run. Immutable.
#[pyclass(frozen, module = "celltcp._core")]
pub(crate) struct Scenario {
    pub(crate) inner: Arc<scenario::Scenario>,
    pub(crate) traces: Arc<Traces>,
    hash: OnceLock<String>,
    files_digest: OnceLock<String>,
}

/// Parts of a pickled scenario: the complete scenario as TOML, the folder that its files are relative to, and the texts
/// of its files.
type State = (String, PathBuf, BTreeMap<PathBuf, String>);

/// Returns the files in a folder, including logs, which Python reads.
fn files_in(directory: &Path) -> Files {
    Files::in_directory(directory).with_log_reader(log_reader())
}

impl Scenario {
    fn load(mut inner: scenario::Scenario, mut files: Files) -> Result<Self> {
        inner.load_selection(files.directory())?;
        files.load_named(&mut inner)?;
        let traces = Traces::from_files(&inner, files)?;
        for (file, _, read) in traces.all() {
            let format = read.describe();
            tracing::info!(target: "celltcp::events::traces", "{}: read as {format}", file.display());
        }
        Ok(Self::new_with(inner, Arc::new(traces)))
    }

    fn new_with(inner: scenario::Scenario, traces: Arc<Traces>) -> Self {
        Self {
            inner: Arc::new(inner),
            traces,
            hash: OnceLock::new(),
            files_digest: OnceLock::new(),
        }
    }

    fn with(&self, change: impl FnOnce(&mut scenario::Scenario)) -> Self {
        let mut inner = (*self.inner).clone();
        change(&mut inner);
        Self::new_with(inner, Arc::clone(&self.traces))
    }
}

#[pymethods]
impl Scenario {
    /// Reads a complete scenario (TOML) whose files are known by their texts; relative files count from `directory`.
    /// Unpickling uses it; users load scenarios in Python.
    #[new]
    #[pyo3(signature = (text, directory=None, files=None))]
    fn new(
        text: &str,
        directory: Option<PathBuf>,
        files: Option<BTreeMap<PathBuf, String>>,
    ) -> Result<Self> {
        let (Some(directory), Some(files)) = (directory, files) else {
            return Err(Error::Input(format!(
                "Scenario: {text:?} alone is no scenario; celltcp.load_scenario loads one by its name, file or fields"
            )));
        };
        let inner = scenario::Scenario::from_toml(text, "scenario", &[])?;
        let files = Files::with_texts(&directory, files).with_log_reader(log_reader());
        Self::load(inner, files)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, State) {
        let files = self.traces.files();
        let state = (
            self.inner.to_toml(),
            files.directory().to_owned(),
            files.texts(),
        );
        (py.get_type::<Self>(), state)
    }

    /// Reads a scenario file and the traces that it names, relative to `directory`.
    #[staticmethod]
    #[pyo3(signature = (text, origin, directory, overrides))]
    fn from_toml(
        text: &str,
        origin: &str,
        directory: PathBuf,
        overrides: Vec<String>,
    ) -> Result<Self> {
        guarded(origin, || {
            let inner = scenario::Scenario::from_toml(text, origin, &overrides)?;
            Self::load(inner, files_in(&directory))
        })
    }

    /// Returns the scenario of a link trace alone; files are relative to the working directory.
    #[staticmethod]
    #[pyo3(signature = (down, up, overrides))]
    fn of_trace(down: &str, up: Option<&str>, overrides: Vec<String>) -> Result<Self> {
        guarded(down, || {
            let inner = scenario::Scenario::from_trace(down, up, &overrides)?;
            Self::load(inner, files_in(Path::new("")))
        })
    }

    /// Name in results.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// Description.
    #[getter]
    fn description(&self) -> &str {
        &self.inner.description
    }

    /// Length of a run, s.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.inner.duration.as_nanos() as f64 / 1e9
    }

    /// Length of a slot, s.
    #[getter]
    fn slot_s(&self) -> f64 {
        self.inner.slot.as_nanos() as f64 / 1e9
    }

    /// Hash of everything that affects a run.
    #[getter]
    fn hash(&self) -> &str {
        self.hash.get_or_init(|| self.inner.hash())
    }

    /// Digest of the files that affect a run, in addition to the hash; empty without any.
    #[getter]
    fn files_digest(&self) -> &str {
        self.files_digest
            .get_or_init(|| self.traces.files().digest())
    }

    /// Settings by which runs differ; empty if there are none.
    #[getter]
    fn randomness(&self) -> Vec<&'static str> {
        self.inner.randomness()
    }

    /// Names of the CCAs of all flows, by the kernel's names, including those that they switch to or may be given.
    #[getter]
    fn ccas(&self) -> Result<Vec<&str>> {
        let mut all = Vec::new();
        for flow in &self.inner.flows {
            all.extend(flow.switch.iter().map(|switch| switch.to.name()));
            match flow.cca.auto() {
                Some(auto) => {
                    let policy = auto.policy_in(&self.inner.selection)?;
                    // On a kernel a policy does without those that it names others for.
                    all.extend(
                        policy
                            .candidates()
                            .into_iter()
                            .map(|cca| policy.linux_substitute(cca)),
                    );
                }
                None => all.push(flow.cca.name()),
            }
        }
        Ok(all)
    }

    /// CCAs of the flows with their parameters, joined by plus signs.
    #[getter]
    pub(crate) fn lineup(&self) -> String {
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

    /// Returns the scenario with another CCA of the first flow. Several joined by plus signs are the CCAs of as many
    /// flows; missing flows are added.
    fn with_cca(&self, lineup: &str) -> Result<Self> {
        let lineup: CcaMix = lineup.parse()?;
        let mut inner = (*self.inner).clone();
        lineup.apply(&mut inner);
        inner.check_middleboxes()?;
        // Relative files in a command count from the working directory.
        inner.load_selection(Path::new(""))?;
        Ok(Self::new_with(inner, Arc::clone(&self.traces)))
    }

    /// Middleboxes on the path as texts, such as `es:at=node-1`.
    #[getter]
    fn middleboxes(&self) -> Vec<String> {
        let boxes = self.inner.path.middleboxes.iter();
        boxes.map(ToString::to_string).collect()
    }

    /// Returns the scenario with fields overridden as `field=value`; relative files count from the folder of the
    /// scenario.
    fn with_changes(&self, overrides: Vec<String>) -> Result<Self> {
        let text = self.inner.to_toml();
        let inner = scenario::Scenario::from_toml(&text, &self.inner.name, &overrides)?;
        Self::load(inner, self.traces.files().clone())
    }

    /// Returns the scenario with the state of connections sampled at every ACK (`"every-ack"`), never (`"off"`), or at
    /// an interval such as `"10ms"`.
    fn with_samples(&self, samples: &str) -> Result<Self> {
        let samples = match samples {
            "off" => Samples::Off,
            "every-ack" => Samples::EveryAck,
            interval => Samples::Interval(interval.parse::<Duration>()?),
        };
        Ok(self.with(|scenario| scenario.samples = samples))
    }

    /// Whether the access link is cellular.
    #[getter]
    fn has_radio(&self) -> bool {
        self.inner.radio.is_some()
    }

    /// Returns the scenario with every TTI of its radio recorded.
    fn with_radio_log(&self) -> Result<Self> {
        if self.inner.radio.is_none() {
            return Err(no_radio(&self.inner));
        }
        Ok(self.with(|scenario| {
            if let Some(radio) = &mut scenario.radio {
                radio.log = true;
            }
        }))
    }

    /// Further columns of the logs of the traces, as JSON by direction of the link.
    #[getter]
    fn log_facts(&self) -> Vec<(&'static str, &str)> {
        let each = self
            .traces
            .all()
            .filter_map(|(_, direction, read)| Some((direction.name(), read.facts.as_deref()?)));
        each.collect()
    }

    /// The recorded traces: file, direction of the link, how it was read, length in s, mean in Mbit/s.
    #[getter]
    fn traces(&self) -> Vec<(String, &'static str, String, f64, f64)> {
        let each = self.traces.all().map(|(file, direction, read)| {
            (
                file.display().to_string(),
                direction.name(),
                read.describe(),
                read.trace.period().as_secs_f64(),
                read.trace.mean_rate().as_mbps(),
            )
        });
        each.collect()
    }

    /// The mean rate of the best representation of each flow, bit/s; `None` for flows that play no video.
    #[getter]
    fn top_bitrates(&self) -> Vec<Option<f64>> {
        let workloads = self.inner.flows.iter().map(|flow| &flow.workload);
        workloads.map(|workload| workload.top_bitrate()).collect()
    }

    /// Warnings about the files that the workloads name.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    fn __repr__(&self) -> String {
        let inner = &self.inner;
        format!(
            "<Scenario {}: {}, {}, hash {}>",
            inner.name,
            inner.duration,
            self.lineup(),
            inner.hash()
        )
    }

    /// Returns the HTML of the scenario for a notebook: a summary, and its settings to unfold.
    fn _repr_html_(&self) -> String {
        let inner = &self.inner;
        format!(
            "<p><b>{}</b>: {}<br>{}, {}</p><details><summary>Settings</summary><pre>{}</pre></details>",
            escaped(&inner.name),
            escaped(&inner.description),
            inner.duration,
            escaped(&self.lineup()),
            escaped(&inner.to_toml())
        )
    }
}

/// Returns the text as HTML shows it.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// The JSON schema of scenario files.
#[pyfunction]
pub(crate) fn scenario_schema() -> String {
    scenario::Scenario::schema()
}

/// Returns the field of scenarios that a word of Linux or of another tool means; `None` if none is known.
#[pyfunction]
pub(crate) fn field_meant(word: &str) -> Option<String> {
    scenario::field_meant(word)
}

/// Returns whether tables or lists of a TOML text are deeper than readers of it can bear.
#[pyfunction]
pub(crate) fn is_too_deep(text: &str) -> bool {
    config::check_nesting(text).is_err()
}
