//! Results for Python: the list of tables, and the metrics computed on them.

use pyo3::prelude::*;
use record::{Kept, TableInfo, Tables};

/// Name, meaning and columns of a table of results.
#[pyclass(frozen, module = "celltcp._core")]
pub(crate) struct ResultTable(&'static TableInfo);

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

    /// Whether only results for which something wrote rows hold the table.
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

/// Jain's fairness index of shares.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "it comes from Python")]
pub(crate) fn jain(shares: Vec<f64>) -> f64 {
    record::jain(&shares)
}
