//! Tests of what captures tell, from files that are made up.

mod captures;
mod connections;
mod ends;
mod gaps;
mod made_up;
mod order;
mod tunnels;
mod waits;
