//! How the layers of the link behave, with the clauses that say so.

mod scheduler;
mod uplink;
