//! Machines that all speak at once: stalls of the uplink, and what they do to TCP.

use results::Tables;

use crate::library::{run, scenario};

fn machines(count: u32, changes: &[&str]) -> Tables {
    let count = format!("radio.ues.1.count={count}");
    let mut all = vec![count.as_str(), "duration=8s"];
    all.extend(changes);
    run(&scenario("m2m", &all), 1)
}

/// Returns the times of uploads, s.
fn uploads(tables: &Tables) -> Vec<f64> {
    let events = tables.events.kind.iter().zip(&tables.events.detail);
    let times = events.filter(|(kind, _)| *kind == "up_s");
    times.map(|(_, detail)| detail.parse().unwrap()).collect()
}

fn longest(tables: &Tables) -> f64 {
    uploads(tables).into_iter().fold(0.0, f64::max)
}

fn timeouts(tables: &Tables) -> f64 {
    tables.flows.timeouts.iter().sum()
}

/// Kim 2016, figure 10: with a periodic timer of 320 ms uploads wait for the retransmission timer, and TCP times out.
/// The enhancement prevents both.
#[test]
fn a_stall_lasts_until_the_retransmission_timer_and_the_enhancement_prevents_it() {
    let slow = "radio.uplink.periodic_bsr=320ms";
    let stalled = machines(10, &[slow]);
    let enhanced = machines(10, &[slow, "radio.uplink.enhanced=true"]);
    assert_eq!(
        (uploads(&stalled).len(), uploads(&enhanced).len()),
        (10, 10)
    );
    println!("{} s, {} s", longest(&stalled), longest(&enhanced));
    assert!(longest(&stalled) > 2.56 && longest(&stalled) < 3.2);
    assert!(longest(&enhanced) < 0.15);
    assert!(timeouts(&stalled) >= 10.0);
    assert_eq!(timeouts(&enhanced), 0.0);
}

/// The log has each TTI of the cell, and each packet of the uplink with its delay.
#[test]
fn the_control_channel_and_the_uplink_are_recorded() {
    let tables = machines(3, &[]);
    assert_eq!(tables.control.len(), 8_001);
    assert!(tables.control.taken.iter().any(|taken| *taken > 0));
    assert!(
        tables
            .control
            .taken
            .iter()
            .zip(&tables.control.elements)
            .all(|(taken, elements)| taken <= elements)
    );
    let grants: u32 = tables.control.grants.iter().sum();
    assert!(grants >= 3 * 4, "{grants}");
    assert!(
        tables
            .uplink
            .bytes
            .iter()
            .filter(|size| **size > 1_000)
            .count()
            >= 3
    );
    assert!(
        tables
            .uplink
            .delay_ms
            .iter()
            .all(|delay| (1.0..100.0).contains(delay))
    );
    let silent = machines(3, &["radio.control_log=false"]);
    assert!(silent.control.is_empty() && silent.uplink.is_empty());
    assert_eq!(silent.flows.completion_s, tables.flows.completion_s);
}

/// A pattern stands for all nodes of a UE; the flow keeps its place in the file.
#[test]
fn a_flow_from_all_machines_is_one_for_each() {
    let few = scenario("m2m", &["radio.ues.1.count=3"]);
    assert_eq!(few.flows.len(), 1);
    let spread = few.expand_flows();
    let ends = |flow: &scenario::Flow| format!("{}: {} to {}", flow.name, flow.from, flow.to);
    let ends: Vec<_> = spread.flows.iter().map(ends).collect();
    assert_eq!(ends[0], "telemetry-1: machine-1 to server");
    assert_eq!(ends[2], "telemetry-3: machine-3 to server");
    assert_eq!(ends.len(), 3);
}
