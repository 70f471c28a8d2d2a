//! Results for Python: the list of tables, and the metrics computed on them.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array, RecordBatch};
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use pyo3::prelude::*;
use results::{Presence, TableInfo, Tables, Weights};

use crate::error::{Result, reject};

/// Name, meaning and columns of a table of results.
#[pyclass(frozen, module = "celltcp._core")]
pub(crate) struct ResultTable(pub(crate) &'static TableInfo);

#[pymethods]
impl ResultTable {
    /// Name of the table.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name
    }

    /// Meaning of a row.
    #[getter]
    fn meaning(&self) -> &'static str {
        self.0.meaning
    }

    /// Whether only results with rows of it hold the table.
    #[getter]
    fn optional(&self) -> bool {
        self.0.presence == Presence::Optional
    }

    /// Name and meaning of each column, in their order.
    #[getter]
    fn columns(&self) -> Vec<(&'static str, &'static str)> {
        let columns = self.0.columns.iter();
        columns
            .map(|column| (column.name, column.meaning))
            .collect()
    }
}

/// The tables of a run.
#[pyfunction]
pub(crate) fn result_tables() -> Vec<ResultTable> {
    Tables::ALL.iter().map(ResultTable).collect()
}

/// Returns PM of slots. `parts` is a record batch with columns `a`, `b` and `c`, `weights` are theirs. A part that is
/// NaN or null is left out together with its weight; PM is NaN if no part with a weight is left.
#[pyfunction]
pub(crate) fn weighted_pm(
    parts: PyArrowType<RecordBatch>,
    weights: (f64, f64, f64),
) -> Result<PyArrowType<ArrayData>> {
    let (alpha, beta, gamma) = weights;
    let weights = Weights { alpha, beta, gamma };
    let parts = parts.0;
    let column = |name: &str| numbers(&parts, name);
    let columns = [column("a")?, column("b")?, column("c")?];
    let pm = (0..parts.num_rows()).map(|row| weights.pm(columns.map(|column| number(column, row))));
    Ok(PyArrowType(Float64Array::from_iter_values(pm).into_data()))
}

/// Returns the measure of a requirement in each slot. `slots` is a record batch with columns `goodput_mbps`,
/// `rtt_mean_ms`, `a`, `b` and `c`. A null counts as NaN.
#[pyfunction]
pub(crate) fn requirement_measure(
    slots: PyArrowType<RecordBatch>,
    requirement: &str,
) -> Result<PyArrowType<ArrayData>> {
    let requirement: selection::Requirement = requirement.parse()?;
    let slots = slots.0;
    let column = |name: &str| numbers(&slots, name);
    let (goodput, rtt) = (column("goodput_mbps")?, column("rtt_mean_ms")?);
    let parts = [column("a")?, column("b")?, column("c")?];
    let measured = (0..slots.num_rows()).map(|row| {
        requirement.measure(&selection::Performance {
            mbps: number(goodput, row),
            rtt_s: number(rtt, row) / 1e3,
            parts: parts.map(|part| number(part, row)),
        })
    });
    Ok(PyArrowType(
        Float64Array::from_iter_values(measured).into_data(),
    ))
}

/// Returns a column of numbers.
fn numbers<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a Float64Array> {
    batch
        .column_by_name(name)
        .and_then(|column| column.as_primitive_opt::<Float64Type>())
        .ok_or_else(|| reject(format!("{name}: not a column of numbers")))
}

/// Returns the number in a row; NaN for a null.
fn number(column: &Float64Array, row: usize) -> f64 {
    if column.is_null(row) {
        f64::NAN
    } else {
        column.value(row)
    }
}

/// Returns Jain's fairness index of shares.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "it comes from Python")]
pub(crate) fn jain(shares: Vec<f64>) -> f64 {
    results::jain(&shares)
}
