//! Packet flows of split hosts, step by step.

mod bytes;
mod contents;
mod es;
mod script;
