//! Queueing delay and retransmissions of shared queue disciplines, compared with Linux.

use crate::library::{run, scenario};

/// Seeds of runs. Flows begin at other times in each.
fn seeds(mbps: f64, flows: u32) -> core::ops::RangeInclusive<u64> {
    // Means of most packets are close to that of all runs.
    if mbps * f64::from(flows) > 1000.0 {
        1..=3
    } else {
        1..=8
    }
}

/// Rate of the link in Mbit/s, number of CUBIC flows, mean queueing delay over the flows in ms, and retransmissions per
/// minute.
///
/// The figures are those of Linux 7.3.4 on the kernel engine with `kernel.queue = true` (Debian's linux-source-7.3 of
/// November 2026). They are means of four runs for 200 flows and of 8 to 112 runs otherwise, as runs of some loads differ
/// by a third.
type Load = (f64, u32, f64, f64);

fn measured(queue: &str, mbps: f64, flows: u32) -> (f64, f64) {
    let changes = [
        "samples=off".to_owned(),
        "path.rtt=40ms".to_owned(),
        format!("path.down.rate={mbps}Mbit/s"),
        "path.buffer=10000packets".to_owned(),
        format!("path.queue={queue}"),
        format!("flows.0.count={flows}"),
        "flows.0.start=1s".to_owned(),
        "variation.start_jitter=1s".to_owned(),
    ];
    let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
    let scenario = scenario("steady-20-68", &changes);
    let (mut delay_ms, mut retransmissions) = (0.0, 0.0);
    for seed in seeds(mbps, flows) {
        let rows = run(&scenario, seed).flows;
        delay_ms += rows.rtt_mean_ms.iter().sum::<f64>() / f64::from(flows) - 40.0;
        retransmissions += rows.retransmissions.iter().sum::<u64>() as f64;
    }
    let runs = seeds(mbps, flows).count() as f64;
    (delay_ms / runs, retransmissions / runs)
}

/// Loads of a test: those with few packets, for a test that runs each time, or the others.
#[derive(PartialEq)]
enum Part {
    Light,
    Heavy,
}

fn part(&(mbps, flows, ..): &Load) -> Part {
    if mbps * f64::from(flows) < 100.0 {
        Part::Light
    } else {
        Part::Heavy
    }
}

fn assert_like_linux(queue: &str, loads: &[Load], wanted: Part) {
    for &(mbps, flows, delay_ms, retransmissions) in
        loads.iter().filter(|load| part(load) == wanted)
    {
        let native = measured(queue, mbps, flows);
        let relative_error = |native: f64, linux: f64| (native / linux - 1.0).abs();
        assert!(
            relative_error(native.0, delay_ms) < 0.1
                && relative_error(native.1, retransmissions) < 0.1,
            "{queue}, {flows} flows on {mbps} Mbit/s: {native:?}, Linux {delay_ms} ms, {retransmissions}"
        );
    }
}

/// With many flows on a slow link, each has less than one packet in its queue, but the delay is long: CoDel compares the
/// backlog of the link with the MTU (`fq_codel_dequeue`), and drops.
const FQ_CODEL: [Load; 8] = [
    (1.0, 1, 37.0, 92.0),
    (1.0, 10, 72.9, 2384.0),
    (1.0, 50, 337.4, 3562.0),
    (1.0, 200, 2000.0, 5730.0),
    (10.0, 1, 4.2, 51.0),
    (10.0, 10, 14.4, 1631.0),
    (10.0, 50, 49.1, 15134.0),
    (10.0, 200, 122.0, 34475.0),
];

#[test]
#[ignore = "slow, make test-all"]
fn fq_codel_has_the_delay_of_linux() {
    assert_like_linux("fq-codel", &FQ_CODEL, Part::Light);
}

#[test]
#[ignore = "slow, make test-all"]
fn fq_codel_has_the_delay_of_linux_under_load() {
    assert_like_linux("fq-codel", &FQ_CODEL, Part::Heavy);
}

const CODEL: [Load; 8] = [
    (1.0, 1, 37.0, 92.0),
    (1.0, 10, 81.5, 1916.0),
    (1.0, 50, 729.0, 3265.0),
    (1.0, 200, 3158.0, 4664.0),
    (10.0, 1, 4.2, 51.0),
    (10.0, 10, 23.0, 1885.0),
    (10.0, 50, 121.2, 12906.0),
    (10.0, 200, 690.5, 22084.0),
];

#[test]
#[ignore = "slow, make test-all"]
fn codel_has_the_delay_of_linux() {
    assert_like_linux("codel", &CODEL, Part::Light);
}

#[test]
#[ignore = "slow, make test-all"]
fn codel_has_the_delay_of_linux_under_load() {
    assert_like_linux("codel", &CODEL, Part::Heavy);
}

const PIE: [Load; 8] = [
    (1.0, 1, 39.5, 135.0),
    (1.0, 10, 171.5, 1863.0),
    (1.0, 50, 2608.0, 2435.0),
    (1.0, 200, 12508.0, 2727.0),
    (10.0, 1, 17.0, 38.0),
    (10.0, 10, 22.4, 2028.0),
    (10.0, 50, 45.4, 15250.0),
    (10.0, 200, 744.1, 24064.0),
];

#[test]
fn pie_has_the_delay_of_linux() {
    assert_like_linux("pie", &PIE, Part::Light);
}

#[test]
#[ignore = "slow, make test-all"]
fn pie_has_the_delay_of_linux_under_load() {
    assert_like_linux("pie", &PIE, Part::Heavy);
}
