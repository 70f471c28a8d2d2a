//! Trace for Python: reading, generating, statistics and writing.

use std::path::PathBuf;

use link_trace::{Direction, Generate, ReadOptions, TraceFormat, write_csv, write_mahimahi};
use pyo3::prelude::*;
use units::{Duration, Rate};

use crate::faults::guarded;
use crate::refuse;

/// Returns the names of the formats of trace files.
#[pyfunction]
pub(crate) fn trace_formats() -> Vec<&'static str> {
    TraceFormat::NAMES.to_vec()
}

/// Capacity of a link over time. Immutable.
#[pyclass(frozen, module = "celltcp._core")]
pub(crate) struct Trace {
    inner: link_trace::Trace,
    how: String,
}

#[pymethods]
impl Trace {
    /// Reads a file, as its name and contents say and the options beside it.
    ///
    /// `format` is `mahimahi`, `csv`, `5gdataset` or `nyu-mets`; `direction` (`down`, `up`) chooses among rates of two
    /// directions; `column` and `unit` are those of a table, `RATE` or `TIME,RATE`.
    #[staticmethod]
    #[pyo3(signature = (path, format=None, direction=None, column=None, unit=None))]
    fn read(
        path: PathBuf,
        format: Option<&str>,
        direction: Option<&str>,
        column: Option<String>,
        unit: Option<String>,
    ) -> PyResult<Self> {
        let origin = path.display().to_string();
        let direction = match direction {
            None => None,
            Some("down") => Some(Direction::Downlink),
            Some("up") => Some(Direction::Uplink),
            Some(other) => return Err(refuse(format!("direction: {other:?} is not down or up"))),
        };
        let format = match format {
            None => None,
            Some(name) => Some(name.parse::<TraceFormat>().map_err(|_| {
                let allowed = TraceFormat::NAMES.join(", ");
                refuse(format!("format: {name:?} is not one of {allowed}"))
            })?),
        };
        let text =
            link_trace::file_text(&path).map_err(|error| refuse(format!("{origin}: {error}")))?;
        let reading = ReadOptions {
            format,
            column,
            unit,
            direction,
        };
        let recording = guarded(&origin, || {
            link_trace::read(&text, &origin, &reading, Direction::Downlink).map_err(refuse)
        })?;
        Ok(Self {
            how: recording.summary,
            inner: recording.trace,
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
    ) -> PyResult<Self> {
        let seconds = |name: &str, value: f64| {
            if (0.0..1e9).contains(&value) {
                Ok(Duration::from_secs_f64(value))
            } else {
                Err(refuse(format!(
                    "{name}: {value} s is not between 0 and 1e9"
                )))
            }
        };
        if !(0.0..1e6).contains(&mean_mbps) {
            return Err(refuse(format!(
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
        generator
            .generate(seed, 0)
            .map(|inner| Self {
                inner,
                how: "generated".to_owned(),
            })
            .map_err(refuse)
    }

    /// Returns how the file was read: format, columns and units.
    #[getter]
    fn how(&self) -> &str {
        &self.how
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
        self.inner
            .statistics(Duration::from_secs(1))
            .longest_gap
            .as_secs_f64()
    }

    /// Returns percentages, and the rates in Mbit/s that this share of the bins of `bin_s` does not exceed.
    #[pyo3(signature = (bin_s=1.0))]
    fn percentiles(&self, bin_s: f64) -> PyResult<Vec<(u32, f64)>> {
        let statistics = self.inner.statistics(bin(bin_s)?);
        let rates = statistics.percentiles.iter().map(|rate| rate.as_mbps());
        Ok(link_trace::PERCENTILES
            .iter()
            .map(|percent| u32::from(*percent))
            .zip(rates)
            .collect())
    }

    /// Returns the mean rate of consecutive bins, Mbit/s.
    fn rate_series(&self, bin_s: f64) -> PyResult<Vec<f64>> {
        let series = self.inner.rate_series(bin(bin_s)?);
        let series = series.map_err(|error| refuse(format!("bin: {error}")))?;
        Ok(series.into_iter().map(Rate::as_mbps).collect())
    }

    fn __repr__(&self) -> String {
        let (seconds, mbps) = (self.duration_s(), self.mean_mbps());
        format!(
            "<Trace {}: {seconds:.1} s, mean {mbps:.3} Mbit/s>",
            self.how
        )
    }

    /// Returns the trace in mahimahi's format, unless it would be too long.
    fn to_mahimahi(&self) -> PyResult<String> {
        let mut text = String::new();
        write_mahimahi(&self.inner, &mut text).map_err(refuse)?;
        Ok(text)
    }

    /// Returns the trace as `time,Mbit/s`.
    fn to_csv(&self) -> String {
        let mut text = String::new();
        write_csv(&self.inner, &mut text).expect("a string takes any text");
        text
    }
}

fn bin(seconds: f64) -> PyResult<Duration> {
    if (1e-3..1e6).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(refuse(format!(
            "bin: {seconds} s is not between 0.001 and 1e6"
        )))
    }
}
