//! The congestion controls against their sources, one file each.

mod bbr;
mod bbr3;
mod bic;
mod cubic;
mod dctcp;
mod highspeed;
mod htcp;
mod hybla;
mod hystart;
mod illinois;
mod lab;
mod path;
mod properties;
mod reno;
mod rounds;
mod scalable;
mod sprout;
mod vegas;
mod veno;
mod westwood;
mod yeah;
