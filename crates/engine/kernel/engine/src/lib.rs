//! Kernel engine: a user-mode Linux kernel on a virtual clock, whose hosts are joined by our path.
//!
//! One run is one process. This crate starts the process with a job and collects the reports of the path inside it.
//! `celltcp kernel build` builds the kernel.

mod console;
mod cpu;
mod initrd;
mod memory;
mod process;
mod run;

pub use process::Parts;
pub use run::{KernelError, KernelRun, Options};
