//! Digests of files, for Python.

use std::fs::File;
use std::path::PathBuf;

use config::Seal;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{Result, reject};

/// Returns the digest of a file, read in pieces. Raises `OSError` if it cannot be read.
#[pyfunction]
pub(crate) fn file_digest(py: Python<'_>, file: PathBuf) -> Result<String> {
    Ok(py.detach(|| File::open(file).and_then(config::digest))?)
}

/// Returns a TOML text with a last line that seals it.
#[pyfunction]
pub(crate) fn sealed_text(text: &str) -> String {
    config::seal_text(text)
}

/// Returns the bytes of a file with its digest in the place of `BLANK_DIGEST`.
#[pyfunction]
pub(crate) fn seal<'py>(py: Python<'py>, file: &[u8]) -> Result<Bound<'py, PyBytes>> {
    let mut file = file.to_vec();
    if !config::write_seal(&mut file) {
        return Err(reject("a file without a place for its digest"));
    }
    Ok(PyBytes::new(py, &file))
}

/// Returns whether a file is as it was sealed; None if it has no seal.
#[pyfunction]
pub(crate) fn is_intact(file: &[u8]) -> Option<bool> {
    match config::seal_state(file) {
        Seal::Absent => None,
        Seal::Intact => Some(true),
        Seal::Broken => Some(false),
    }
}
