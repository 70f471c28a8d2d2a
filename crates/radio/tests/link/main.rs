//! How the layers of the link behave, with the clauses that say so.

mod handover;
mod harq;
mod rlc;
mod scheduler;
mod telemetry;
mod uplink;
