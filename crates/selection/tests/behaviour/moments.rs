//! Measured moments: those most alike decide in flight.

use std::collections::BTreeMap;
use std::sync::Arc;

use selection::{Auto, Decision, Policy, Selector, SenderInfo, Start};
use units::random::{Purpose, RngStream};
use units::{Duration, Instant, Rate};

/// Ten moments with a base RTT of 20 ms, at which Vegas is best for delay, and ten with one of 200 ms, at which BBR is.
/// Between the two kinds nothing was measured. Where another flow competes, Vegas starves.
fn policy(fair_share: f64, choice: &str) -> String {
    let mut rows = String::new();
    for number in 0..20 {
        let (family, rtt, vegas, bbr) = if number < 10 {
            (
                "near",
                20 + number,
                "20,70,100,10,50,50,50",
                "95,50,90,90,99,50,99",
            )
        } else {
            (
                "far",
                200 + number,
                "40,50,100,10,40,40,40",
                "90,80,90,90,99,99,99",
            )
        };
        rows += &format!("{family},cubic,{fair_share},{rtt},,{vegas},{bbr}\n");
    }
    format!(
        r#"
name = "alike"
description = "Moments."

[method.tree]
features = ["base_rtt"]

[[method.tree.trees]]
requirement = "delay"
moment = "start"
nodes = [{{ cases = 9, take = ["cubic"], parts = {{ cubic = [0.5, 0.5, 0.5] }} }}]

[method.tree.moments]
neighbours = 5
choices = [{{ requirement = "delay", margin = 0.02, reach = 0.5, weights = {{ base_rtt = 1.0 }}{choice} }}]
table = """
family,before,fair_share,base_rtt,random_loss,{}
{rows}"""
"#,
        ["vegas", "bbr"]
            .map(|cca| ["a", "b", "c", "use", "goodput@", "delay@", "power"]
                .map(|part| format!("{part}:{cca}"))
                .join(","))
            .join(",")
    )
}

fn selector(policy: &str, requirement: &str) -> Selector {
    let policy = Arc::new(Policy::from_toml(policy, "alike.toml").unwrap());
    let settings = BTreeMap::from([("requirement".to_owned(), requirement.to_owned())]);
    let start = Start {
        at: Instant::ZERO,
        destination: None,
        hints: None,
        draws: RngStream::new(1, Purpose::Selection, 0),
    };
    Selector::new(policy, Auto::new(&settings).unwrap(), &start).0
}

/// Returns the decisions in the first 4 s of a connection with this RTT that acknowledges 10 segments in each.
fn decisions(policy: &str, requirement: &str, rtt_ms: u64) -> Vec<Decision> {
    let mut selector = selector(policy, requirement);
    let rtt = Duration::from_millis(rtt_ms);
    let mut result = Vec::new();
    for tick in 0..400 {
        let now = Instant::ZERO + Duration::from_millis(10 * tick);
        let delivered = 10 * (10 * tick / rtt_ms);
        let sender = SenderInfo {
            mss: 1_448,
            cwnd: 10,
            inflight: 10,
            srtt: Some(rtt),
            min_rtt: Some(rtt),
            delivered,
            delivery_rate: Some(Rate::from_bits_per_second(14_480 * 8 * 1_000 / rtt_ms)),
            send_window: Some(65_535),
            ..SenderInfo::default()
        };
        result.extend(selector.observe(now, &sender, None));
    }
    result
}

#[test]
fn the_outcomes_of_the_moments_most_alike_decide() {
    for (rtt_ms, cca, family) in [(25, "vegas", "5 near"), (215, "bbr", "5 far")] {
        let result = decisions(&policy(1.0, ""), "delay", rtt_ms);
        let change = result.last().expect("a change");
        assert_eq!((change.from, change.to), ("cubic", cca));
        let told = format!("5 of 20 moments are most alike ({family}; distance ");
        assert!(change.reason.starts_with(&told), "{}", change.reason);
        assert!(
            change.reason.ends_with(", nothing known of cubic"),
            "{}",
            change.reason
        );
    }
}

#[test]
fn other_weights_of_pm_weigh_the_same_outcomes() {
    // Nearest to delay, but with so little weight of delay that BBR, which delivers more, is better.
    assert_eq!(
        decisions(&policy(1.0, ""), "0/10/1", 25).last().unwrap().to,
        "vegas"
    );
    assert_eq!(
        decisions(&policy(1.0, ""), "4/7/0", 25).last().unwrap().to,
        "bbr"
    );
}

#[test]
fn a_cca_that_starves_beside_others_is_worth_less() {
    // A tenth of the capacity is a tenth of the share of a flow alone, where it does not count.
    assert_eq!(
        decisions(&policy(0.9, ""), "delay", 25).last().unwrap().to,
        "bbr"
    );
}

#[test]
fn changes_are_made_from_an_age_on() {
    let changed_at = |choice: &str| {
        let result = decisions(&policy(1.0, choice), "delay", 25);
        result.last().expect("a change").at.as_secs_f64()
    };
    assert!(changed_at("") < 3.0);
    assert!(changed_at(", after = 3.0") > 3.0);
}

#[test]
fn far_from_all_moments_nothing_is_changed() {
    // The five most alike are up to two of twenty ranks away.
    for (reach, changes) in [("0.01", 0), ("0.1", 1)] {
        let policy = policy(1.0, "").replace("reach = 0.5", &format!("reach = {reach}"));
        let result = decisions(&policy, "delay", 25);
        let to_vegas = result.iter().filter(|each| each.to == "vegas");
        assert_eq!(to_vegas.count(), changes);
    }
}

#[test]
fn a_gain_that_is_not_sure_is_none() {
    // Without a spread between the moments the least gain is sure; with one it is not.
    let changed = |spread: bool| {
        let text = policy(1.0, ", sure = 2.0");
        let mut text = text.replace(":vegas", ":reno").replace(":bbr", ":cubic");
        if spread {
            text = text.replacen("near,cubic,1,24,,20,70", "near,cubic,1,24,,0,0", 1);
        }
        let result = decisions(&text, "delay", 25);
        result.iter().any(|each| each.to == "reno")
    };
    assert!(changed(false));
    assert!(!changed(true));
}

#[test]
fn moments_that_cannot_be_used_are_rejected() {
    let told = |from: &str, to: &str| {
        let wrong = policy(1.0, "").replacen(from, to, 1);
        assert_ne!(wrong, policy(1.0, ""), "{from}");
        let error = Policy::from_toml(&wrong, "alike.toml").expect_err("it is wrong");
        error.to_string()
    };
    let within = "alike.toml: method.tree.moments";
    assert_eq!(
        told("neighbours = 5", "neighbours = 21"),
        format!("{within}.neighbours: 21 is not allowed; allowed: 1 to 20, the rows of the table")
    );
    assert_eq!(
        told("reach = 0.5", "reach = 0"),
        format!("{within}.choices[0].reach: 0 is out of range; allowed: 0.000001 to 1")
    );
    assert_eq!(
        told("{ base_rtt = 1.0 }", "{ speed = 1.0 }"),
        format!(
            "{within}.choices[0].weights: \"speed\" is not in the table; allowed: before, base_rtt, random_loss"
        )
    );
    assert_eq!(
        told("{ base_rtt = 1.0 }", "{ base_rtt = 0.0 }"),
        format!("{within}.choices[0].weights: all are 0; allowed: one above 0 or more")
    );
    assert_eq!(
        told("moment = \"start\"", "moment = \"flight\""),
        format!(
            "{within}.choices[0].requirement: \"delay\" has a tree in flight; allowed: either of them"
        )
    );
    for (from, to, reason) in [
        (
            "random_loss",
            "colour",
            "column \"colour\" is not allowed; allowed: family, before, fair_share, features, and outcomes such as a:bbr",
        ),
        (
            "c:bbr,",
            "",
            "the table has no column \"c:bbr\"; it has family, before, fair_share, base_rtt, random_loss, a:vegas, b:vegas, c:vegas and so on",
        ),
        (
            "near,cubic,1,20,,20",
            "near,cubic,1,20,,120",
            "row 1, column \"a:vegas\": 120 is not allowed; allowed: 0 to 100",
        ),
        (
            "near,cubic,1,20,",
            "near,cubic,0,20,",
            "row 1, column \"fair_share\": 0 is not allowed; allowed: above 0, up to 1",
        ),
        (
            "near,cubic,1,21,",
            "near,cubic,1,fast,",
            "row 2, column \"base_rtt\": \"fast\" is not a number",
        ),
        (
            "near,cubic,1,20,",
            "near,cubik,1,20,",
            "row 1, column \"before\": \"cubik\" is not a congestion control; did you mean \"cubic\"?",
        ),
    ] {
        let error = told(from, to);
        assert!(error.contains(reason), "{error}");
    }
}
