//! A CCA from outside works wherever one of celltcp does.

use std::path::Path;

use measurement::Options;
use native_engine::Simulation;
use network_builder::Traces;
use scenario::Scenario;
use units::Instant;

/// Adds the CCA to the catalogue as celltcp does after it has opened the library.
fn register() {
    let failed = |message: String| panic!("{message}");
    let ccas = cca_plugin::load_entries(&own_cca::CELLTCP_LIBRARY, failed).expect("the same ABI");
    for cca in ccas {
        cca::registry::add(cca).expect("the name is free");
    }
}

/// The window left after a loss determines how long a queue stands: the smaller the reduction, the longer.
#[test]
fn scenarios_know_it_by_name_and_parameter() {
    register();
    let induced = |keep: f64| {
        let text = format!(
            "duration = \"30s\"\n[path.down]\nrate = \"10Mbit/s\"\n[[flows]]\n\
             cca = {{ name = \"gentle\", keep = {keep} }}"
        );
        let scenario = Scenario::from_toml(&text, "test", &[]).expect("a scenario");
        let traces = Traces::load(&scenario, Path::new(".")).expect("no traces");
        let options = Options {
            check: true,
            ..Options::default()
        };
        let mut run = Simulation::new(&scenario, &traces, 1, options).expect("it can be run");
        run.advance(Instant::NEVER);
        let tables = run.finish().expect("no invariant is broken");
        assert_eq!(tables.flows.row(0).cca, format!("gentle:keep={keep}"));
        tables.flows.row(0).rtt_mean_ms
    };
    assert!(induced(0.9) > induced(0.3) + 5.0);
}

#[test]
fn a_wrong_parameter_is_refused() {
    register();
    let text = "[[flows]]\ncca = \"gentle:keep=2\"";
    let error = Scenario::from_toml(text, "bad.toml", &[]).expect_err("it is wrong");
    assert_eq!(
        error.to_string(),
        "bad.toml:2: flows.0.cca: gentle: \"2\" is not a value of keep; allowed: numbers from 0.1 to 0.9"
    );
}
