//! Own CCA: congestion controls that are Python classes.

use core::cell::RefCell;

use cca::reported::{Decide, Decision, Report, Reported, SHORTEST_INTERVAL};
use cca::{Cca, Family, registry};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use units::{Duration, Rate};

use crate::refuse;

thread_local! {
    /// Exception that a class raised during the call that this thread is in.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Takes the exception that a class raised since the last call on this thread.
pub(crate) fn take_raised() -> Option<PyErr> {
    RAISED.take()
}

fn raise(error: PyErr) {
    RAISED.with_borrow_mut(|raised| {
        raised.get_or_insert(error);
    });
}

/// Report on a connection since the last one.
#[pyclass(frozen, module = "celltcp._core", name = "Report")]
pub(crate) struct PyReport(Report);

#[pymethods]
impl PyReport {
    /// Cause of the report: "start", "interval", "loss" or "timeout".
    #[getter]
    fn cause(&self) -> &'static str {
        self.0.cause.name()
    }

    /// Time, s.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    /// Time since the last report, s.
    #[getter]
    fn interval_s(&self) -> f64 {
        self.0.interval.as_secs_f64()
    }

    /// Congestion window, segments.
    #[getter]
    fn cwnd(&self) -> u32 {
        self.0.cwnd
    }

    /// Segments in flight.
    #[getter]
    fn inflight(&self) -> u32 {
        self.0.inflight
    }

    /// Payload bytes of a full segment.
    #[getter]
    fn mss(&self) -> u32 {
        self.0.mss
    }

    /// Mean RTT in the interval, s; None without a sample.
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.0.rtt.map(Duration::as_secs_f64)
    }

    /// Smoothed RTT, s; 0 before the first sample.
    #[getter]
    fn srtt_s(&self) -> f64 {
        self.0.srtt.as_secs_f64()
    }

    /// Lowest RTT of the last five minutes, s; None before the first sample.
    #[getter]
    fn min_rtt_s(&self) -> Option<f64> {
        (self.0.min_rtt != Duration::MAX).then(|| self.0.min_rtt.as_secs_f64())
    }

    /// Segments delivered in the interval.
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered
    }

    /// Segments marked lost in the interval.
    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost
    }

    /// Segments delivered in the interval by ACKs with ECN-Echo.
    #[getter]
    fn marked(&self) -> u64 {
        self.0.marked
    }

    /// Highest delivery rate that a sample showed in the interval, Mbit/s; 0 without one.
    #[getter]
    fn delivery_rate_mbps(&self) -> f64 {
        self.0.delivery_rate.as_mbps()
    }

    /// Whether the application leaves the path underused at present.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }
}

/// Python object that controls one connection; it is made at the first report.
struct Object {
    name: &'static str,
    interval: Option<Duration>,
    class: Py<PyAny>,
    object: Option<Py<PyAny>>,
    broken: bool,
}

impl core::fmt::Debug for Object {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Object")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Object {
    fn ask(&mut self, py: Python<'_>, report: &Report) -> PyResult<Decision> {
        let object = match &self.object {
            Some(object) => object.bind(py).clone(),
            None => {
                let made = self.class.bind(py).call0()?;
                self.object = Some(made.clone().unbind());
                made
            }
        };
        let answer = object.call_method1("report", (PyReport(*report),))?;
        if answer.is_none() {
            return Ok(Decision::default());
        }
        let cwnd: Option<f64> = answer.getattr("cwnd")?.extract()?;
        let rate: Option<f64> = answer.getattr("pacing_rate_mbps")?.extract()?;
        let sane = |name: &str, value: Option<f64>, least: f64| match value {
            Some(value) if !(value.is_finite() && value >= least) => Err(refuse(format!(
                "{}: {name} {value} is not a number from {least} on",
                self.name
            ))),
            value => Ok(value),
        };
        Ok(Decision {
            cwnd: sane("cwnd", cwnd, 1.0)?.map(|segments| segments as u32),
            pacing_rate: sane("pacing_rate_mbps", rate, 0.0)?.map(Rate::from_mbps),
        })
    }
}

impl Decide for Object {
    fn name(&self) -> &'static str {
        self.name
    }

    fn interval(&self) -> Option<Duration> {
        self.interval
    }

    fn decide(&mut self, report: &Report) -> Decision {
        if self.broken {
            return Decision::default();
        }
        Python::attach(|py| {
            self.ask(py, report).unwrap_or_else(|error| {
                self.broken = true;
                raise(error);
                Decision::default()
            })
        })
    }
}

/// Adds a class to the catalogue under `name`: it is called without arguments for every connection that
/// sends, and its method `report` then about every `interval` (an RTT if none is given).
#[pyfunction]
#[pyo3(signature = (name, title, year, class_, interval=None))]
pub(crate) fn register_cca(
    name: &str,
    title: &str,
    year: u16,
    class_: Py<PyAny>,
    interval: Option<&str>,
) -> PyResult<()> {
    let plain =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(plain) {
        return Err(refuse(format!(
            "name: {name:?} is none; allowed: lower-case letters, digits, -, _ and ."
        )));
    }
    let interval = interval
        .map(|text| text.parse::<Duration>())
        .transpose()
        .map_err(|error| refuse(format!("interval: {error}")))?;
    if let Some(interval) = interval.filter(|interval| *interval < SHORTEST_INTERVAL) {
        return Err(refuse(format!(
            "interval: {interval} is too short; allowed: from {SHORTEST_INTERVAL} on"
        )));
    }
    // The catalogue is for the life of the process.
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    let build = move |_: &cca::Settings| {
        let class = Python::attach(|py| class_.clone_ref(py));
        Box::new(Reported::new(Object {
            name,
            interval,
            class,
            object: None,
            broken: false,
        })) as Box<dyn cca::CongestionControl>
    };
    registry::add(Cca {
        name,
        aliases: &[],
        title: Box::leak(title.to_owned().into_boxed_str()),
        family: Family::User,
        reference: "a class in Python",
        year,
        linux: false,
        parameters: &[],
        slow_start: None,
        build: Box::leak(Box::new(build)),
    })
    .map_err(refuse)
}
