//! Congestion controls of users: Python classes, and shared libraries.

use core::cell::RefCell;
use std::path::PathBuf;

use cca::report_driven::{Decision, MIN_INTERVAL, Report, ReportDriven, ReportHandler};
use cca::{CcaInfo, Family, registry};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict};
use scenario::{ALL, OWN};
use selection::Auto;
use units::{Duration, Rate};

use crate::error::{Error, Result, reject};
use crate::own_parameters::{Kind, declare};

thread_local! {
    /// Exception that a class raised during the call that this thread is in.
    static RAISED: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// Removes and returns the exception that a class raised since the last call on this thread.
pub(crate) fn take_raised() -> Option<Error> {
    RAISED.take()
}

/// Stores an exception for [`take_raised`], unless an earlier one is stored.
fn raise(error: Error) {
    RAISED.with_borrow_mut(|raised| {
        raised.get_or_insert(error);
    });
}

/// Report on a connection since the last one.
#[pyclass(frozen, get_all, module = "celltcp._core", name = "Report")]
pub(crate) struct PyReport {
    /// Cause of the report: "start", "interval", "loss" or "timeout".
    cause: &'static str,
    /// Time, s.
    now_s: f64,
    /// Time since the last report, s.
    interval_s: f64,
    /// Congestion window, segments.
    cwnd: u32,
    /// Segments in flight.
    inflight: u32,
    /// Payload bytes of a full segment.
    mss: u32,
    /// Mean RTT in the interval, s; None without a sample.
    rtt_s: Option<f64>,
    /// Smoothed RTT, s; 0 before the first sample.
    srtt_s: f64,
    /// Lowest RTT of the last five minutes, s; None before the first sample.
    min_rtt_s: Option<f64>,
    /// Segments delivered in the interval.
    delivered: u64,
    /// Segments marked lost in the interval.
    lost: u64,
    /// Segments delivered in the interval by ACKs with ECN-Echo.
    marked: u64,
    /// Highest delivery rate that a sample showed in the interval, Mbit/s; 0 without one.
    delivery_rate_mbps: f64,
    /// Whether the application leaves the path underused now.
    app_limited: bool,
}

impl From<&Report> for PyReport {
    fn from(report: &Report) -> Self {
        Self {
            cause: report.cause.name(),
            now_s: report.now.as_secs_f64(),
            interval_s: report.interval.as_secs_f64(),
            cwnd: report.cwnd,
            inflight: report.inflight,
            mss: report.mss,
            rtt_s: report.rtt.map(Duration::as_secs_f64),
            srtt_s: report.srtt.as_secs_f64(),
            min_rtt_s: (report.min_rtt != Duration::MAX).then(|| report.min_rtt.as_secs_f64()),
            delivered: report.delivered,
            lost: report.lost,
            marked: report.marked,
            delivery_rate_mbps: report.delivery_rate.as_mbps(),
            app_limited: report.app_limited,
        }
    }
}

/// Handler of reports by a Python object, which controls one connection. The object is created at the first report.
struct PythonHandler {
    name: &'static str,
    interval: Option<Duration>,
    class: Py<PyAny>,
    /// Parameters that differ from the defaults of the class, as text.
    settings: cca::Settings,
    /// Types of the parameters by name.
    kinds: &'static [(String, Kind)],
    object: Option<Py<PyAny>>,
    /// Whether the object has raised an exception, after which it is not called again.
    has_failed: bool,
}

impl core::fmt::Debug for PythonHandler {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PythonHandler")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl PythonHandler {
    /// Returns the parameters that were set as keyword arguments of the class.
    fn arguments<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let arguments = PyDict::new(py);
        for (name, kind) in self.kinds {
            if let Some(text) = self.settings.get(name) {
                arguments.set_item(name, kind.value(py, text)?)?;
            }
        }
        Ok(arguments)
    }

    /// Passes a report to the object; returns its decision.
    fn report(&mut self, py: Python<'_>, report: &Report) -> Result<Decision> {
        let object = match &self.object {
            Some(object) => object.bind(py).clone(),
            None => {
                let created = self.class.bind(py).call((), Some(&self.arguments(py)?))?;
                self.object = Some(created.clone().unbind());
                created
            }
        };
        let answer = object.call_method1("report", (PyReport::from(report),))?;
        if answer.is_none() {
            return Ok(Decision::default());
        }
        let number =
            |name: &str| -> Result<Option<f64>> {
                let value = answer.getattr(name).and_then(|value| value.extract());
                value.map_err(|_| {
                let shown = answer.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
                reject(format!(
                    "{}: report answers {shown}, which has no number {name}; allowed: None, or a \
                     celltcp.Decision with numbers or None",
                    self.name
                ))
            })
            };
        let (cwnd, rate) = (number("cwnd")?, number("pacing_rate_mbps")?);
        let checked = |name: &str, value: Option<f64>, min: f64| match value {
            Some(value) if !(value.is_finite() && value >= min) => Err(reject(format!(
                "{}: {name} {value} is not a number from {min} on",
                self.name
            ))),
            value => Ok(value),
        };
        Ok(Decision {
            cwnd: checked("cwnd", cwnd, 1.0)?.map(|segments| segments as u32),
            pacing_rate: checked("pacing_rate_mbps", rate, 0.0)?.map(Rate::from_mbps),
        })
    }
}

impl ReportHandler for PythonHandler {
    fn interval(&self) -> Option<Duration> {
        self.interval
    }

    fn decide(&mut self, report: &Report) -> Decision {
        if self.has_failed {
            return Decision::default();
        }
        Python::attach(|py| {
            self.report(py, report).unwrap_or_else(|error| {
                self.has_failed = true;
                raise(error);
                Decision::default()
            })
        })
    }
}

/// Checks the name of a user's congestion control.
fn check_name(name: &str) -> Result<()> {
    let is_allowed =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(is_allowed) {
        return Err(reject(format!(
            "name: invalid {name:?}; allowed: lower-case letters, digits, -, _ and ."
        )));
    }
    if [ALL, OWN, Auto::NAME].contains(&name) {
        return Err(reject(format!(
            "name: {name:?} has a meaning in lists of congestion controls"
        )));
    }
    Ok(())
}

/// Adds the congestion controls of a shared library to the catalogue, and returns their names.
#[pyfunction]
pub(crate) fn register_library(file: PathBuf) -> Result<Vec<&'static str>> {
    let ccas = cca_plugin::load(&file, |message| raise(reject(message)))?;
    ccas.iter().try_for_each(|cca| check_name(cca.name))?;
    let added = ccas.into_iter().map(|cca| {
        registry::add(cca)?;
        Ok(cca.name)
    });
    added.collect()
}

/// Adds a class to the catalogue under `name`. It is called for every connection that sends, with the parameters that were
/// set as keyword arguments. Its method `report` is called about every `interval` (an RTT if none is given). `parameters`
/// are names, types (`bool`, `int`, `float`, `str`) and defaults as text.
#[pyfunction]
#[pyo3(signature = (name, title, year, class_, interval=None, parameters=Vec::new()))]
pub(crate) fn register_cca(
    name: &str,
    title: &str,
    year: u16,
    class_: Py<PyAny>,
    interval: Option<&str>,
    parameters: Vec<(String, String, String)>,
) -> Result<()> {
    check_name(name)?;
    let interval = interval
        .map(|text| text.parse::<Duration>())
        .transpose()
        .map_err(|error| reject(format!("interval: {error}")))?;
    if let Some(interval) = interval.filter(|interval| *interval < MIN_INTERVAL) {
        return Err(reject(format!(
            "interval: {interval} is too short; allowed: from {MIN_INTERVAL} on"
        )));
    }
    let (parameters, kinds) = declare(parameters)?;
    // Entries of the catalogue live as long as the process.
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    let build = move |settings: &cca::Settings| {
        let class = Python::attach(|py| class_.clone_ref(py));
        Box::new(ReportDriven::new(PythonHandler {
            name,
            interval,
            class,
            settings: settings.clone(),
            kinds,
            object: None,
            has_failed: false,
        })) as Box<dyn cca::CongestionControl>
    };
    Ok(registry::add(CcaInfo {
        name,
        aliases: &[],
        title: Box::leak(title.to_owned().into_boxed_str()),
        family: Family::User,
        reference: "a class in Python",
        year,
        linux: false,
        parameters,
        slow_start: None,
        build: Box::leak(Box::new(build)),
    })?)
}
