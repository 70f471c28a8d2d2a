//! Radio access network: cells, users and bearers.

mod carriers;
mod cells;
mod control_share;
mod discard;
mod drx;
mod hints;
mod lab;
mod single_user;
