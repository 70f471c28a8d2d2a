//! Tests of the behaviour of a path; the checker watches every run.

mod boxes;
mod capacity;
mod channel;
mod cross_traffic;
mod everything;
mod interruptions;
mod lab;
mod opportunities;
mod queues;
mod tree;
