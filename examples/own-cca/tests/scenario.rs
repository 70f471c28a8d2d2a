//! A CCA from outside works wherever one of celltcp does.

use std::path::Path;

use path::Traces;
use recorder::Options;
use scenario::Scenario;
use sim::Simulation;
use units::Instant;

/// The window left after a loss determines how long a queue stands: the smaller the reduction, the longer.
#[test]
fn scenarios_know_it_by_name_and_parameter() {
    own_cca::register().expect("the name is free");
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
    own_cca::register().expect("the name is free");
    let text = "[[flows]]\ncca = \"gentle:keep=2\"";
    let error = Scenario::from_toml(text, "bad.toml", &[]).expect_err("it is wrong");
    assert_eq!(
        error.to_string(),
        "bad.toml:2: flows.0.cca: gentle: \"2\" is not a value of keep; allowed: numbers from 0.1 to 0.9"
    );
}

/// The program prints one table, in which the CCA of one's own stands beside those of celltcp.
#[test]
fn one_table_has_it_beside_those_of_celltcp() {
    let file = std::env::temp_dir().join(format!("own-cca-{}.toml", std::process::id()));
    let text = "duration = \"2s\"\n[path.down]\nrate = \"10Mbit/s\"\n[[flows]]\n";
    std::fs::write(&file, text).expect("a scenario");
    let table = |ccas: &str| {
        std::process::Command::new(env!("CARGO_BIN_EXE_own-cca"))
            .args([file.as_os_str(), ccas.as_ref(), "2".as_ref()])
            .output()
            .expect("it can be run")
    };
    let done = table("gentle,gentle:keep=0.5,cubic");
    let text = String::from_utf8(done.stdout).expect("a text");
    let names: Vec<_> = text
        .lines()
        .skip(2)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(names, ["gentle", "gentle:keep=0.5", "cubic"], "{text}");
    assert!(!table("gentle:hold=1").status.success());
    std::fs::remove_file(&file).expect("it is there");
}
