//! Errors of the native module: one type, whose kind decides what Python raises.

use core::fmt;

use arrow_schema::ArrowError;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    celltcp,
    CelltcpError,
    PyValueError,
    "Something that was given cannot be used: one line that says what, where and what is allowed."
);

create_exception!(
    celltcp,
    InternalError,
    CelltcpError,
    "A fault of celltcp itself, not of what was given: a panic, or a state that cannot be."
);

create_exception!(
    celltcp,
    KernelEngineError,
    CelltcpError,
    "The kernel of a run could not be started, has crashed, hangs, or reports what cannot be read."
);

/// Exit codes of the command, those of `sysexits.h`: EX_UNAVAILABLE and EX_SOFTWARE.
const UNAVAILABLE: i32 = 69;
const SOFTWARE: i32 = 70;

/// Error of a function of this module.
#[derive(Debug)]
pub(crate) enum Error {
    /// [`CelltcpError`]: one line with the invalid value, its place and what is allowed.
    Input(String),
    /// [`InternalError`]: the panic or the state, and what repeats it.
    Internal(String),
    /// [`KernelEngineError`]: what has happened to the kernel.
    Kernel(String),
    /// Exception raised in Python, or by Python code that was called.
    Raised(PyErr),
}

/// Result of a function of this module.
pub(crate) type Result<T, E = Error> = core::result::Result<T, E>;

/// Returns the error of input that cannot be used.
pub(crate) fn reject(error: impl fmt::Display) -> Error {
    Error::Input(error.to_string())
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Input(text) => CelltcpError::new_err(text),
            Error::Internal(text) => InternalError::new_err(text),
            Error::Kernel(text) => KernelEngineError::new_err(text),
            Error::Raised(raised) => raised,
        }
    }
}

impl From<PyErr> for Error {
    fn from(raised: PyErr) -> Self {
        Self::Raised(raised)
    }
}

/// `OSError`, as where Python itself uses a file.
impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Raised(error.into())
    }
}

/// Columns that are not of one length or type, which no input can cause.
impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        Self::Internal(format!(
            "{error}; this is a fault of celltcp: please report it"
        ))
    }
}

/// Converts errors of other crates to [`Error::Input`].
macro_rules! input_errors {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                reject(error)
            }
        }
    )+};
}

input_errors! {
    String,

    config::ConfigError,
    config::FieldError,
    link_trace::GenerateError,
    link_trace::WriteError,
    native_engine::RequestError,
    native_engine::SimError,
    link_trace::ParseError,
    radio::ran::AirError,
}

/// Adds the classes to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let internal = py.get_type::<InternalError>();
    internal.setattr("exit_code", SOFTWARE)?;
    let kernel = py.get_type::<KernelEngineError>();
    kernel.setattr("exit_code", UNAVAILABLE)?;
    module.add("CelltcpError", py.get_type::<CelltcpError>())?;
    module.add("InternalError", internal)?;
    module.add("KernelEngineError", kernel)
}
