//! Plugin CCAs: the same runs through the plugin ABI as without it.

use std::path::Path;

use cca::{CcaInfo, registry};
use measurement::Options;
use native_engine::Simulation;
use network_builder::Traces;
use scenario::Scenario;
use units::Instant;

/// CCAs that between them use all methods, window fields and kinds of samples.
const SUBJECTS: [(&str, &str); 7] = [
    ("reno", "far-reno"),
    ("cubic", "far-cubic"),
    ("bbr", "far-bbr"),
    ("bbr3", "far-bbr3"),
    ("ledbat", "far-ledbat"),
    ("lp", "far-lp"),
    ("dctcp", "far-dctcp"),
];

/// Returns goodput, RTT, retransmissions and all slots of a run, as a text.
fn outcome(cca: &str, flow_fields: &str) -> String {
    let text = format!(
        "duration = \"15s\"\n[path]\nloss = 0.002\n[path.down]\nrate = \"20Mbit/s\"\n[[flows]]\ncca = \"{cca}\"\n{flow_fields}"
    );
    let scenario = Scenario::from_toml(&text, "test", &[]).expect("a scenario");
    let traces = Traces::load(&scenario, Path::new(".")).expect("no traces");
    let mut run = Simulation::new(&scenario, &traces, 1, Options::default()).expect("a run");
    run.advance(Instant::NEVER);
    let tables = run.finish().expect("no invariant is broken");
    let flow = tables.flows.row(0);
    let slots: Vec<String> = (0..tables.slots.len())
        .map(|index| format!("{:?}", tables.slots.row(index)))
        .collect();
    format!(
        "{} {} {} {slots:?}",
        flow.goodput_mbps, flow.rtt_mean_ms, flow.retransmissions
    )
}

#[test]
fn a_cca_behind_the_abi_makes_the_same_run() {
    let entries = SUBJECTS.map(|(own, far)| CcaInfo {
        name: far,
        ..*registry::find(own).expect("a CCA of celltcp")
    });
    let library = Box::leak(Box::new(cca_plugin::library(entries.to_vec().leak())));
    for cca in
        cca_plugin::load_entries(library, |message| panic!("{message}")).expect("the same ABI")
    {
        registry::add(cca).expect("the name is free");
    }
    for (own, far) in SUBJECTS {
        assert_eq!(outcome(own, ""), outcome(far, ""), "{own}");
    }
    // A CCA switch transfers its state.
    let to = |name: &str| format!("switch = [{{ at = \"5s\", to = \"{name}\" }}]");
    assert_eq!(outcome("reno", &to("bbr")), outcome("reno", &to("far-bbr")));
    // Parameters pass the ABI; invalid values are rejected with the CCA's own message.
    assert_eq!(
        outcome("cubic:beta=0.5", ""),
        outcome("far-cubic:beta=0.5", "")
    );
    let rejected = Scenario::from_toml("[[flows]]\ncca = \"far-cubic:beta=2\"", "test", &[]);
    let error = rejected.expect_err("out of range").to_string();
    assert!(
        error.contains("allowed: numbers from 0.01 to 0.99"),
        "{error}"
    );
}

#[test]
fn a_library_of_another_abi_version_is_rejected() {
    let mut library = cca_plugin::library(&[]);
    let version = library.version;
    library.version += 1;
    let error = cca_plugin::load_entries(Box::leak(Box::new(library)), |_| {})
        .expect_err("another version");
    assert!(
        error.contains(&format!(
            "built for plugin ABI {}, expected {version}; rebuild with",
            version + 1
        )),
        "{error}"
    );
}
