//! Runs of built-in scenarios, always with the checker on.

use std::path::{Path, PathBuf};

use measurement::Options;
use native_engine::Simulation;
use network_builder::Traces;
use results::{FlowRow, Flows, Tables};
use scenario::Scenario;
use units::Instant;

/// Folder of the built-in scenarios.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../python/celltcp/library")
}

pub fn scenario(name: &str, overrides: &[&str]) -> Scenario {
    let file = folder().join(format!("{name}.toml"));
    let text = std::fs::read_to_string(file).expect("built in");
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Scenario::from_toml(&text, name, &overrides).expect("a valid scenario")
}

pub fn run(scenario: &Scenario, seed: u64) -> Tables {
    // Files are in the folder of the scenario.
    let place = folder().join(&scenario.name);
    let beside = place.parent().expect("the library is a folder");
    let traces = Traces::load(scenario, beside).expect("traces can be read");
    let options = Options {
        check: true,
        ..Options::default()
    };
    let mut run = Simulation::new(scenario, &traces, seed, options).expect("it can be run");
    run.advance(Instant::NEVER);
    run.finish().expect("no invariant is broken")
}

/// The first row of the flows.
pub fn first(flows: &Flows) -> FlowRow {
    flows.row(0)
}
