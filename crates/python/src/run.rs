//! Run: one run of a scenario by the native engine or on a Linux kernel.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use kernel_engine::{KernelRun, Parts};
use measurement::{Capture, CaptureFile, Options};
use native_engine::Simulation;
use network_builder::Traces;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use results::{Samples, Slots, Tables};
use units::{Duration, Instant};

use crate::columns::batch;
use crate::error::{Result, reject};
use crate::faults::{Case, catch};
use crate::python_cca;
use crate::scenarios::Scenario;

/// Time that a call waits for a kernel before Python can handle interrupts.
const WAIT: std::time::Duration = std::time::Duration::from_millis(300);

/// Observers of a run in addition to the recorder.
#[derive(Default)]
pub(crate) struct Watch {
    /// Whether the invariant checker verifies the run.
    pub(crate) check: bool,
    /// File for a capture.
    pub(crate) pcap: Option<PathBuf>,
    /// Node of the capture; unset: the server's host.
    pub(crate) pcap_at: Option<String>,
}

/// Run in progress: the engine, and the run's name for errors.
pub(crate) struct RunInProgress {
    engine: Engine,
    case: Case,
}

/// Engine of a run: our own TCP, or a Linux kernel.
enum Engine {
    /// Our own TCP.
    Native(Box<Simulation>),
    /// A Linux kernel.
    Kernel(Box<KernelRun>),
}

impl RunInProgress {
    /// Starts a run, on a Linux kernel if its parts are given.
    pub(crate) fn start(
        scenario: &scenario::Scenario,
        traces: &Traces,
        case: Case,
        seed: u64,
        parts: Option<&Parts>,
        watch: Watch,
    ) -> Result<Self> {
        tracing::info!(target: "celltcp::events::run", "begin: {case}");
        let engine = match parts {
            None => native(scenario, traces, seed, watch)?,
            Some(parts) => {
                let options = kernel_engine::Options {
                    check: watch.check,
                    pcap: watch.pcap,
                    pcap_at: watch.pcap_at,
                    ..kernel_engine::Options::default()
                };
                let started = KernelRun::new(parts, scenario, traces, seed, &options);
                Engine::Kernel(Box::new(started.map_err(|error| case.failed(&error))?))
            }
        };
        Ok(Self { engine, case })
    }

    /// Runs until `until`; returns whether it has come so far, for which a kernel may need several calls.
    pub(crate) fn advance(&mut self, until: Instant) -> Result<bool> {
        let reached = match &mut self.engine {
            Engine::Native(simulation) => {
                simulation.advance(until);
                true
            }
            Engine::Kernel(kernel) => kernel
                .advance(until, WAIT)
                .map_err(|error| self.case.failed(&error))?,
        };
        if reached {
            self.case.reached(until);
        }
        Ok(reached)
    }

    fn take_samples(&mut self) -> Samples {
        match &mut self.engine {
            Engine::Native(simulation) => simulation.take_samples(),
            Engine::Kernel(kernel) => kernel.take_samples(),
        }
    }

    /// Returns the simulation; a kernel is no state machine that an agent can follow.
    fn native_only(&mut self) -> Result<&mut Simulation> {
        match &mut self.engine {
            Engine::Native(simulation) => Ok(simulation),
            Engine::Kernel(_) => Err(reject(
                "engine: an agent cannot follow a run on a kernel; allowed: native",
            )),
        }
    }

    /// Ends the run and returns its tables.
    pub(crate) fn finish(self) -> Result<Tables> {
        self.engine.finish(&self.case)
    }
}

impl Engine {
    /// Ends the run, which errors call `case`, and returns its tables.
    fn finish(self, case: &Case) -> Result<Tables> {
        let tables = match self {
            Self::Native(simulation) => simulation.finish()?,
            Self::Kernel(kernel) => kernel.finish().map_err(|error| case.failed(&error))?,
        };
        tracing::info!(target: "celltcp::events::run", "end: {case}");
        Ok(tables)
    }
}

/// Starts a run of our own TCP.
fn native(
    scenario: &scenario::Scenario,
    traces: &Traces,
    seed: u64,
    watch: Watch,
) -> Result<Engine> {
    let pcap = watch
        .pcap
        .map(|file| {
            let created = CaptureFile::create(&file);
            created
                .map(|out| Box::new(out) as Capture)
                .map_err(|error| reject(error.to_string()))
        })
        .transpose()?;
    let options = Options {
        check: watch.check,
        pcap,
        pcap_at: watch.pcap_at,
    };
    let simulation = Simulation::new(scenario, traces, seed, options)?;
    Ok(Engine::Native(Box::new(simulation)))
}

/// One run of a scenario.
#[pyclass(frozen, module = "celltcp._core")]
pub(crate) struct Run {
    state: Mutex<State>,
}

/// State of a run.
enum State {
    RunInProgress(RunInProgress),
    Finished,
    /// A panic has ended it; errors name the run.
    Broken(Case),
}

impl Run {
    /// Starts a run. Errors name it by the CCAs of the scenario.
    fn start(scenario: &Scenario, seed: u64, parts: Option<&Parts>, watch: Watch) -> Result<Self> {
        let (inner, traces) = (&scenario.inner, &scenario.traces);
        let case = || Case::new(inner, scenario.lineup(), seed, parts.is_some());
        let going = catch(|| RunInProgress::start(inner, traces, case(), seed, parts, watch))
            .unwrap_or_else(|panic| Err(case().panicked(&panic)))?;
        Ok(Self {
            state: Mutex::new(State::RunInProgress(going)),
        })
    }

    /// Does `work` on the run, without the GIL: what holds the lock may need it, as an own CCA does.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut RunInProgress) -> T + Send,
    ) -> Result<T> {
        py.detach(|| self.locked(work))
    }

    fn locked<T>(&self, work: impl FnOnce(&mut RunInProgress) -> T) -> Result<T> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let panic = match &mut *state {
            State::RunInProgress(going) => match catch(|| work(going)) {
                Ok(done) => return Ok(done),
                Err(panic) => panic,
            },
            State::Finished => return Err(reject("the run has been finished")),
            State::Broken(case) => return Err(case.ended_error()),
        };
        let State::RunInProgress(RunInProgress { engine, case }) =
            core::mem::replace(&mut *state, State::Finished)
        else {
            return Err(reject("the run has been finished"));
        };
        let error = case.panicked(&panic);
        *state = State::Broken(case);
        // The rest of the engine may panic, too, which adds nothing to the error.
        let _ = catch(|| drop(engine));
        Err(error)
    }

    fn with_simulation<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Simulation) -> T + Send,
    ) -> Result<T> {
        self.with(py, |going| going.native_only().map(work))?
    }

    /// Ends the run and returns its tables.
    fn end(&self) -> Result<Tables> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match core::mem::replace(&mut *state, State::Finished) {
            State::RunInProgress(RunInProgress { engine, case }) => catch(|| engine.finish(&case))
                .unwrap_or_else(|panic| {
                    let error = case.panicked(&panic);
                    *state = State::Broken(case);
                    Err(error)
                }),
            State::Finished => Err(reject("the run has been finished")),
            State::Broken(case) => {
                let error = case.ended_error();
                *state = State::Broken(case);
                Err(error)
            }
        }
    }
}

/// Value and confidence of a feature; `None` while it is unknown.
type KnownValue = Option<(f64, f64)>;

#[pymethods]
impl Run {
    /// Creates a run of the native engine with `seed`. `check` turns the invariant checker on, `pcap` names the file
    /// for a capture at the node `pcap_at`, or else at the server.
    #[new]
    #[pyo3(signature = (scenario, seed, *, check=false, pcap=None, pcap_at=None))]
    fn new(
        scenario: &Scenario,
        seed: u64,
        check: bool,
        pcap: Option<PathBuf>,
        pcap_at: Option<String>,
    ) -> Result<Self> {
        let watch = Watch {
            check,
            pcap,
            pcap_at,
        };
        Self::start(scenario, seed, None, watch)
    }

    /// Creates a run on a Linux kernel. `linux`, `guest` and `path` are the files of the kernel, of the guest's program
    /// and of the path that the kernel loads.
    #[staticmethod]
    #[pyo3(signature = (linux, guest, path, scenario, seed, *, check=false, pcap=None, pcap_at=None))]
    #[allow(
        clippy::too_many_arguments,
        reason = "they are the arguments of the Python function"
    )]
    fn on_kernel(
        linux: PathBuf,
        guest: PathBuf,
        path: PathBuf,
        scenario: &Scenario,
        seed: u64,
        check: bool,
        pcap: Option<PathBuf>,
        pcap_at: Option<String>,
    ) -> Result<Self> {
        let parts = Parts { linux, guest, path };
        let watch = Watch {
            check,
            pcap,
            pcap_at,
        };
        Self::start(scenario, seed, Some(&parts), watch)
    }

    /// Runs until `until_s` of simulated time, without the GIL. Returns whether that time is reached; a kernel may need
    /// several calls.
    fn advance(&self, py: Python<'_>, until_s: f64) -> Result<bool> {
        let until = Instant::ZERO + Duration::from_secs_f64(until_s);
        let reached = self.with(py, |going| going.advance(until)).flatten();
        // The exception of a class comes before the engine's error about it, and never belongs to a later call.
        python_cca::take_raised().map_or(reached, Err)
    }

    /// Returns the samples since the last call, as a record batch.
    fn take_samples<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let samples = self.with(py, RunInProgress::take_samples)?;
        into_python(py, Samples::COLUMNS, samples.into_columns())
    }

    /// Returns the numbers of the open connections that have a selector, in ascending order.
    fn selected(&self, py: Python<'_>) -> Result<Vec<u32>> {
        self.with_simulation(py, |simulation| simulation.selected())
    }

    /// Returns the CCA in use of a connection and its features, each as value and confidence, or `None` while unknown;
    /// `None` if the connection is not open or has no selector.
    fn selection(
        &self,
        py: Python<'_>,
        connection: u32,
    ) -> Result<Option<(&'static str, Vec<KnownValue>)>> {
        let known = |estimate: selection::Estimate<f64>| (estimate.value, estimate.confidence);
        let selection = self.with_simulation(py, |simulation| simulation.selection(connection))?;
        Ok(selection.map(|(cca, features)| (cca, features.0.map(|each| each.map(known)).to_vec())))
    }

    /// Has a CCA take over a connection that has a selector, at the selector's next sample.
    fn request(&self, py: Python<'_>, connection: u32, cca: &str) -> Result<()> {
        Ok(self.with_simulation(py, |simulation| simulation.request(connection, cca))??)
    }

    /// Returns the slots so far of a connection from number `first` on, as a record batch. PM takes the lowest RTT so
    /// far.
    fn slots_from<'py>(
        &self,
        py: Python<'py>,
        connection: u32,
        first: usize,
    ) -> Result<Bound<'py, PyAny>> {
        let slots =
            self.with_simulation(py, |simulation| simulation.slots_from(connection, first))?;
        into_python(py, Slots::COLUMNS, slots.into_columns())
    }

    /// Ends the run and returns a record batch by the name of each of `result_tables`; samples are those since the last
    /// call.
    fn finish<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let tables = py.detach(|| self.end())?;
        tables_into_python(py, tables)
    }
}

/// Returns a record batch of pyarrow by the name of each table.
pub(crate) fn tables_into_python(py: Python<'_>, tables: Tables) -> Result<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for (table, columns) in tables.into_columns() {
        all.set_item(table.name, into_python(py, table.columns, columns)?)?;
    }
    Ok(all)
}

/// Returns a batch as one of pyarrow.
pub(crate) fn into_python<'py>(
    py: Python<'py>,
    infos: &[results::ColumnInfo],
    columns: Vec<results::Column>,
) -> Result<Bound<'py, PyAny>> {
    Ok(batch(infos, columns)?.into_pyobject(py)?.into_any())
}
