//! Runs.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use record::{Events, Flows, Runs, Samples, Slots};
use recorder::{Capture, Options};
use sim::Simulation;
use units::{Duration, Instant};

use crate::columns::batch;
use crate::refuse;
use crate::scenarios::Scenario;

/// One run of a scenario by the native engine.
#[pyclass(frozen, module = "celltcp._core")]
pub(crate) struct Run {
    simulation: Mutex<Option<Simulation>>,
}

impl Run {
    fn with<T>(&self, work: impl FnOnce(&mut Simulation) -> T) -> PyResult<T> {
        let mut guard = self
            .simulation
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        guard
            .as_mut()
            .map(work)
            .ok_or_else(|| refuse("the run has been finished"))
    }
}

#[pymethods]
impl Run {
    /// A run with `seed`; `check` verifies it by the invariant checker, `pcap` names the file for a
    /// capture at the server.
    #[new]
    #[pyo3(signature = (scenario, seed, *, check=false, pcap=None))]
    fn new(scenario: &Scenario, seed: u64, check: bool, pcap: Option<PathBuf>) -> PyResult<Self> {
        let pcap = pcap
            .map(|file| {
                let open = File::create(&file);
                open.map(|out| Box::new(BufWriter::new(out)) as Capture)
                    .map_err(|error| refuse(format!("{}: {error}", file.display())))
            })
            .transpose()?;
        let options = Options { check, pcap };
        let simulation = Simulation::new(&scenario.inner, &scenario.traces, seed, options);
        Ok(Self {
            simulation: Mutex::new(Some(simulation.map_err(refuse)?)),
        })
    }

    /// Runs until `until_s` of simulated time, without the GIL; answers whether the end is reached.
    fn advance(&self, py: Python<'_>, until_s: f64) -> PyResult<bool> {
        py.detach(|| {
            self.with(|simulation| {
                simulation.advance(Instant::ZERO + Duration::from_secs_f64(until_s));
                simulation.is_finished()
            })
        })
    }

    /// The samples since the last call, as a record batch.
    fn take_samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let samples = self.with(Simulation::take_samples)?;
        into_python(py, Samples::COLUMNS, samples.into_columns())
    }

    /// Ends the run: record batches by the names runs, flows, slots, samples (those not taken yet)
    /// and events.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut guard = self
            .simulation
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let simulation = guard
            .take()
            .ok_or_else(|| refuse("the run has been finished"))?;
        let tables = py.detach(|| simulation.finish()).map_err(refuse)?;
        let all = PyDict::new(py);
        let named = [
            ("runs", Runs::COLUMNS, tables.runs.into_columns()),
            ("flows", Flows::COLUMNS, tables.flows.into_columns()),
            ("slots", Slots::COLUMNS, tables.slots.into_columns()),
            ("samples", Samples::COLUMNS, tables.samples.into_columns()),
            ("events", Events::COLUMNS, tables.events.into_columns()),
        ];
        for (name, infos, columns) in named {
            all.set_item(name, into_python(py, infos, columns)?)?;
        }
        Ok(all)
    }
}

/// A batch as an object that any library with Arrow's C data interface takes.
fn into_python<'py>(
    py: Python<'py>,
    infos: &[record::ColumnInfo],
    columns: Vec<record::Column>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(batch(infos, columns)?.into_pyobject(py)?.into_any())
}
