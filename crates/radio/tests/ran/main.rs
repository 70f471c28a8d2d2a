//! Cells, users and bearers at work.

mod cells;
mod hints;
mod lab;
mod single_user;
