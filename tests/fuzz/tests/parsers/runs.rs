//! Runs: a scenario that is accepted, and whose estimated work is small, ends soon.

use std::path::Path;

use measurement::Options;
use native_engine::Simulation;
use network_builder::Traces;
use scenario::Scenario;
use units::Instant;

use crate::files;

/// Overrides that make a run short, and allow a million events in it.
const SHORT: [&str; 2] = ["duration=300ms", "limits.events=1e6"];

#[test]
fn runs() {
    let overrides = SHORT.map(str::to_owned);
    fuzz::fuzz(
        "runs",
        &files::below("python/celltcp/library", ".toml"),
        |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let Ok(scenario) = Scenario::from_toml(&text, "mutant.toml", &overrides) else {
                return;
            };
            let Ok(traces) = Traces::load(&scenario, Path::new("/nowhere")) else {
                return;
            };
            let options = Options {
                check: true,
                ..Options::default()
            };
            if let Ok(mut run) = Simulation::new(&scenario, &traces, 1, options) {
                run.advance(Instant::NEVER);
                if let Err(error) = run.finish() {
                    panic!("{error}");
                }
            }
        },
    );
}
