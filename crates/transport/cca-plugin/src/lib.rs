//! Congestion controls in shared libraries: a user's Rust CCAs, which celltcp loads while it runs.
//!
//! A library is a crate of the type `cdylib` that calls [`export!`]. [`load`] opens it and returns catalogue entries.
//! Both sides talk over an [ABI](abi) whose types have the layout of C, so the library may be built by another
//! version of the compiler than celltcp. The state of a connection passes the ABI by reference.

pub mod abi;
mod host;
mod library;

pub use host::{load, load_entries};
pub use library::library;

/// Exports catalogue entries ([`cca::CcaInfo`]) from a shared library: `cca_plugin::export!(INFO);`.
#[macro_export]
macro_rules! export {
    ($($cca:expr),+ $(,)?) => {
        /// Congestion controls of this library, for celltcp.
        // The name is the one that celltcp looks for; a library exports it once.
        #[allow(unsafe_code)]
        #[unsafe(no_mangle)]
        pub static CELLTCP_LIBRARY: $crate::abi::Library = $crate::library(&[$($cca),+]);
    };
}
