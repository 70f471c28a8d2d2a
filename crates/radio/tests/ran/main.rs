//! Cells, users and bearers at work.

mod cells;
mod lab;
mod single_user;
mod telling;
