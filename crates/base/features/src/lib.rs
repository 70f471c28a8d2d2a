//! Features of shared libraries: crates that depend on this one are compiled with the same features of them.
//!
//! Cargo unites the features of a library over what one command builds. The native module, the path of the kernel engine
//! and its guest are built by three commands. Without this crate, a library whose features differ would be compiled once
//! for each of them, with all crates that depend on it.
