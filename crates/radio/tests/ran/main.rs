//! Cells, users and bearers at work.

mod lab;
mod single_user;
