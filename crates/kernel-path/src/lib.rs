//! The path of the kernel engine: a shared object that a user-mode Linux kernel loads, and whose
//! functions its network devices call in virtual time (`kernel/driver/path.h` has the border).
//!
//! The path, its queues, draws and taps are those of every engine; what is new here is that packets
//! are the kernel's. Only their headers are looked at.

mod border;
mod delivered;
mod fates;
mod senders;
mod session;
mod stack;
mod start;
