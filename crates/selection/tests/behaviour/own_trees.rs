//! Tree policies with a tree per requirement, and the fallback to the tree of the nearest requirement.

use std::collections::BTreeMap;
use std::sync::Arc;

use selection::{Auto, Decision, Policy, Selector, SenderInfo, Start};
use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

/// Starts Reno for balanced and NV for delay. Starts BBR for power, though PM expects more of Vegas there. Starts
/// Westwood for goodput@ where the lowest RTT is below half of the bound, otherwise BIC.
const POLICY: &str = r#"
name = "own"
description = "Trees of requirements of their own."

[method.tree]
features = ["base_over_bound"]

[[method.tree.trees]]
requirement = "balanced"
moment = "start"
margin = 0.0
nodes = [{ cases = 9, take = ["reno"], parts = { reno = [0.5, 0.5, 0.5] } }]

[[method.tree.trees]]
requirement = "delay"
moment = "start"
margin = 0.0
nodes = [{ cases = 9, take = ["nv"], parts = { nv = [0.5, 0.5, 0.5] } }]

[[method.tree.trees]]
requirement = "power"
moment = "start"
margin = 0.0
nodes = [{ cases = 9, take = ["bbr", "vegas"], parts = { bbr = [0.9, 0.1, 0.1], vegas = [0.8, 1.0, 1.0] } }]

[[method.tree.trees]]
requirement = "goodput@"
moment = "start"
margin = 0.0
nodes = [
    { feature = "base_over_bound", threshold = 0.5, below = 1, from = 2, unknown = 1 },
    { cases = 9, take = ["westwood"], parts = { westwood = [0.9, 0.5, 0.5] } },
    { cases = 9, take = ["bic"], parts = { bic = [0.9, 0.5, 0.5] } },
]
"#;

/// Returns the decision for a connection whose handshake took 40 ms.
fn decide(policy: &str, requirement: &str) -> Decision {
    let policy = Arc::new(Policy::from_toml(policy, "own.toml").unwrap());
    let settings = BTreeMap::from([("requirement".to_owned(), requirement.to_owned())]);
    let start = Start {
        at: Instant::ZERO,
        destination: None,
        hints: None,
        draws: RngStream::new(1, Purpose::Selection, 0),
    };
    let (mut selector, first) = Selector::new(policy, Auto::new(&settings).unwrap(), &start);
    let rtt = Some(Duration::from_millis(40));
    let sender = SenderInfo {
        mss: 1_448,
        cwnd: 10,
        srtt: rtt,
        min_rtt: rtt,
        send_window: Some(65_535),
        slow_start: true,
        ..SenderInfo::default()
    };
    let change = selector.observe(Instant::ZERO + Duration::from_millis(40), &sender, None);
    change.unwrap_or(first)
}

#[test]
fn the_tree_of_a_requirement_precedes_that_of_the_nearest() {
    for (requirement, cca) in [
        ("balanced", "reno"),
        ("delay", "nv"),
        ("power", "bbr"),
        ("goodput@100ms", "westwood"),
        ("goodput@60ms", "bic"),
    ] {
        assert_eq!(decide(POLICY, requirement).to, cca, "{requirement}");
    }
}

#[test]
fn a_tree_of_a_requirement_maximizes_the_first_part_only() {
    let reason = decide(POLICY, "power").reason;
    assert!(reason.contains("0.900 expected of bbr"), "{reason}");
}

#[test]
fn without_its_tree_a_requirement_uses_that_of_the_nearest() {
    assert_eq!(decide(POLICY, "delay@2Mbps").to, "nv");
    let (named, _) = POLICY
        .split_once("[[method.tree.trees]]\nrequirement = \"power\"")
        .unwrap();
    assert_eq!(decide(named, "power").to, "reno");
    assert_eq!(decide(named, "goodput@60ms").to, "reno");
}

#[test]
fn a_tree_for_an_unknown_requirement_is_rejected() {
    let wrong = POLICY.replace("\"power\"", "\"speed\"");
    assert_eq!(
        Policy::from_toml(&wrong, "own.toml")
            .unwrap_err()
            .to_string(),
        "own.toml: method.tree.trees[2].requirement: \"speed\" is not a requirement; \
         allowed: goodput, balanced, delay, fct, power, goodput@, delay@"
    );
}
