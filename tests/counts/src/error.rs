//! Errors: reasons why nothing can be counted.

use std::io;
use std::path::PathBuf;

/// Reason why nothing can be counted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CountsError {
    /// The arguments are not understood.
    #[error("{0}; --help tells what is")]
    Arguments(String),
    /// There is no such case.
    #[error("{name:?} is no case; allowed: {allowed}")]
    UnknownCase {
        /// The name.
        name: String,
        /// Names of all cases.
        allowed: String,
    },
    /// Valgrind is not installed.
    #[error("valgrind is missing; it is in the Debian package valgrind: apt-get install valgrind")]
    NoValgrind,
    /// Valgrind or the case under it failed.
    #[error("{case}: {reason}")]
    Failed {
        /// Name of the case.
        case: &'static str,
        /// Its output.
        reason: String,
    },
    /// The file with the committed counts cannot be read or written.
    #[error("{}: {error}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Description of the error.
        error: io::Error,
    },
    /// The file with the committed counts is not as it must be.
    #[error("{}: {reason}; --write makes it anew", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// Description of the error.
        reason: String,
    },
}
