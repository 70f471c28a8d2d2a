//! Packet flows of split hosts, step by step.

mod advanced;
mod bytes;
mod contents;
mod es;
mod script;
