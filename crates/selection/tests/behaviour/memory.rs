//! Memories of destinations: what flows know from their files and from other connections.

use selection::{Auto, Decision, Files, SelectionError, Selectors};
use units::{Duration, Instant};

use crate::by_queue::sender;
use crate::endpoint::MadeUp;

const CHEAPEST: &str = r#"
name = "cheapest"
description = "Chooses the CCA with the lowest cost, from the first connection on."
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

/// Two flows, the first with a memory of its own, whose text is `known`.
fn two_flows(known: &str) -> Result<Selectors, SelectionError> {
    let auto = |memory: Option<&str>| Auto {
        policy: "cheapest.toml".to_owned(),
        memory: memory.map(str::to_owned),
        ..Auto::default()
    };
    let files = [("cheapest.toml", CHEAPEST), ("known.toml", known)];
    let files = files.map(|(file, text)| (file.to_owned(), text.to_owned()));
    let flows = [
        ("first", Some(auto(Some("known.toml")))),
        ("second", Some(auto(None))),
    ];
    Selectors::new(flows, &Files::from(files), 1)
}

/// Opens a connection of a flow to the phone; returns the decision on its first congestion control.
fn open(selectors: &mut Selectors, flow: usize, connection: u32) -> Decision {
    let opened = selectors.open(
        Instant::ZERO,
        flow,
        connection,
        "phone",
        &mut MadeUp::default(),
    );
    opened.expect("no error").expect("it is selected")
}

/// Shows a connection to its selector and ends it.
fn end(selectors: &mut Selectors, connection: u32) {
    let mut endpoint = MadeUp::default();
    endpoint.senders.insert(connection, sender(1_000, 60));
    let now = Instant::ZERO + Duration::from_secs(1);
    let shown = selectors.establish(now, connection, &mut endpoint);
    shown.expect("it is open");
    selectors.close(connection);
}

#[test]
fn a_flow_knows_its_own_file_and_what_the_run_has_found() {
    let mut selectors = two_flows(KNOWN).expect("policies and memories");
    let mut first = |flow, connection| {
        let taken = open(&mut selectors, flow, connection).to;
        end(&mut selectors, connection);
        taken
    };
    // By the file, which only the first flow has, CUBIC has a cost.
    assert_eq!(first(0, 0), "vegas");
    // The second flow knows of no cost, so the first candidate is taken.
    assert_eq!(first(1, 1), "cubic");
    assert_eq!(first(0, 2), "vegas");
}

#[test]
fn without_a_file_nothing_is_known_of_a_destination() {
    let mut selectors = two_flows(KNOWN).expect("policies and memories");
    let reason = open(&mut selectors, 1, 0).reason;
    assert_eq!(reason, "nothing is known that the policy decides by");
}

/// A connection of one flow adds to what the other flow knows.
#[test]
fn what_the_run_has_found_is_known_to_all_flows() {
    let mut selectors = two_flows(KNOWN).expect("policies and memories");
    open(&mut selectors, 0, 0);
    end(&mut selectors, 0);
    let reason = open(&mut selectors, 1, 1).reason;
    assert!(reason.starts_with("lowest cost so far"), "{reason}");
}

#[test]
fn what_is_wrong_with_a_memory_names_its_file() {
    let error = two_flows(&KNOWN.replace("50.0", "inf")).expect_err("an RTT without end");
    assert_eq!(
        error.reason,
        "known.toml:4: destinations.phone.min_rtt_ms: inf is out of range; allowed: 0 to 120000"
    );
}
