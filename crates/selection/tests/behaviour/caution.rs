//! Caution of a selector: no change on what is unknown, before round trips of data, or in an outage.

use std::sync::Arc;

use cca::CaState;
use selection::{Auto, Cause, Decision, Policy, Requirement, Selector, SenderInfo, Start};
use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

use crate::by_queue::{at, rules, sender};

/// A tree whose only split is on the capacity: BBR below 1 Mbit/s, Illinois from there on.
const BY_CAPACITY: &str = r#"
name = "by-capacity"
description = "BBR where the capacity is low."
[tuning]
interval = 0.1
agree = 1
TUNING
[method.tree]
features = ["capacity"]
[[method.tree.trees]]
requirement = "goodput"
moment = "flight"
nodes = [
    { feature = "capacity", threshold = 1.0, below = 1, from = 2UNKNOWN },
    { cases = 1, take = ["bbr"], parts = { bbr = [0.9, 0.9, 0.9], cubic = [0.8, 0.8, 0.8] } },
    { cases = 1, take = ["illinois"], parts = { illinois = [0.7, 0.7, 0.7], cubic = [0.5, 0.5, 0.5] } },
]
"#;

fn selector(policy: &str) -> Selector {
    let auto = Auto {
        requirement: Requirement::Goodput,
        ..Auto::default()
    };
    let start = Start {
        at: Instant::ZERO,
        destination: None,
        hints: None,
        draws: RngStream::new(1, Purpose::Selection, 0),
    };
    let policy = Policy::from_toml(policy, "mine.toml").expect("a policy");
    Selector::new(Arc::new(policy), auto, &start).0
}

fn by_capacity(tuning: &str, unknown: &str) -> Selector {
    let policy = BY_CAPACITY.replace("TUNING", tuning);
    selector(&policy.replace("UNKNOWN", unknown))
}

/// Returns the changes while samples of `sender_at` come every 10 ms from `from` to `to`.
fn changes(
    selector: &mut Selector,
    (from, to): (u64, u64),
    sender_at: impl Fn(u64) -> SenderInfo,
) -> Vec<Decision> {
    let times = (from / 10..to / 10).map(|n| n * 10);
    times
        .filter_map(|ms| selector.observe(at(ms), &sender_at(ms), None))
        .filter(|decision| decision.cause != Cause::Establishment)
        .collect()
}

/// Returns a sender with a queue from the first second on, which shows the capacity.
fn queueing(ms: u64) -> SenderInfo {
    sender(ms, if ms < 1_000 { 50 } else { 80 })
}

/// A queue has never shown the capacity of a sender whose RTT is always the lowest one.
#[test]
fn a_split_on_an_unknown_feature_decides_only_if_the_policy_says_so() {
    let plain = |ms| sender(ms, 50);
    let mut silent = by_capacity("", "");
    assert_eq!(changes(&mut silent, (0, 5_000), plain), []);
    let mut hinted = by_capacity("", ", unknown = 2");
    let changed = changes(&mut hinted, (0, 5_000), plain);
    assert_eq!(changed[0].to, "illinois");
    assert!(
        changed[0]
            .reason
            .starts_with("capacity unknown: 0.700 expected of illinois")
    );
}

#[test]
fn the_reason_of_a_change_has_both_expectations_the_margin_and_the_confidence() {
    let mut selector = by_capacity("", "");
    let changed = changes(&mut selector, (0, 5_000), queueing);
    let reason = &changed[0].reason;
    assert!(reason.contains("(confidence "), "{reason}");
    let compared = "0.700 expected of illinois, 0.500 of cubic: gain 0.200, margin 0";
    assert!(reason.ends_with(compared), "{reason}");
}

#[test]
fn a_change_needs_the_confidence_that_the_policy_asks_for() {
    assert_eq!(
        changes(
            &mut by_capacity("confidence = 1.0", ""),
            (0, 5_000),
            queueing
        ),
        []
    );
    let enough = changes(
        &mut by_capacity("confidence = 0.5", ""),
        (0, 5_000),
        queueing,
    );
    assert_eq!(enough[0].to, "illinois");
}

/// A rule holds only if its features are known: no buffer has been seen, however small the bound.
#[test]
fn a_rule_on_an_unknown_feature_does_not_hold() {
    let policy = rules("interval = 0.1").replace(
        r#"feature = "queue_ratio", at_least = 0.5"#,
        r#"feature = "buffer", below = 40.0"#,
    );
    let mut selector = selector(&policy);
    assert_eq!(changes(&mut selector, (0, 5_000), |ms| sender(ms, 50)), []);
    assert_eq!(selector.current(), "illinois");
}

/// At 600 ms the first data is acknowledged after more than a second; samples of the handshake come before.
#[test]
fn no_change_comes_before_three_round_trips_of_data() {
    let far = |ms: u64| SenderInfo {
        delivered: (ms / 600).saturating_sub(1) * 10,
        inflight: 10,
        srtt: Some(Duration::from_millis(600)),
        min_rtt: Some(Duration::from_millis(300)),
        ..sender(ms, 600)
    };
    let policy = rules("interval = 0.1\nagree = 1").replace("illinois", "cubic");
    let policy = policy.replace(
        r#"feature = "queue_ratio", at_least = 0.5"#,
        r#"feature = "age", at_least = 0.0"#,
    );
    // The rule that holds from the first sample on establishes the connection: it must be another one.
    let policy = policy.replace(
        r#"feature = "age", at_least = 0.0"#,
        r#"feature = "age", at_least = 0.2"#,
    );
    let changed = changes(&mut selector(&policy), (0, 6_000), far);
    assert_eq!(changed.len(), 1);
    // Deliveries come at 1.2, 1.8 and 2.4 s, each of what was in flight.
    let first = changed[0].at.as_secs_f64();
    assert!((2.4..3.1).contains(&first), "{first}");
}

/// Samples of an outage of 3 s from 5 s on. From the time-out on the RTT is that of a queue.
fn interrupted(ms: u64) -> SenderInfo {
    let within = (5_000..8_000).contains(&ms);
    let lost = if ms < 8_000 { 0 } else { 40 };
    SenderInfo {
        delivered: if within { 5_000 } else { ms },
        retransmissions: lost,
        ca_state: if (5_300..8_200).contains(&ms) {
            CaState::Loss
        } else {
            CaState::Open
        },
        timeouts: Some(if ms < 5_300 { 0 } else { 3 }),
        ..sender(
            ms,
            if (5_300..8_000).contains(&ms) {
                100
            } else {
                50
            },
        )
    }
}

#[test]
fn an_outage_changes_nothing_and_its_losses_are_not_random() {
    let mut selector = selector(&rules("interval = 0.1\nagree = 2"));
    assert_eq!(changes(&mut selector, (0, 12_000), interrupted), []);
    let estimates = selector.estimators().estimates();
    assert!(!estimates.in_outage);
    assert_eq!(estimates.random_loss.value, 0.0);
}

/// The change comes 0.5 s before the outage. It is judged by what follows the recovery, which is as good as before.
#[test]
fn the_judge_leaves_an_outage_out() {
    let mut selector = selector(&rules("interval = 0.1\nagree = 1\ndwell = 1.0"));
    let decided = changes(&mut selector, (0, 5_000), |ms| {
        if ms < 4_500 {
            sender(ms, 50)
        } else {
            sender(ms, 100)
        }
    });
    assert_eq!(decided[0].to, "vegas");
    let later = changes(&mut selector, (5_000, 20_000), |ms| {
        let rtt = if ms < 9_000 { 100 } else { 90 };
        SenderInfo {
            srtt: Some(Duration::from_millis(rtt)),
            ..interrupted(ms)
        }
    });
    assert_eq!(later, []);
    assert_eq!(selector.current(), "vegas");
}
