//! The kernel engine: a user-mode Linux kernel on a virtual clock, whose hosts are joined by our path.
//!
//! One run is one process. This crate gives it its job, starts it, and collects what the path in it
//! reports; the kernel itself is built by `celltcp kernel build`.

mod console;
mod initrd;
mod process;
mod processors;
mod run;

pub use process::Parts;
pub use run::{KernelError, KernelRun, Options};
