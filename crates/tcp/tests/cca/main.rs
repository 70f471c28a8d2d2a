//! The congestion controls against their sources, one file each.

mod bbr;
mod bic;
mod cubic;
mod highspeed;
mod htcp;
mod hybla;
mod hystart;
mod illinois;
mod lab;
mod properties;
mod reno;
mod rounds;
mod scalable;
mod vegas;
mod veno;
mod westwood;
mod yeah;
