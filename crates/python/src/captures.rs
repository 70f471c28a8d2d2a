//! Captures for Python: the analysis of a capture in pieces, and the list of its tables.

use std::path::PathBuf;
use std::sync::Mutex;

use pcap_analysis::tables::Tables;
use pcap_analysis::{Analysis, input};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Result, reject};
use crate::faults::{guarded, lock};
use crate::results::ResultTable;
use crate::run::into_python;

/// Analysis of a capture, in one pass and bounded memory.
#[pyclass(frozen, module = "celltcp._core")]
pub(crate) struct CaptureAnalysis {
    /// Name of the capture in errors.
    name: String,
    analysis: Mutex<Analysis>,
}

impl CaptureAnalysis {
    fn with<T>(&self, work: impl FnOnce(&mut Analysis) -> T) -> Result<T> {
        let mut analysis = lock(&self.analysis);
        guarded(&self.name, || Ok(work(&mut analysis)))
    }
}

#[pymethods]
impl CaptureAnalysis {
    /// Opens the capture at `path`, or the standard input for `-`. `segments` asks for a row per segment.
    #[new]
    #[pyo3(signature = (path, *, segments=false))]
    #[expect(clippy::needless_pass_by_value, reason = "it comes from Python")]
    fn new(path: PathBuf, segments: bool) -> Result<Self> {
        let bytes = input::decompress::open(&path)
            .map_err(|error| reject(format!("{}: {error}", path.display())))?;
        Ok(Self {
            name: path.display().to_string(),
            analysis: Mutex::new(Analysis::new(bytes, segments)),
        })
    }

    /// Reads up to `packets` records without the GIL; returns whether the capture has more.
    fn advance(&self, py: Python<'_>, packets: u64) -> Result<bool> {
        py.detach(|| self.with(|analysis| analysis.advance(packets)))
    }

    /// Returns the rows since the last call, a record batch by the name of each of `capture_tables`.
    fn take_tables<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let tables = self.with(Analysis::take_tables)?;
        let batches = PyDict::new(py);
        for (table, columns) in tables.into_columns() {
            batches.set_item(table.name, into_python(py, table.columns, columns)?)?;
        }
        Ok(batches)
    }

    /// Returns the counts of the capture so far; `broken` is the byte and the reason where it could not be read on.
    fn summary<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let summary = self.with(|analysis| analysis.summary())?;
        let fields = PyDict::new(py);
        let counts = [
            ("packets", summary.packets),
            ("segments", summary.segments),
            ("others", summary.other_protocols),
            ("fragments", summary.lone_fragments),
            ("joined_fragments", summary.joined_fragments),
            ("cut", summary.truncated),
            ("unread", summary.unread),
            ("wrong_lengths", summary.wrong_lengths),
            ("backwards", summary.time_reversals),
            ("clock_steps", summary.clock_steps),
            ("reused", summary.reused),
            ("crowded_out", summary.evicted),
            ("bytes", summary.bytes),
        ];
        for (name, count) in counts {
            fields.set_item(name, count)?;
        }
        let left_out = PyDict::new(py);
        for (kind, count) in summary.skipped() {
            left_out.set_item(kind, count)?;
        }
        fields.set_item("left_out", left_out)?;
        fields.set_item("link_type", summary.link_type)?;
        fields.set_item("times_ns", summary.times_ns)?;
        let broken = summary.error.map(|error| (error.offset, error.reason));
        fields.set_item("broken", broken)?;
        Ok(fields)
    }
}

/// Returns the names of the kinds of losses.
#[pyfunction]
pub(crate) fn loss_kinds() -> Vec<&'static str> {
    pcap_analysis::LOSS_KINDS.to_vec()
}

/// The tables of a capture.
#[pyfunction]
pub(crate) fn capture_tables() -> Vec<ResultTable> {
    Tables::ALL.iter().map(ResultTable).collect()
}
