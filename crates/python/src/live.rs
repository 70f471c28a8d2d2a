//! Live run: the path of a scenario in real time, between programs that Python starts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use live::{AccessState, Lateness, LiveOptions, LiveRun, Replay, Session, Traffic};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use units::Duration;

use crate::error::{Result, reject};
use crate::faults::lock;
use crate::run::tables_into_python;
use crate::scenarios::Scenario;

/// Returns the congestion control that the kernel of this machine uses by default.
#[pyfunction]
pub(crate) fn machine_cca() -> String {
    live::machine_cca()
}

/// Moves the process to a user namespace, in which it can create network namespaces. Raises `CelltcpError` if the kernel
/// rejects that.
#[pyfunction]
pub(crate) fn enter_user_namespace() -> Result<()> {
    live::enter_user_namespace().map_err(|error| {
        reject(format_args!(
            "no user namespace can be created: {error}; live runs need root, or a process with a single thread and a \
             kernel that lets users create user namespaces (sysctl user.max_user_namespaces, \
             kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns)"
        ))
    })
}

/// Lets programs that the calling thread starts inherit its rights of the user namespace.
#[pyfunction]
pub(crate) fn pass_on_rights() -> Result<()> {
    Ok(live::pass_on_rights()?)
}

/// The path of a scenario in real time, with a host for programs at each of its ends.
#[pyclass(frozen, name = "LiveRun", module = "celltcp._core")]
pub(crate) struct PyLiveRun(Mutex<LiveRun>);

impl PyLiveRun {
    fn with<T>(&self, work: impl FnOnce(&mut LiveRun) -> T) -> T {
        work(&mut lock(&self.0))
    }
}

#[pymethods]
impl PyLiveRun {
    /// Sets up `hosts`, nodes of the scenario, and starts the path between them.
    ///
    /// `cca` is the congestion control of their programs, `phones` the number of phones in the cell, and `folder` a place
    /// for temporary files. `log` is a file for arrivals, `pcap` one for a capture at the host `pcap_at`, or else at the
    /// server. With `outside`, hosts reach other addresses through the server, which resolves names at `RESOLVER`.
    /// With `spin`, the path never sleeps.
    #[new]
    #[pyo3(signature = (scenario, seed, hosts, folder, *, cca=None, phones=1, log=None, pcap=None, pcap_at=None, outside=false, spin=false))]
    #[allow(
        clippy::too_many_arguments,
        reason = "they are the arguments of the Python function"
    )]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        seed: u64,
        hosts: Vec<String>,
        folder: PathBuf,
        cca: Option<String>,
        phones: u32,
        log: Option<PathBuf>,
        pcap: Option<PathBuf>,
        pcap_at: Option<String>,
        outside: bool,
        spin: bool,
    ) -> Result<Self> {
        let options = LiveOptions {
            seed,
            cca,
            phones,
            hosts,
            log,
            pcap,
            pcap_at,
            outside,
            spin,
        };
        let started =
            py.detach(|| LiveRun::start(&scenario.inner, &scenario.traces, &options, &folder));
        Ok(Self(Mutex::new(started.map_err(reject)?)))
    }

    /// Moves the calling thread to a host for good: programs that it starts are there.
    fn enter(&self, host: &str) -> Result<()> {
        Ok(self.with(|run| run.enter(host))?)
    }

    /// Returns the IPv4 address of a host; `None` if there is no such host.
    fn address(&self, host: &str) -> Option<String> {
        self.with(|run| run.address(host))
            .map(|address| address.to_string())
    }

    /// Connects a host with other networks by a device of the server, in a run with `outside`.
    fn connect_outside(&self, host: &str, device: &str) -> Result<()> {
        self.with(|run| run.connect_outside(host, device))
            .map_err(reject)
    }

    /// Bytes of the largest packet.
    #[getter]
    fn mtu(&self) -> u32 {
        self.with(|run| run.mtu())
    }

    /// Returns whether the path still runs. It ends early by a failure only, which `stop` raises.
    fn is_running(&self) -> bool {
        self.with(|run| run.is_running())
    }

    /// Returns the time of the path, the packets by destination, the lateness, and the state of the access
    /// link.
    fn status<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        self.with(|run| {
            run.with_progress(|progress| {
                let status = status_dict(py, &progress.session)?;
                status.set_item("lateness", lateness_dict(py, &progress.lateness)?)?;
                status.set_item("cpu_share", progress.cpu_share())?;
                status.set_item("without_route", progress.no_route)?;
                status.set_item("refused", progress.refused)?;
                status.set_item("access", access_dict(py, progress.session.access())?)?;
                Ok(status)
            })
        })
    }

    /// Returns a record batch by the name of each of `result_tables`, of the run so far.
    fn tables<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let snapshot =
            || self.with(|run| run.with_progress(|progress| progress.session.snapshot()));
        tables_into_python(py, py.detach(|| snapshot().tables()))
    }

    /// Changes the path to the last of `steps`: scenarios that each differ from the one before in their wires only. `fields`
    /// are the texts of the changes for the log. Returns the time of the change, s. Raises `CelltcpError` if a scenario
    /// differs in anything else; the path is then unchanged.
    fn change(
        &self,
        py: Python<'_>,
        steps: Vec<PyRef<'_, Scenario>>,
        fields: Vec<String>,
    ) -> Result<f64> {
        let steps = steps.iter();
        let steps: Vec<_> = steps
            .map(|step| (Arc::clone(&step.inner), Arc::clone(&step.traces)))
            .collect();
        let at = py.detach(|| {
            let steps: Vec<_> = steps
                .iter()
                .map(|(scenario, traces)| (&**scenario, &**traces))
                .collect();
            self.with(|run| run.change(&steps, fields))
        });
        Ok(at.map_err(reject)?.since_start().as_secs_f64())
    }

    /// Interrupts the wires next to the phones for this many seconds from now on. Returns the time, s.
    fn interrupt(&self, py: Python<'_>, duration_s: f64) -> Result<f64> {
        let duration = Duration::from_secs_f64(duration_s);
        let at = py.detach(|| self.with(|run| run.interrupt(duration)));
        Ok(at.map_err(reject)?.since_start().as_secs_f64())
    }

    /// Stops the path. Status and tables remain available.
    fn stop(&self, py: Python<'_>) -> Result<()> {
        let stopped = py.detach(|| self.with(LiveRun::stop));
        tracing::info!(target: "celltcp::events::live", "path stopped, devices removed");
        Ok(stopped?)
    }
}

/// A live run that was repeated in virtual time from the log of its arrivals.
#[pyclass(frozen, module = "celltcp._core")]
pub(crate) struct ReplayedRun(Mutex<Replay>);

#[pymethods]
impl ReplayedRun {
    /// Repeats the run of a log.
    #[new]
    fn new(py: Python<'_>, file: PathBuf) -> Result<Self> {
        let replayed = py.detach(|| live::replay(&file)).map_err(reject)?;
        Ok(Self(Mutex::new(replayed)))
    }

    /// The scenario of the run: as TOML, with the folder from which its files count, and their texts.
    #[getter]
    fn scenario(&self) -> (String, PathBuf, BTreeMap<PathBuf, String>) {
        let header = &lock(&self.0).header.scenario;
        (
            header.scenario.clone(),
            header.directory.clone(),
            header.files.clone(),
        )
    }

    /// Seed of the path.
    #[getter]
    fn seed(&self) -> u64 {
        lock(&self.0).header.seed
    }

    /// Congestion control that the connections are named by.
    #[getter]
    fn cca(&self) -> String {
        lock(&self.0).header.cca.clone()
    }

    /// Version of the kernel that the programs ran on.
    #[getter]
    fn kernel(&self) -> String {
        lock(&self.0).header.kernel.clone()
    }

    /// Number of the packets that left the path.
    #[getter]
    fn departures(&self) -> u64 {
        lock(&self.0).digest.departures
    }

    /// Whether the departures are those of the live run, bit for bit; `None` if that was killed.
    #[getter]
    fn same(&self) -> Option<bool> {
        let replay = lock(&self.0);
        Some(replay.recorded? == replay.digest)
    }

    /// Changes of the path, such as `path.loss=1%`, with their times, s.
    #[getter]
    fn changes(&self) -> Vec<(f64, String)> {
        let replay = lock(&self.0);
        let changes = replay.changes.iter();
        changes
            .map(|(at, change)| (at.since_start().as_secs_f64(), change.clone()))
            .collect()
    }

    /// Returns the time of the path and the packets by destination.
    fn status<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        status_dict(py, &lock(&self.0).session)
    }

    /// Returns a record batch by the name of each of `result_tables`.
    fn tables<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        tables_into_python(py, lock(&self.0).session.snapshot().tables())
    }
}

/// Returns the time of a path, and the packets by destination.
fn status_dict<'py>(py: Python<'py>, session: &Session) -> Result<Bound<'py, PyDict>> {
    let status = PyDict::new(py);
    status.set_item("time_s", session.now().since_start().as_secs_f64())?;
    let traffic = PyDict::new(py);
    for (host, counts) in session.traffic() {
        traffic.set_item(host, counts_dict(py, counts)?)?;
    }
    status.set_item("to", traffic)?;
    Ok(status)
}

/// Returns the state of an access link; without SINR and cell on a wire.
fn access_dict(py: Python<'_>, access: AccessState) -> Result<Bound<'_, PyDict>> {
    let fields = PyDict::new(py);
    for ((direction, capacity), queue) in ["down", "up"]
        .iter()
        .zip(access.capacity_bps)
        .zip(access.queue_bytes)
    {
        fields.set_item(format!("capacity_{direction}_mbps"), capacity as f64 / 1e6)?;
        fields.set_item(format!("queue_{direction}_bytes"), queue)?;
    }
    fields.set_item("sinr_db", access.sinr_db)?;
    fields.set_item("cell", access.cell)?;
    Ok(fields)
}

/// Returns counts of packets; delays in seconds, without any if none has arrived.
fn counts_dict<'py>(py: Python<'py>, counts: &Traffic) -> Result<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("packets", counts.sent)?;
    fields.set_item("bytes", counts.sent_bytes)?;
    fields.set_item("delivered_packets", counts.delivered)?;
    fields.set_item("delivered_bytes", counts.delivered_bytes)?;
    fields.set_item("lost_packets", counts.lost)?;
    fields.set_item("marked_packets", counts.marked)?;
    for (name, share) in [
        ("delay_p50_s", 0.5),
        ("delay_p95_s", 0.95),
        ("delay_p99_s", 0.99),
    ] {
        fields.set_item(name, counts.delay(share).map(Duration::as_secs_f64))?;
    }
    Ok(fields)
}

fn lateness_dict<'py>(py: Python<'py>, lateness: &Lateness) -> Result<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("departures", lateness.departures())?;
    fields.set_item("p50_us", lateness.quantile(0.5).as_micros())?;
    fields.set_item("p99_us", lateness.quantile(0.99).as_micros())?;
    fields.set_item("max_us", lateness.max().as_micros())?;
    fields.set_item("late_share", lateness.late_share())?;
    fields.set_item("valid", lateness.is_valid())?;
    Ok(fields)
}
