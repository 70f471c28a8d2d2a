//! Faults: panics of celltcp and failures of a kernel as errors of Python, with the run that they end.

use core::cell::RefCell;
use core::fmt;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

use kernel_engine::KernelError;
use measurement::Engine;
use pyo3::prelude::*;
use units::Instant;

use crate::error::{Error, Result, refuse};
use crate::python_cca;

/// Environment variable by which tests plant a panic at the middle of a run: its seed and its label, as in `3 bbr`, or
/// the seed alone for any label.
const PLANTED: &str = "CELLTCP_PANIC_AT";

thread_local! {
    /// Place, message and backtrace of the last panic of this thread.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Has panics remembered instead of printed: a progress bar may be there.
pub(crate) fn remember_panics() {
    panic::set_hook(Box::new(|info| LAST.set(Some(described(info)))));
}

/// Describes a panic; with the backtrace if the variable `RUST_BACKTRACE` asks for it.
fn described(info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map(ToString::to_string);
    let place = place.as_deref().unwrap_or("an unknown place");
    let trace = Backtrace::capture();
    match trace.status() {
        BacktraceStatus::Captured => format!("panic at {place}: {message}\n{trace}\n"),
        _ => format!("panic at {place}: {message}"),
    }
}

/// Takes the description of the last panic of this thread: its place and its message.
#[pyfunction]
pub(crate) fn take_panic() -> Option<String> {
    LAST.take()
}

/// Does `work`; a panic in it is returned as its description.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work))
        .map_err(|_| take_panic().unwrap_or_else(|| "panic".to_owned()))
}

/// Does `work` on an input that errors call `what`; a panic in it becomes an [`Error::Internal`].
pub(crate) fn guarded<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch(work).unwrap_or_else(|panic| {
        Err(Error::Internal(format!(
            "{what}: {panic}; this is a fault of celltcp: please report it with this input"
        )))
    })
}

/// A run as errors name it.
#[derive(Debug)]
pub(crate) struct Case {
    scenario: String,
    cca: String,
    seed: u64,
    on_kernel: bool,
    /// Time of the run at which a test wants a panic.
    planted: Option<Instant>,
}

impl Case {
    /// Describes the run of `scenario` whose label is `cca`.
    pub(crate) fn new(
        scenario: &scenario::Scenario,
        cca: String,
        seed: u64,
        on_kernel: bool,
    ) -> Self {
        let wanted = std::env::var(PLANTED)
            .is_ok_and(|text| text == seed.to_string() || text == format!("{seed} {cca}"));
        Self {
            scenario: scenario.name.clone(),
            cca,
            seed,
            on_kernel,
            planted: wanted.then(|| Instant::ZERO + scenario.duration / 2),
        }
    }

    /// Panics if a test has planted that at or before the time `at`, which the run has reached.
    pub(crate) fn reached(&self, at: Instant) {
        assert!(
            self.planted.is_none_or(|planted| at < planted),
            "planted by {PLANTED}"
        );
    }

    /// Returns the error of a run that has ended with this panic.
    pub(crate) fn panicked(&self, panic: &str) -> Error {
        // What an own CCA raised before it is not the cause of what comes later on this thread.
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
    pub(crate) fn is_over(&self) -> Error {
        Error::Internal(format!(
            "{self}: the run has ended by a fault of celltcp; a new run can be started"
        ))
    }

    /// Returns the error of a kernel's run: the scenario is refused, the kernel has failed, or celltcp has.
    pub(crate) fn failed(&self, error: &KernelError) -> Error {
        match error {
            KernelError::Failed(reason) => refuse(reason),
            KernelError::Panicked { .. } => self.panicked(&error.to_string()),
            _ => Error::Kernel(format!("{self}: {error}")),
        }
    }
}

impl fmt::Display for Case {
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
