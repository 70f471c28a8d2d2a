//! Errors of the native engine.

use measurement::ObservationError;
use selection::SelectionError;

/// Error of a switch that an agent has requested.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RequestError {
    /// There is no such CCA.
    #[error("cca: {0}")]
    Cca(String),
    /// The connection is not open, or its CCA is a fixed one.
    #[error("connection {0}: it has no selector; allowed: open connections of flows with auto")]
    Connection(u32),
}

/// Error of a run that cannot start or has failed.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The scenario has settings of the kernel engine.
    #[error("kernel: the native engine has no sysctls and no modules; take --engine kernel")]
    Kernel,
    /// The path cannot be made, or the checker has found a fault in it.
    #[error(transparent)]
    Path(#[from] ObservationError),
    /// A congestion control cannot be selected.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// A congestion control cannot be made.
    #[error("flow {flow:?}: {error}")]
    Cca {
        /// Name of the flow.
        flow: String,
        /// Fault of its parameters.
        error: String,
    },
}
