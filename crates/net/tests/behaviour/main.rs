//! How a path behaves, with the checker watching every run.

mod boxes;
mod capacity;
mod channel;
mod cross_traffic;
mod everything;
mod lab;
mod opportunities;
mod queues;
mod tree;
