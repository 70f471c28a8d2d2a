//! Changes of a selector: when they happen, and when they are prevented.

use std::sync::Arc;

use selection::policy::{Tuning, builtin};
use selection::{
    Auto, Cause, DEFAULT_CCA, Decision, Policy, Requirement, Selector, SenderInfo, Start,
};
use units::random::{Purpose, RngStream};
use units::{Duration, Instant, Rate};

use crate::by_queue::{at, rules, sender};
use crate::path::Flow;

fn by_queue(tuning: &str) -> Policy {
    Policy::from_toml(&rules(tuning), "by-queue").expect("a policy")
}

fn selector(policy: Policy, requirement: Requirement) -> (Selector, Decision) {
    let auto = Auto {
        requirement,
        ..Auto::default()
    };
    let start = Start {
        at: Instant::ZERO,
        destination: None,
        hints: None,
        draws: RngStream::new(1, Purpose::Selection, 0),
    };
    Selector::new(Arc::new(policy), auto, &start)
}

/// Shows samples every 10 ms from `from` to `to`; returns the decisions.
fn watch(selector: &mut Selector, from: u64, to: u64, rtt: impl Fn(u64) -> u64) -> Vec<Decision> {
    let times = (from / 10..to / 10).map(|n| n * 10);
    times
        .filter_map(|ms| selector.observe(at(ms), &sender(ms, rtt(ms)), None))
        .collect()
}

#[test]
fn without_any_sample_there_is_the_default() {
    for name in [
        "rules",
        "thesis-establishment",
        "thesis-inflight",
        "bpftune",
    ] {
        let (selector, decision) = selector(builtin(name).unwrap(), Requirement::Delay);
        assert_eq!(decision.to, DEFAULT_CCA, "{name}");
        assert_eq!(decision.cause, Cause::Establishment);
        assert_eq!(selector.current(), DEFAULT_CCA);
    }
}

#[test]
fn a_change_takes_agreement_and_rest() {
    let (mut selector, _) = selector(
        by_queue("interval = 0.5\nagree = 3\ndwell = 5.0"),
        Requirement::Goodput,
    );
    // The choice for the new connection is made at the first sample.
    let first = watch(&mut selector, 0, 10, |_| 50);
    assert_eq!(
        (first[0].cause, first[0].to),
        (Cause::Establishment, "illinois")
    );
    // One decision in ten that sees a queue is not enough for a change.
    let blips = watch(&mut selector, 10, 20_000, |ms| {
        if ms % 5_000 < 500 { 100 } else { 50 }
    });
    assert_eq!(blips, []);
    // A queue that stays causes a change at the third decision.
    let changes = watch(&mut selector, 20_000, 24_000, |_| 100);
    assert_eq!(changes.len(), 1);
    assert_eq!((changes[0].from, changes[0].to), ("illinois", "vegas"));
    assert_eq!(changes[0].reason, "a queue stands");
    let at = changes[0].at.as_secs_f64();
    assert!((21.0..22.5).contains(&at), "{at}");
    // The queue is gone at once, but the dwell time keeps the new CCA for five seconds.
    let back = watch(&mut selector, 24_000, 30_000, |_| 50);
    assert_eq!(back.len(), 1);
    assert!(back[0].at >= changes[0].at + Duration::from_secs(5));
}

#[test]
fn what_made_it_worse_is_taken_back_and_not_tried_again_for_a_while() {
    let tuning = "interval = 0.5\nagree = 1\ndwell = 1.0\njudge = 2.0\ntolerance = 0.2\nbar = 10.0";
    let (mut selector, _) = selector(by_queue(tuning), Requirement::Delay);
    assert!(watch(&mut selector, 0, 5_000, |_| 50)[0].to == "illinois");
    // The policy asks for Vegas, and under it the queue grows to three times the RTT.
    let decisions = watch(&mut selector, 5_000, 14_000, |ms| {
        if ms < 6_000 { 100 } else { 300 }
    });
    let causes: Vec<_> = decisions.iter().map(|d| (d.cause, d.to)).collect();
    assert_eq!(
        causes,
        [(Cause::Change, "vegas"), (Cause::Return, "illinois")]
    );
    assert!(
        decisions[1].reason.starts_with("vegas has lost"),
        "{}",
        decisions[1].reason
    );
    let barred_until = decisions[1].at + Duration::from_secs(10);
    let again = watch(&mut selector, 14_000, 30_000, |_| 300);
    assert_eq!(again[0].to, "vegas");
    assert!(again[0].at >= barred_until);
}

/// A second change before the judgement would hide the effect of the first.
#[test]
fn a_change_is_judged_before_the_next_one_is_made() {
    let short = "interval = 0.5\nagree = 1\ndwell = 0.5\njudge = 2.0\ntolerance = 0.2\nbar = 10.0";
    let bbr = r#"[[method.rules.rules]]
requirements = ["goodput", "balanced", "delay"]
when = [{ feature = "queue_ratio", at_least = 3.0 }]
choose = ["bbr"]
because = "a long queue stands"
"#;
    let text = rules(short).replacen(
        "[[method.rules.rules]]",
        &format!("{bbr}[[method.rules.rules]]"),
        1,
    );
    let policy = Policy::from_toml(&text, "by-length").expect("a policy");
    let (mut selector, _) = selector(policy, Requirement::Delay);
    watch(&mut selector, 0, 5_000, |_| 50);
    // The policy chooses Vegas for a short queue; under it the queue grows, for which the policy has BBR.
    let decisions = watch(&mut selector, 5_000, 9_500, |ms| {
        if ms < 5_500 { 100 } else { 300 }
    });
    let causes: Vec<_> = decisions.iter().map(|d| (d.cause, d.from, d.to)).collect();
    assert_eq!(
        causes,
        [
            (Cause::Change, "illinois", "vegas"),
            (Cause::Return, "vegas", "illinois"),
            (Cause::Change, "illinois", "bbr"),
        ]
    );
    assert_eq!(
        decisions[1].at - decisions[0].at,
        Duration::from_millis(3_000)
    );
}

/// The judgement works however rarely the policy is asked, even if its interval is long over by then.
#[test]
fn a_change_is_judged_on_time_where_decisions_are_rare() {
    let rare = "interval = 20.0\nagree = 1\njudge = 1.0\ntolerance = 0.2";
    let (mut selector, _) = selector(by_queue(rare), Requirement::Delay);
    watch(&mut selector, 0, 10_000, |_| 50);
    let decisions = watch(&mut selector, 10_000, 30_000, |ms| {
        if ms <= 20_000 { 100 } else { 300 }
    });
    let causes: Vec<_> = decisions.iter().map(|d| d.cause).collect();
    assert_eq!(causes, [Cause::Change, Cause::Return]);
    assert_eq!(
        decisions[1].at - decisions[0].at,
        Duration::from_millis(1_500)
    );
}

/// The capacity falls from 20 to 8 Mbit/s shortly before or after the change.
#[test]
fn a_fall_of_the_capacity_is_not_blamed_on_the_change() {
    let by_age = r#"
name = "by-age"
description = "Illinois, and from six seconds on CUBIC."
tuning = { agree = 1 }
[[method.rules.rules]]
requirements = ["goodput", "delay"]
when = [{ feature = "age", below = 6.0 }]
choose = ["illinois"]
because = "young"
[[method.rules.rules]]
requirements = ["goodput", "delay"]
choose = ["cubic"]
because = "old"
"#;
    for (falls, requirement) in [
        (6.0, Requirement::Goodput),
        (6.0, Requirement::Delay),
        (7.0, Requirement::Goodput),
    ] {
        let policy = Policy::from_toml(by_age, "by-age").expect("a policy");
        let (mut selector, _) = selector(policy, requirement);
        let samples = Flow::default().samples(15.0, |t| if t < falls { 20.0 } else { 8.0 });
        let decisions: Vec<_> = samples
            .iter()
            .filter_map(|(at, sender)| selector.observe(*at, sender, None))
            .collect();
        let causes: Vec<_> = decisions.iter().map(|d| d.cause).collect();
        assert_eq!(
            causes,
            [Cause::Establishment, Cause::Change],
            "{falls} {requirement}: {:?}",
            decisions.last().map(|d| &d.reason)
        );
        let at = decisions[1].at.as_secs_f64();
        assert!((6.0..6.6).contains(&at), "{at}");
    }
}

/// A source that pauses after the change sends nothing, which is not the fault of the new CCA.
#[test]
fn a_pause_of_the_application_is_not_blamed_on_the_change() {
    let tuning = "interval = 0.1\ndwell = 0.5\nagree = 1\ntolerance = 0.2";
    let returns_where = |app_limited: bool, inflight: u32| {
        let (mut selector, _) = selector(by_queue(tuning), Requirement::Goodput);
        let mut decisions = watch(&mut selector, 0, 3_000, |_| 60);
        let slow = SenderInfo {
            delivered: 3_000,
            delivery_rate: Some(Rate::from_mbps(0.1)),
            app_limited,
            inflight,
            ..sender(0, 120)
        };
        let times = (300..800).map(|n| at(n * 10));
        decisions.extend(times.filter_map(|at| selector.observe(at, &slow, None)));
        decisions.iter().any(|each| each.cause == Cause::Return)
    };
    assert!(returns_where(false, 120));
    assert!(!returns_where(true, 120));
    assert!(!returns_where(false, 0));
}

#[test]
fn a_change_after_which_nothing_is_worse_stays() {
    let tuning = "interval = 0.5\nagree = 5\ndwell = 1.0\ntolerance = 0.2";
    let (mut selector, _) = selector(by_queue(tuning), Requirement::Delay);
    watch(&mut selector, 0, 5_000, |_| 50);
    let decisions = watch(&mut selector, 5_000, 20_000, |_| 100);
    assert_eq!(decisions.len(), 1);
    assert_eq!(selector.current(), "vegas");
}

#[test]
fn the_same_samples_lead_to_the_same_decisions() {
    let run = || {
        let (mut selector, first) = selector(builtin("rules").unwrap(), Requirement::Balanced);
        let rest = watch(&mut selector, 0, 30_000, |ms| 50 + (ms / 7) % 150);
        (first, rest)
    };
    assert_eq!(run(), run());
}

#[test]
fn tuning_has_bounds() {
    let wrong = |line: &str| {
        let text = rules(line);
        Policy::from_toml(&text, "mine.toml")
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        wrong("agree = 0"),
        "mine.toml: tuning.agree: 0 is out of range; allowed: 1 to 100"
    );
    assert_eq!(
        wrong("interval = 0.0"),
        "mine.toml: tuning.interval: 0 is out of range; allowed: 0.01 to 60"
    );
    assert!(wrong("dwel = 1.0").contains("unknown field `dwel`"));
    assert_eq!(Tuning::default().agree, 2);
}
