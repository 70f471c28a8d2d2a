//! The path of the kernel engine: a shared object that a user-mode Linux kernel loads, and whose functions its network
//! devices call in virtual time (`kernel/driver/path.h` declares them).
//!
//! The path, its queues, draws and observers are those of every engine; only the packets are the kernel's. Their bytes
//! stay in the kernel's memory. The path reads the headers, and copies packets where there are middleboxes.

mod abi;
mod call_stack;
mod device_queue;
mod guest_job;
mod linux_queue;
mod run_config;
mod senders;
mod session;
mod settings;
