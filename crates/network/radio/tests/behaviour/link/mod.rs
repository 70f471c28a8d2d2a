//! Layers of the link, tested against the clauses of their specifications.

mod handover;
mod harq;
mod rlc;
mod scheduler;
mod telemetry;
mod uplink;
