//! The congestion controls against their sources, one file each.

mod bbr;
mod cubic;
mod dctcp;
mod hystart;
mod lab;
mod reno;
