//! Limits: runs that no machine ends are rejected before they start, and those that one wants are not.

use std::path::{Path, PathBuf};

use scenario::Scenario;
use units::Duration;

fn read(text: &str, overrides: &[&str]) -> Result<Scenario, String> {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Scenario::from_toml(text, "s.toml", &overrides).map_err(|error| error.to_string())
}

#[track_caller]
fn rejected(overrides: &[&str]) -> String {
    read("", overrides).expect_err("it would not end")
}

#[test]
fn cross_traffic_of_petabits_is_rejected_with_what_raises_the_limit() {
    let cross = "path.cross_traffic=[{ rate = \"2147483648Mbit/s\" }]";
    assert_eq!(
        rejected(&[cross]),
        "override path.cross_traffic=[{ rate = \"2147483648Mbit/s\" }]: path.cross_traffic.0.rate: 2147483648Mbit/s is out of range; allowed: values with which a run takes up to \
         1e11 events (limits.events), not some 1e13"
    );
    let raised = read("", &[cross, "limits.events=1e14"]).unwrap();
    assert_eq!(raised.limits.events, 1e14);
    let short = "path.cross_traffic=[{ rate = \"2147483648Mbit/s\", stop = \"1ms\" }]";
    assert!(read("", &[short]).is_ok());
}

#[test]
fn whatever_has_no_end_is_rejected_by_its_field() {
    for (overrides, field) in [
        (
            &[
                "path.cross_traffic=[{ on = \"1ns\", off = \"0s\" }]",
                "duration=1h",
            ][..],
            "path.cross_traffic.0.on",
        ),
        (
            &["flows.0.count=4294967295", "limits.memory=1000000GB"],
            "flows.0.count",
        ),
        (
            &[
                "flows.0.workload={ kind = \"frames\", interval = \"1ns\", size = \"1B\" }",
                "duration=1h",
            ],
            "flows.0.workload",
        ),
        (
            &[
                "flows.0.workload={ kind = \"on-off\", on = \"1ns\", off = \"0s\" }",
                "duration=1h",
            ],
            "flows.0.workload",
        ),
        (
            &["radio.ues.0.count=1", "duration=2500000h", "slot=2500000h"],
            "duration",
        ),
        (
            &[
                "path.down.rate=9000000Gbit/s",
                "path.rtt=1ns",
                "path.up.rate=9000000Gbit/s",
            ],
            "duration",
        ),
        (
            &["path.queue={ kind = \"pie\", update = \"1ns\" }"],
            "path.queue.update",
        ),
    ] {
        let error = rejected(overrides);
        assert!(
            error.contains(&format!(": {field}: ")),
            "{overrides:?}: {error}"
        );
    }
    let error = rejected(&["limits.events=0"]);
    assert!(
        error.contains("limits.events: 0 is out of range; allowed: 1 to"),
        "{error}"
    );
}

#[test]
fn memory_above_the_limit_of_the_scenario_is_rejected() {
    let many = ["flows.0.count=600000", "slot=60s"];
    let error = rejected(&many);
    assert!(
        error.contains("flows.0.count: 600000 is out of range"),
        "{error}"
    );
    assert!(error.contains("(limits.memory)"), "{error}");
    assert!(
        read(
            "",
            &["flows.0.count=600000", "slot=60s", "limits.memory=20GB"]
        )
        .is_ok()
    );
}

/// A month of a mean cellular link, and half an hour of all that the library has.
#[test]
fn long_runs_that_one_wants_are_allowed() {
    let month = ["duration=720h", "slot=10s"];
    assert!(read("", &month).is_ok());
    let trace = "[path]\ndown = { trace = \"month.csv\" }";
    assert_eq!(read(trace, &month).err(), None);
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../python/celltcp/library");
    let mut files = Vec::new();
    collect(&library, &mut files);
    assert!(files.len() > 100);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let scenario = read(&text, &[]).unwrap();
        let longer = scenario.duration * 30;
        let slot = scenario.slot * 30;
        let (longer, slot) = (format!("duration={longer}"), format!("slot={slot}"));
        assert_eq!(
            read(&text, &[&longer, &slot]).err(),
            None,
            "{}",
            file.display()
        );
        assert!(scenario.duration > Duration::ZERO);
    }
}

#[test]
fn limits_change_nothing_in_the_identity_of_a_scenario() {
    let (usual, raised) = (
        read("", &[]).unwrap(),
        read("", &["limits.events=1e12"]).unwrap(),
    );
    assert_eq!(raised.hash(), usual.hash());
    assert!(!usual.to_json().contains("limits"));
    let again = read(&raised.to_toml(), &[]).unwrap();
    assert_eq!(again.limits, raised.limits);
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            files.push(path);
        }
    }
}
