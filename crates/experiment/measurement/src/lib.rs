//! Recorder: an observed path, which fills the tables of results, the same for every engine.

mod bottlenecks;
mod capture_file;
mod far_acks;
mod fates;
mod legs;
mod observed_path;
mod observer;
mod promise;
mod radio;
mod recorder;
mod tap;

pub use capture_file::CaptureFile;
pub use observed_path::{Capture, Engine, ObservationError, ObservedPath, Options};
pub use recorder::{Introduction, Recorder};
