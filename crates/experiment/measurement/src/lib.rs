//! Measurement: an observed path and its recorder, which fills the tables of results, the same for every engine.

mod ack_semantics;
mod bottlenecks;
mod capture_file;
mod far_acks;
mod observed_path;
mod observer;
mod outages;
mod pcap_tap;
mod radio;
mod recorder;
mod recoveries;
mod segment_outcomes;
mod split_legs;

pub use capture_file::CaptureFile;
pub use observed_path::{
    Capture, Engine, ObservationError, ObservedPath, Options, SNAPLEN, Snapshot,
};
pub use recorder::{NewConnection, Recorder};
