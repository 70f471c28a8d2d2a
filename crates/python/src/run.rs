//! Run: one run of a scenario by the native engine or on a Linux kernel.

use std::path::PathBuf;
use std::sync::Mutex;

use kernel_engine::{KernelRun, Parts};
use measurement::{Capture, CaptureFile, Options};
use native_engine::Simulation;
use network_builder::Traces;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use results::{Samples, Slots, Tables};
use units::{Duration, Instant};

use crate::columns::record_batch;
use crate::error::{Result, reject};
use crate::faults::{RunIdentity, catch, lock};
use crate::python_cca;
use crate::scenarios::Scenario;

/// Maximum wall time that a call waits for a kernel before Python can handle interrupts.
const MAX_WAIT: std::time::Duration = std::time::Duration::from_millis(300);

/// Observers of a run in addition to the recorder.
#[derive(Default)]
pub(crate) struct Observers {
    /// Whether the invariant checker verifies the run.
    pub(crate) check: bool,
    /// File for a capture.
    pub(crate) pcap: Option<PathBuf>,
    /// Node of the capture; unset: the server's host.
    pub(crate) pcap_at: Option<String>,
}

/// Run in progress.
pub(crate) struct RunInProgress {
    engine: Engine,
    identity: RunIdentity,
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
        identity: RunIdentity,
        seed: u64,
        parts: Option<&Parts>,
        observers: Observers,
    ) -> Result<Self> {
        tracing::info!(target: "celltcp::events::run", "begin: {identity}");
        let engine = match parts {
            None => start_native(scenario, traces, seed, observers)?,
            Some(parts) => {
                let options = kernel_engine::Options {
                    check: observers.check,
                    pcap: observers.pcap,
                    pcap_at: observers.pcap_at,
                    ..kernel_engine::Options::default()
                };
                let started = KernelRun::new(parts, scenario, traces, seed, &options);
                Engine::Kernel(Box::new(
                    started.map_err(|error| identity.kernel_error(&error))?,
                ))
            }
        };
        Ok(Self { engine, identity })
    }

    /// Runs until `until`; returns whether that time is reached, for which a kernel may need several calls.
    pub(crate) fn advance(&mut self, until: Instant) -> Result<bool> {
        let is_reached = match &mut self.engine {
            Engine::Native(simulation) => {
                simulation.advance(until);
                true
            }
            Engine::Kernel(kernel) => kernel
                .advance(until, MAX_WAIT)
                .map_err(|error| self.identity.kernel_error(&error))?,
        };
        if is_reached {
            // A test of the handling of panics may have requested one for this run.
            self.identity.panic_if_requested(until);
        }
        Ok(is_reached)
    }

    fn take_samples(&mut self) -> Samples {
        match &mut self.engine {
            Engine::Native(simulation) => simulation.take_samples(),
            Engine::Kernel(kernel) => kernel.take_samples(),
        }
    }

    /// Returns the simulation; only the native engine can be observed and controlled during a run.
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
        let identity = self.identity;
        let tables = match self.engine {
            Engine::Native(simulation) => simulation.finish()?,
            Engine::Kernel(kernel) => kernel
                .finish()
                .map_err(|error| identity.kernel_error(&error))?,
        };
        tracing::info!(target: "celltcp::events::run", "end: {identity}");
        Ok(tables)
    }
}

/// Starts a run of our own TCP.
fn start_native(
    scenario: &scenario::Scenario,
    traces: &Traces,
    seed: u64,
    observers: Observers,
) -> Result<Engine> {
    let file = observers.pcap.map(|file| CaptureFile::create(&file));
    let file = file
        .transpose()
        .map_err(|error| reject(error.to_string()))?;
    let options = Options {
        check: observers.check,
        pcap: file.map(|file| Box::new(file) as Capture),
        pcap_at: observers.pcap_at,
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
    InProgress(RunInProgress),
    Finished,
    /// A panic has ended it.
    Panicked(RunIdentity),
}

impl Run {
    /// Starts a run. Errors name it by the CCAs of the scenario.
    fn start(
        scenario: &Scenario,
        seed: u64,
        parts: Option<&Parts>,
        observers: Observers,
    ) -> Result<Self> {
        let (inner, traces) = (&scenario.inner, &scenario.traces);
        let identity = || RunIdentity::new(inner, scenario.lineup(), seed, parts.is_some());
        let run = catch(|| RunInProgress::start(inner, traces, identity(), seed, parts, observers))
            .unwrap_or_else(|panic| Err(identity().panic_error(&panic)))?;
        Ok(Self {
            state: Mutex::new(State::InProgress(run)),
        })
    }

    /// Does `work` on the run. The GIL is released before the state is locked: the thread that holds the lock may wait for
    /// the GIL, as in a Python CCA.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut RunInProgress) -> T + Send,
    ) -> Result<T> {
        py.detach(|| self.locked(work))
    }

    fn locked<T>(&self, work: impl FnOnce(&mut RunInProgress) -> T) -> Result<T> {
        let mut state = lock(&self.state);
        let (panic, identity) = match &mut *state {
            State::InProgress(run) => match catch(|| work(run)) {
                Ok(output) => return Ok(output),
                Err(panic) => (panic, run.identity.clone()),
            },
            State::Finished => return Err(reject("the run has been finished")),
            State::Panicked(identity) => return Err(identity.ended_error()),
        };
        let error = identity.panic_error(&panic);
        let broken = core::mem::replace(&mut *state, State::Panicked(identity));
        // Dropping the engine may panic, too, which adds nothing to the error.
        let _ = catch(|| drop(broken));
        Err(error)
    }

    fn with_simulation<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Simulation) -> T + Send,
    ) -> Result<T> {
        self.with(py, |run| run.native_only().map(work))?
    }

    /// Ends the run and returns its tables.
    fn end(&self) -> Result<Tables> {
        let mut state = lock(&self.state);
        match core::mem::replace(&mut *state, State::Finished) {
            State::InProgress(run) => {
                let identity = run.identity.clone();
                catch(|| run.finish()).unwrap_or_else(|panic| {
                    let error = identity.panic_error(&panic);
                    *state = State::Panicked(identity);
                    Err(error)
                })
            }
            State::Finished => Err(reject("the run has been finished")),
            State::Panicked(identity) => {
                let error = identity.ended_error();
                *state = State::Panicked(identity);
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
        let observers = Observers {
            check,
            pcap,
            pcap_at,
        };
        Self::start(scenario, seed, None, observers)
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
        let observers = Observers {
            check,
            pcap,
            pcap_at,
        };
        Self::start(scenario, seed, Some(&parts), observers)
    }

    /// Runs until `until_s` of simulated time, without the GIL. Returns whether that time is reached; a kernel may need
    /// several calls.
    fn advance(&self, py: Python<'_>, until_s: f64) -> Result<bool> {
        let until = Instant::ZERO + Duration::from_secs_f64(until_s);
        let is_reached = self.with(py, |run| run.advance(until)).flatten();
        // An exception that a Python CCA raised replaces the engine's error about it, and must not stay for a later call.
        python_cca::take_raised().map_or(is_reached, Err)
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
        let pair = |estimate: selection::Estimate<f64>| (estimate.value, estimate.confidence);
        let selection = self.with_simulation(py, |simulation| simulation.selection(connection))?;
        Ok(
            selection
                .map(|(cca, features)| (cca, features.0.map(|known| known.map(pair)).to_vec())),
        )
    }

    /// Switches a connection that has a selector to a CCA, at the selector's next sample.
    fn request(&self, py: Python<'_>, connection: u32, cca: &str) -> Result<()> {
        Ok(self.with_simulation(py, |simulation| simulation.request(connection, cca))??)
    }

    /// Returns the slots so far of a connection from number `first` on, as a record batch. PM (columns `a`, `b` and `c`)
    /// uses the lowest RTT so far.
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
    let batches = PyDict::new(py);
    for (table, columns) in tables.into_columns() {
        batches.set_item(table.name, into_python(py, table.columns, columns)?)?;
    }
    Ok(batches)
}

/// Returns a batch as one of pyarrow.
pub(crate) fn into_python<'py>(
    py: Python<'py>,
    infos: &[results::ColumnInfo],
    columns: Vec<results::Column>,
) -> Result<Bound<'py, PyAny>> {
    Ok(record_batch(infos, columns)?.into_pyobject(py)?.into_any())
}
