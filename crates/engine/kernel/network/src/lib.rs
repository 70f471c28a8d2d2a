//! The path of the kernel engine: a shared object that a user-mode Linux kernel loads, and whose functions its network
//! devices call in virtual time (`kernel/driver/path.h` has the border).
//!
//! The path, its queues, draws and observers are those of every engine; only the packets are the kernel's. Their bytes
//! stay in the kernel's memory. The path reads the headers, and payload where a middlebox asks for it.

mod border;
mod card;
mod contents;
mod delivered;
mod fates;
mod guest_job;
mod linux_queue;
mod senders;
mod session;
mod settings;
mod stack;
mod start;
