//! The congestion controls against their sources, one file each.

mod bbr;
mod cdg;
mod copa;
mod cubic;
mod dctcp;
mod hystart;
mod lab;
mod ledbat;
mod lp;
mod nv;
mod reno;
mod rounds;
mod slow_start;
mod vegas;
mod yeah;
