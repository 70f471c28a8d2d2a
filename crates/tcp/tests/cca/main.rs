//! The congestion controls against their sources, one file each.

mod bbr;
mod bbr3;
mod cubic;
mod dctcp;
mod hystart;
mod lab;
mod path;
mod reno;
mod sprout;
