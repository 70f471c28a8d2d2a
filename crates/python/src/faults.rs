//! Faults: conversion of panics and of kernel failures to Python errors that name the run.

use core::cell::RefCell;
use core::fmt;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kernel_engine::KernelError;
use measurement::Engine;
use pyo3::prelude::*;
use units::Instant;

use crate::error::{Error, Result, reject};
use crate::python_cca;

/// Environment variable with which tests cause a panic in the middle of a run. Its value is the seed of the run, or seed
/// and label, as in `3 bbr`.
const PANIC_VARIABLE: &str = "CELLTCP_PANIC_AT";

thread_local! {
    /// Place, message and backtrace of the last panic of this thread.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs a panic hook that stores the panic. Printing it could corrupt a progress bar.
pub(crate) fn install_panic_hook() {
    panic::set_hook(Box::new(|info| LAST_PANIC.set(Some(describe_panic(info)))));
}

/// Returns place and message of a panic, and its backtrace if `RUST_BACKTRACE` is set.
fn describe_panic(info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("no message");
    let location = info.location().map(ToString::to_string);
    let location = location.as_deref().unwrap_or("an unknown place");
    let trace = Backtrace::capture();
    match trace.status() {
        BacktraceStatus::Captured => format!("panic at {location}: {message}\n{trace}\n"),
        _ => format!("panic at {location}: {message}"),
    }
}

/// Removes and returns the description of the last panic of this thread.
#[pyfunction]
pub(crate) fn take_panic() -> Option<String> {
    LAST_PANIC.take()
}

/// Locks a mutex, even if a thread has panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `work`; returns the description of a panic as the error.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work))
        .map_err(|_| take_panic().unwrap_or_else(|| "panic".to_owned()))
}

/// Calls `work`; a panic in it becomes an [`Error::Internal`] that names the input `input`.
pub(crate) fn guarded<T>(input: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch(work).unwrap_or_else(|panic| {
        Err(Error::Internal(format!(
            "{input}: {panic}; this is a fault of celltcp: please report it with this input"
        )))
    })
}

/// Identity of a run in error messages: scenario, CCA, seed and engine.
#[derive(Clone, Debug)]
pub(crate) struct RunIdentity {
    scenario: String,
    cca: String,
    seed: u64,
    on_kernel: bool,
    /// Simulated time of a panic that a test causes.
    panic_at: Option<Instant>,
}

impl RunIdentity {
    /// Returns the identity of the run of `scenario` whose label is `cca`.
    pub(crate) fn new(
        scenario: &scenario::Scenario,
        cca: String,
        seed: u64,
        on_kernel: bool,
    ) -> Self {
        let requested = std::env::var(PANIC_VARIABLE)
            .is_ok_and(|text| text == seed.to_string() || text == format!("{seed} {cca}"));
        Self {
            scenario: scenario.name.clone(),
            cca,
            seed,
            on_kernel,
            panic_at: requested.then(|| Instant::ZERO + scenario.duration / 2),
        }
    }

    /// Panics if a test has requested it for the simulated time `at` or before.
    pub(crate) fn panic_if_requested(&self, at: Instant) {
        assert!(
            self.panic_at.is_none_or(|panic_at| at < panic_at),
            "caused by {PANIC_VARIABLE}"
        );
    }

    /// Returns the error of a run that has ended with this panic.
    pub(crate) fn panic_error(&self, panic: &str) -> Error {
        // An exception that a Python CCA raised before the panic must not be reported for a later run of this thread.
        python_cca::take_raised();
        let engine = if self.on_kernel {
            " --engine kernel"
        } else {
            ""
        };
        Error::Internal(format!(
            "{self}: {panic}; this is a fault of celltcp: please report it; `celltcp run {} --cca '{}' --seed {}{engine}` \
             with the same duration and fields repeats the run",
            self.scenario, self.cca, self.seed
        ))
    }

    /// Returns the error of a call to a run that a panic has ended.
    pub(crate) fn ended_error(&self) -> Error {
        Error::Internal(format!(
            "{self}: the run has ended by a fault of celltcp; a new run can be started"
        ))
    }

    /// Returns the error of a run on a kernel: the scenario is rejected, or the kernel or celltcp has failed.
    pub(crate) fn kernel_error(&self, error: &KernelError) -> Error {
        match error {
            KernelError::Failed(reason) => reject(reason),
            KernelError::Panicked { .. } => self.panic_error(&error.to_string()),
            _ => Error::Kernel(format!("{self}: {error}")),
        }
    }
}

impl fmt::Display for RunIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let engine = if self.on_kernel {
            Engine::KERNEL
        } else {
            Engine::NATIVE
        };
        write!(
            f,
            "scenario {}, cca {}, seed {}, engine {engine}",
            self.scenario, self.cca, self.seed
        )
    }
}
