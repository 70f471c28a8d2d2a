//! Trace for Python: reading, generating, statistics and writing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use link_trace::{
    Direction, Generate, Opportunities, ReadOptions, Steps, TraceFormat, write_csv, write_mahimahi,
};
use network_builder::{Files, LoadedTrace, LogReader};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use units::{Duration, Rate};

use crate::error::{Result, reject};
use crate::faults::guarded;

/// Returns the names of the formats of trace files.
#[pyfunction]
pub(crate) fn trace_formats() -> Vec<&'static str> {
    TraceFormat::NAMES.to_vec()
}

/// Capacity of a link over time. Immutable.
#[pyclass(frozen, module = "celltcp._core")]
pub(crate) struct Trace {
    inner: Arc<link_trace::Trace>,
    /// Format, columns and units as which the file was read.
    summary: String,
}

#[pymethods]
impl Trace {
    /// Reads a file. Its format follows from the options or else from its contents; logs are read by `celltcp.logs`.
    ///
    /// The options are those that a scenario has next to `trace`: `format`, `column`, `unit`, `direction` (`down`,
    /// `up`), `holes`, `rates_end_at_row`, `step`, `run`, `dates`, `counter`.
    #[staticmethod]
    #[pyo3(signature = (path, format=None, direction=None, column=None, unit=None, **options))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        direction: Option<&str>,
        column: Option<&str>,
        unit: Option<&str>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> Result<Self> {
        let origin = path.display().to_string();
        let arguments = options.map_or_else(|| PyDict::new(py), Clone::clone);
        for (name, value) in [
            ("format", format),
            ("direction", direction),
            ("column", column),
            ("unit", unit),
        ] {
            if let Some(value) = value {
                arguments.set_item(name, value)?;
            }
        }
        let json: String = py
            .import("json")?
            .call_method1("dumps", (arguments,))?
            .extract()?;
        let options =
            ReadOptions::from_json(&json).map_err(|error| reject(format!("{origin}: {error}")))?;
        guarded(&origin, || {
            let mut files = Files::in_directory(Path::new("")).with_log_reader(log_reader());
            let loaded = files
                .trace(&path, &options, Direction::Downlink)
                .map_err(|error| reject(error.to_string()))?;
            let summary = loaded.summary;
            tracing::info!(target: "celltcp::events::traces", "{origin}: read as {summary}");
            Ok(Self {
                inner: loaded.trace,
                summary,
            })
        })
    }

    /// Generates a synthetic cellular link; no outages if `outage_interval_s` is zero.
    #[staticmethod]
    #[pyo3(signature = (
        mean_mbps, variability, correlation_s, outage_interval_s, outage_duration_s, duration_s, seed
    ))]
    fn generate(
        mean_mbps: f64,
        variability: f64,
        correlation_s: f64,
        outage_interval_s: f64,
        outage_duration_s: f64,
        duration_s: f64,
        seed: u64,
    ) -> Result<Self> {
        let seconds = |name: &str, value: f64| {
            if (0.0..1e9).contains(&value) {
                Ok(Duration::from_secs_f64(value))
            } else {
                Err(reject(format!(
                    "{name}: {value} s is not between 0 and 1e9"
                )))
            }
        };
        if !(0.0..1e6).contains(&mean_mbps) {
            return Err(reject(format!(
                "mean: {mean_mbps} Mbit/s is not between 0 and 1e6"
            )));
        }
        let generator = Generate {
            mean: Rate::from_mbps(mean_mbps),
            variability,
            correlation: seconds("correlation", correlation_s)?,
            outage_interval: seconds("outage interval", outage_interval_s)?,
            outage_duration: seconds("outage duration", outage_duration_s)?,
            period: seconds("duration", duration_s)?,
        };
        Ok(Self {
            inner: Arc::new(generator.generate(seed, 0)?),
            summary: "generated".to_owned(),
        })
    }

    /// Returns how the file was read: format, columns and units.
    #[getter]
    fn how(&self) -> &str {
        &self.summary
    }

    /// Returns the length of one pass, s.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.inner.period().as_secs_f64()
    }

    /// Returns the mean rate, Mbit/s.
    #[getter]
    fn mean_mbps(&self) -> f64 {
        self.inner.mean_rate().as_mbps()
    }

    /// Returns the longest time without capacity, s.
    #[getter]
    fn longest_gap_s(&self) -> f64 {
        self.inner.longest_gap().as_secs_f64()
    }

    /// Returns percentages, and the rates in Mbit/s that this share of the bins of `bin_s` does not exceed.
    #[pyo3(signature = (bin_s=1.0))]
    fn percentiles(&self, bin_s: f64) -> Result<Vec<(u32, f64)>> {
        let statistics = self.inner.statistics(bin(bin_s)?);
        let rates = statistics.percentiles.iter().map(|rate| rate.as_mbps());
        Ok(link_trace::PERCENTILES
            .iter()
            .map(|percent| u32::from(*percent))
            .zip(rates)
            .collect())
    }

    /// Returns the mean rate of consecutive bins, Mbit/s.
    fn rate_series(&self, bin_s: f64) -> Result<Vec<f64>> {
        let series = self.inner.rate_series(bin(bin_s)?);
        let series = series.map_err(|error| reject(format!("bin: {error}")))?;
        Ok(series.into_iter().map(Rate::as_mbps).collect())
    }

    fn __repr__(&self) -> String {
        let (seconds, mbps) = (self.duration_s(), self.mean_mbps());
        format!(
            "<Trace {}: {seconds:.1} s, mean {mbps:.3} Mbit/s>",
            self.summary
        )
    }

    /// Returns the trace in mahimahi's format; fails if it would be too long.
    fn to_mahimahi(&self) -> Result<String> {
        let mut text = String::new();
        write_mahimahi(&self.inner, &mut text)?;
        Ok(text)
    }

    /// Returns the trace as `time,Mbit/s`.
    fn to_csv(&self) -> String {
        let mut text = String::new();
        write_csv(&self.inner, &mut text).expect("a string takes any text");
        text
    }
}

/// Returns the reader of logs in Python, which is imported when a log is read.
pub(crate) fn log_reader() -> LogReader {
    LogReader::new(|path, options, direction| {
        Python::attach(|py| {
            let read = py
                .import("celltcp.logs.log")
                .and_then(|module| module.getattr("log_of_engine"))
                .and_then(|read| read.call1((path, options.to_json(), direction.name())))
                .and_then(|log| log.extract::<EngineLog<'_>>())
                .map_err(|error| error.value(py).to_string())?;
            read.loaded(py)
                .map_err(|error| format!("{}: {error}", path.display()))
        })
    })
}

/// Log read by `celltcp.logs`: its summary, JSON with further facts, and the capacity. That is either the times of
/// opportunities, ms, or intervals with lengths, ns, and rates, bit/s; `pieces` has the indices of those that begin a piece.
#[derive(FromPyObject)]
struct EngineLog<'py> {
    summary: String,
    facts: String,
    opportunities: Option<Vec<u32>>,
    lengths: Bound<'py, PyAny>,
    bps: Bound<'py, PyAny>,
    pieces: Vec<usize>,
}

impl EngineLog<'_> {
    fn loaded(self, py: Python<'_>) -> Result<LoadedTrace, String> {
        let trace: link_trace::Trace = if let Some(moments) = self.opportunities {
            let opportunities = Opportunities::new(moments);
            opportunities.map_err(|error| error.to_string())?.into()
        } else {
            let buffer = |array: &Bound<'_, PyAny>| {
                PyBuffer::<u64>::get(array).map_err(|error| error.to_string())
            };
            let (lengths, rates) = (buffer(&self.lengths)?, buffer(&self.bps)?);
            let not_contiguous = "an array of the reader of logs is not contiguous";
            let lengths = lengths.as_slice(py).ok_or(not_contiguous)?.iter();
            let rates = rates.as_slice(py).ok_or(not_contiguous)?.iter();
            let intervals = lengths.zip(rates).map(|(length, rate)| {
                (
                    Duration::from_nanos(length.get()),
                    Rate::from_bits_per_second(rate.get()),
                )
            });
            let steps = Steps::from_intervals(intervals, &self.pieces);
            steps.map_err(|error| error.to_string())?.into()
        };
        Ok(LoadedTrace {
            trace: Arc::new(trace),
            summary: self.summary,
            facts: Some(self.facts),
        })
    }
}

fn bin(seconds: f64) -> Result<Duration> {
    if (1e-3..1e6).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(reject(format!(
            "bin: {seconds} s is not between 0.001 and 1e6"
        )))
    }
}
