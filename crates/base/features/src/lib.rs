//! One set of features of shared libraries: a crate that depends on this one is compiled with the same libraries as the
//! others that do. Cargo takes the features of a library from what is built by one command; the native module, the
//! path of the kernel engine and its guest are built by three. Without this crate, each library whose features differ
//! is compiled once for each of them, with all crates above it.
