//! Results for Python: the list of tables, and the metrics computed on them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array, RecordBatch};
use pyo3::prelude::*;
use pyo3_arrow::{PyArray, PyRecordBatch};
use record::{Kept, TableInfo, Tables, Weights};

use crate::refuse;

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
        self.0.kept == Kept::IfFilled
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
#[expect(clippy::needless_pass_by_value, reason = "it comes from Python")]
pub(crate) fn weighted_pm<'py>(
    py: Python<'py>,
    parts: PyRecordBatch,
    weights: (f64, f64, f64),
) -> PyResult<Bound<'py, PyAny>> {
    let (alpha, beta, gamma) = weights;
    let weights = Weights { alpha, beta, gamma };
    let parts: &RecordBatch = parts.as_ref();
    let column = |name: &str| -> PyResult<&Float64Array> {
        parts
            .column_by_name(name)
            .and_then(|column| column.as_primitive_opt::<Float64Type>())
            .ok_or_else(|| refuse(format!("{name}: not a column of numbers")))
    };
    let columns = [column("a")?, column("b")?, column("c")?];
    let part = |column: &Float64Array, row| {
        if column.is_null(row) {
            f64::NAN
        } else {
            column.value(row)
        }
    };
    let pm = (0..parts.num_rows()).map(|row| weights.pm(columns.map(|column| part(column, row))));
    let pm = PyArray::from_array_ref(Arc::new(Float64Array::from_iter_values(pm)));
    Ok(pm.into_pyobject(py)?.into_any())
}

/// Returns Jain's fairness index of shares.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "it comes from Python")]
pub(crate) fn jain(shares: Vec<f64>) -> f64 {
    record::jain(&shares)
}
