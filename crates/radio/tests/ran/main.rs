//! Radio access network: cells, users and bearers.

mod cells;
mod discard;
mod hints;
mod lab;
mod single_user;
