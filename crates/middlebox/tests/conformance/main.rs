//! Packet flows of split hosts, step by step.

mod es;
mod script;
