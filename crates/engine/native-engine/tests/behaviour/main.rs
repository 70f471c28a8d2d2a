//! Tests of the native engine; the checker verifies the runs.

mod agent;
mod application_limited;
mod boxes_against_none;
mod cell_edge;
mod delay_based;
mod ecn;
mod fields;
mod library;
mod loss_based;
mod machines;
mod middleboxes;
mod model_based;
mod plugin;
mod radio;
mod radio_library;
mod radio_queues;
mod resets;
mod sessions;
mod shared_queues;
mod steady;
mod switching;
mod topologies;
