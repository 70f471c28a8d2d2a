//! What the flows of a run know of destinations.

use scenario::{CcaChoice, Flow, Scenario};
use select::Sample;
use units::{Duration, Instant, Rate};
use workload::Selection;

const CHEAPEST: &str = r#"
name = "cheapest"
description = "Who has cost least, from the first connection on."
[method.cost]
candidates = ["cubic", "vegas"]
min_connections = 1
explore = 0.0
on_loss = "cubic"
"#;
const KNOWN: &str = r#"
[destinations.phone]
connections = 3
min_rtt_ms = 50.0
[destinations.phone.ccas.cubic]
connections = 3
cost = 2.0
"#;

/// Two flows to the phone, the first with a memory of its own.
fn two_flows() -> Scenario {
    let mut scenario = Scenario::default();
    let flow = |cca: &str| Flow {
        cca: cca.parse::<CcaChoice>().expect("words"),
        ..Flow::default()
    };
    let policy = "auto:policy=cheapest.toml";
    scenario.flows = vec![flow(&format!("{policy},memory=known.toml")), flow(policy)];
    for (file, text) in [("cheapest.toml", CHEAPEST), ("known.toml", KNOWN)] {
        scenario.selection.insert(file.to_owned(), text.to_owned());
    }
    scenario
}

fn sample() -> Sample {
    Sample {
        at: Instant::ZERO + Duration::from_secs(1),
        mss: 1_448,
        cwnd: 100,
        inflight: 100,
        srtt: Duration::from_millis(60),
        min_rtt: Duration::from_millis(50),
        delivered: 1_000,
        retransmissions: 0,
        delivery_rate: Rate::from_mbps(20.0),
        app_limited: false,
        send_window: 1 << 20,
        slow_start: false,
    }
}

#[test]
fn a_flow_knows_its_own_file_and_what_the_run_has_found() {
    let mut selection = Selection::new(&two_flows(), 1).expect("policies and memories");
    let mut first = |flow, connection| {
        let opened = selection.open(Instant::ZERO, flow, connection, "phone", None);
        let taken = opened.expect("it is selected").to;
        selection.greet(connection, &sample(), None);
        selection.close(connection, "phone");
        taken
    };
    // CUBIC has cost something by the file, which is the first flow's.
    assert_eq!(first(0, 0), "vegas");
    // Nobody has cost anything that the second one knows of: the first candidate.
    assert_eq!(first(1, 1), "cubic");
    assert_eq!(first(0, 2), "vegas");
}

#[test]
fn without_a_file_nothing_is_known_of_a_destination() {
    let mut selection = Selection::new(&two_flows(), 1).expect("policies and memories");
    let opened = selection.open(Instant::ZERO, 1, 0, "phone", None);
    let reason = opened.expect("it is selected").reason;
    assert_eq!(reason, "nothing is known that the policy decides by");
}

/// What one flow has found, the other one knows, too.
#[test]
fn what_the_run_has_found_is_known_to_all_flows() {
    let mut selection = Selection::new(&two_flows(), 1).expect("policies and memories");
    selection.open(Instant::ZERO, 0, 0, "phone", None);
    selection.greet(0, &sample(), None);
    selection.close(0, "phone");
    let opened = selection.open(Instant::ZERO, 1, 1, "phone", None);
    let reason = opened.expect("it is selected").reason;
    assert!(reason.starts_with("lowest cost so far"), "{reason}");
}

#[test]
fn what_is_wrong_with_a_memory_names_its_file() {
    let mut scenario = two_flows();
    let wrong = KNOWN.replace("50.0", "inf");
    scenario.selection.insert("known.toml".to_owned(), wrong);
    let error = Selection::new(&scenario, 1).expect_err("an RTT without end");
    assert_eq!(
        error.reason,
        "known.toml: destinations.phone.min_rtt_ms: inf is not allowed; allowed: numbers from 0 to 120000"
    );
}
