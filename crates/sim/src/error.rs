//! Why there is no run.

use cca::SettingError;
use recorder::ObservationError;
use select::SelectionError;

/// Why a run cannot be made, or went wrong.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The scenario sets what only the kernel has.
    #[error("kernel: the native engine has no sysctls and no modules; take --engine kernel")]
    Kernel,
    /// The scenario makes no path, or watching it has shown something wrong.
    #[error(transparent)]
    Path(#[from] ObservationError),
    /// A congestion control cannot be selected.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// A congestion control cannot be made.
    #[error("flow {flow:?}: {error}")]
    Cca {
        /// The flow.
        flow: String,
        /// What is wrong with it.
        error: SettingError,
    },
}
