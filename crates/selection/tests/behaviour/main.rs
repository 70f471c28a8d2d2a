//! Tests of the selection of congestion controls.

mod any_endpoint;
mod by_queue;
mod caution;
mod endpoint;
mod establishment;
mod estimators;
mod estimators_any_samples;
mod memory;
mod moments;
mod own_trees;
mod path;
mod policy_files;
mod selector;
