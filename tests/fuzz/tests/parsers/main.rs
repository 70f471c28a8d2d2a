//! Targets: each parser of files and texts that users hand over, tried with mutants of inputs that it accepts.

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
