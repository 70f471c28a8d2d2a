//! Radio access network: cells, users and bearers.

mod cells;
mod hints;
mod lab;
mod single_user;
