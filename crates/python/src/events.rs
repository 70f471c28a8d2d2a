//! Events: the beginning and the end of runs and of their parts, as records of Python's logging.
//!
//! A record takes the GIL. So no event is within a lock that a thread with the GIL may wait for.

use std::sync::OnceLock;

use log::LevelFilter;
use pyo3::prelude::*;
use pyo3_log::{Caching, Logger, ResetHandle};

/// Handle of the logger, if it is installed.
static INSTALLED: OnceLock<ResetHandle> = OnceLock::new();

/// Hands events to Python's loggers below "celltcp.events" from now on, whose levels are those of the latest call. Before
/// the first call, an event costs a comparison.
#[pyfunction]
pub(crate) fn log_events(py: Python<'_>) -> PyResult<()> {
    if let Some(logger) = INSTALLED.get() {
        logger.reset();
        return Ok(());
    }
    let logger = Logger::new(py, Caching::LoggersAndLevels)?
        .filter(LevelFilter::Off)
        .filter_target("celltcp::events".to_owned(), LevelFilter::Info);
    if let Ok(handle) = logger.install() {
        let _ = INSTALLED.set(handle);
    }
    Ok(())
}
