//! The choice for a new connection: made at once if enough is known, otherwise at its first RTT sample.

use std::collections::BTreeMap;
use std::sync::Arc;

use selection::policy::builtin;
use selection::{
    Auto, Cause, Decision, DestinationEntry, Hints, Policy, Selector, SenderInfo, Start,
};
use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn selector(
    policy: &str,
    hints: Option<Hints>,
    known: Option<&DestinationEntry>,
) -> (Selector, Decision) {
    let words = [("requirement", "delay"), ("hints", "on")];
    let settings: BTreeMap<String, String> = words
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let start = Start {
        at: Instant::ZERO,
        destination: known,
        hints,
        draws: RngStream::new(1, Purpose::Selection, 0),
    };
    let policy = Arc::new(builtin(policy).unwrap());
    Selector::new(policy, Auto::new(&settings).unwrap(), &start)
}

/// A sender that has had its handshake and sent its first window.
fn first_sample(rtt: Option<Duration>) -> SenderInfo {
    SenderInfo {
        mss: 1_448,
        cwnd: 10,
        inflight: 10,
        srtt: rtt,
        min_rtt: rtt,
        delivered: 1,
        send_window: Some(65_535),
        slow_start: true,
        ..SenderInfo::default()
    }
}

/// A destination with this lowest RTT, ms.
fn remembered(min_rtt_ms: f64) -> DestinationEntry {
    DestinationEntry {
        connections: 1,
        min_rtt_ms,
        ..DestinationEntry::default()
    }
}

fn away_at_120() -> Hints {
    Hints {
        sinr_db: Some(15.0),
        speed_mps: Some(120.0 / 3.6),
        sinr_trend: Some(-0.5),
    }
}

/// atxutegi2018-thesis, table 6.1: forward, 120 km/h, 4G latency, delay.
#[test]
fn the_first_rtt_sample_completes_what_the_radio_tells() {
    let hints = Some(away_at_120());
    let (mut selector, first) = selector("thesis-establishment", hints, None);
    assert_eq!((first.to, first.cause), ("cubic", Cause::Establishment));
    let silent = first_sample(None);
    assert_eq!(selector.observe(at(10), &silent, hints), None);
    let sample = first_sample(Some(Duration::from_millis(78)));
    let second = selector
        .observe(at(90), &sample, hints)
        .expect("an informed choice");
    assert_eq!(second.cause, Cause::Establishment);
    assert_eq!((second.at, second.from), (at(90), "cubic"));
    assert!(second.reason.starts_with("forward at 120 km/h, latency 4g"));
    assert_eq!(selector.current(), second.to);
    let later = first_sample(Some(Duration::from_millis(78)));
    assert_eq!(selector.observe(at(100), &later, hints), None);
}

#[test]
fn a_remembered_rtt_completes_it_before_the_first_sample() {
    let known = remembered(20.0);
    let hints = Some(away_at_120());
    let (mut selector, first) = selector("thesis-establishment", hints, Some(&known));
    assert!(first.reason.starts_with("forward at 120 km/h, latency low"));
    let sample = first_sample(Some(Duration::from_millis(20)));
    assert_eq!(selector.observe(at(40), &sample, hints), None);
}

#[test]
fn the_handshake_knows_better_than_a_memory() {
    let known = remembered(20.0);
    let hints = Some(away_at_120());
    let (mut selector, first) = selector("thesis-establishment", hints, Some(&known));
    assert!(first.reason.contains("latency low"));
    let sample = first_sample(Some(Duration::from_millis(78)));
    let second = selector
        .observe(at(90), &sample, hints)
        .expect("another choice");
    assert_eq!(second.cause, Cause::Establishment);
    assert!(second.reason.contains("latency 4g"));
}

/// A start tree that expects 0.9 of BBR and 0.88 of CUBIC, with a margin above that difference.
const RELUCTANT: &str = r#"
name = "reluctant"
description = "BBR would have to be much better."
[method.tree]
features = ["base_rtt", "flow_size"]
[[method.tree.trees]]
requirement = "balanced"
moment = "start"
margin = 0.05
nodes = [
    { feature = "flow_size", threshold = 1.0, below = 1, from = 2, unknown = 2 },
    { cases = 1, take = ["bbr"], parts = { bbr = [0.9, 0.9, 0.9] } },
    { cases = 1, take = ["bbr", "cubic"], parts = { bbr = [0.9, 0.9, 0.9], cubic = [0.88, 0.88, 0.88] } },
]
"#;

/// A memory makes the choice possible earlier, and does not change it.
#[test]
fn a_margin_holds_for_destinations_that_are_known_too() {
    let known = remembered(78.0);
    let policy = Policy::from_toml(RELUCTANT, "reluctant").expect("a policy");
    for known in [None, Some(&known)] {
        let start = Start {
            at: Instant::ZERO,
            destination: known,
            hints: None,
            draws: RngStream::new(1, Purpose::Selection, 0),
        };
        let (mut selector, first) =
            Selector::new(Arc::new(policy.clone()), Auto::default(), &start);
        assert_eq!(first.to, "cubic");
        if known.is_some() {
            assert!(first.reason.contains("too little"));
            assert!(first.reason.starts_with("flow_size unknown: "));
        }
        let sample = first_sample(Some(Duration::from_millis(78)));
        selector.observe(at(90), &sample, None);
        assert_eq!(selector.current(), "cubic");
    }
}

/// Without hints the movement of a connection that has sent nothing is unknown.
#[test]
fn the_table_of_the_establishment_leaves_alone_what_it_cannot_tell() {
    let (mut selector, first) = selector("thesis-establishment", None, None);
    for step in 1..500 {
        let sample = first_sample(Some(Duration::from_millis(78)));
        assert_eq!(selector.observe(at(10 * step), &sample, None), None);
    }
    assert_eq!(selector.current(), first.to);
}

/// atxutegi2018-thesis, table 6.8: towards the base station there is scaling, and no sustainer.
#[test]
fn a_hint_decides_movement_and_phase_whatever_the_samples_say() {
    let hints = Some(Hints {
        sinr_trend: Some(0.5),
        ..away_at_120()
    });
    let (mut selector, _) = selector("thesis-inflight", hints, None);
    let rtt = Duration::from_millis(78);
    for step in 1..400 {
        let sample = SenderInfo {
            delivered: 30 * step,
            inflight: 150,
            srtt: Some(rtt * 2),
            ..first_sample(Some(rtt))
        };
        selector.observe(at(10 * step), &sample, hints);
    }
    let estimates = selector.estimators().estimates();
    assert_eq!(estimates.movement.value.word(), "backward");
    assert_eq!(estimates.phase.value.word(), "scaling");
    assert_eq!(estimates.speed.value.word(), "120");
}
