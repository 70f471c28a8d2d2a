//! The congestion controls against their sources, one file each.

mod bbr;
mod cubic;
mod hystart;
mod lab;
mod reno;
mod rounds;
mod vegas;
mod yeah;
