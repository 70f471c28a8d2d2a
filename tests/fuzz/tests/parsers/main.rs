//! Fuzz targets: each parser of user input, run on mutants of valid inputs.

#[path = "../../../../crates/capture/pcap-analysis/tests/behaviour/made_up.rs"]
mod made_up;

mod captures;
mod files;
mod live_logs;
mod packetdrill_scripts;
mod policies;
mod radio_files;
mod runs;
mod scenarios;
mod settings;
mod traces;
mod videos;
