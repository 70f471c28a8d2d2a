//! Congestion controls for fast, long and lossy paths outdo NewReno there. The checker verifies every run.

use results::Tables;

use crate::library::{first, run, scenario};

fn on(cca: &str, path: &[&str]) -> Tables {
    let cca = format!("flows.0.cca={cca}");
    let changes: Vec<&str> = path.iter().copied().chain([cca.as_str()]).collect();
    run(&scenario("steady-20-68", &changes), 1)
}

/// Mean of the slots from `from_s` on, Mbit/s.
fn goodput_from(tables: &Tables, from_s: f64) -> f64 {
    let slots = tables.slots.t_s.iter().zip(&tables.slots.goodput_mbps);
    let late: Vec<f64> = slots
        .filter(|(t, _)| **t >= from_s)
        .map(|(_, goodput)| *goodput)
        .collect();
    late.iter().sum::<f64>() / late.len() as f64
}

/// An exercise: of two losses in one window, `NewReno` with SACK repairs both in one recovery, and halves once.
#[test]
fn packets_of_a_list_are_lost_and_no_others() {
    let path = [
        "duration=4s",
        "path.buffer=10bdp",
        "path.loss={ kind = 'list', packets = [40, 42] }",
    ];
    let tables = on("reno", &path);
    let flow = first(&tables.flows);
    assert_eq!((flow.retransmissions, flow.recoveries), (2, 1.0));
    let recovery = tables.recoveries.row(0);
    assert_eq!((recovery.random, recovery.overflow), (2, 0));
}

/// Kelly 2003 and Xu et al. 2004: at 1 Gbit/s and 100 ms NewReno needs minutes to come back from one
/// loss; Scalable TCP and BIC seconds.
#[test]
#[ignore = "slow, make test-all"]
fn scalable_and_bic_outgrow_newreno_on_a_fast_and_long_path() {
    let [reno, scalable, bic] = ["reno", "scalable", "bic"].map(|cca| {
        let path = [
            "duration=8s",
            "path.rtt=100ms",
            "path.down={ rate = '1Gbit/s' }",
            "path.buffer=0.1bdp",
            "path.loss=0.00001",
            "tcp.receive_buffer_max=64MB",
            "tcp.send_buffer_max=64MB",
        ];
        goodput_from(&on(cca, &path), 4.0)
    });
    assert!(reno < 500.0, "{reno} Mbit/s");
    assert!(scalable > 900.0, "{scalable} Mbit/s");
    assert!(bic > 800.0, "{bic} Mbit/s");
}

/// Caini and Firrincieli 2004: with the same loss NewReno is the slower the longer the path, Hybla is
/// not.
#[test]
fn hybla_removes_the_penalty_of_long_paths() {
    let longer_over_shorter = |cca| {
        let [short, long] = ["path.rtt=25ms", "path.rtt=200ms"].map(|rtt| {
            let path = [
                rtt,
                "duration=30s",
                "path.down={ rate = '200Mbit/s' }",
                "path.loss=0.0005",
            ];
            goodput_from(&on(cca, &path), 5.0)
        });
        long / short
    };
    let (reno, hybla) = (longer_over_shorter("reno"), longer_over_shorter("hybla"));
    assert!(reno < 0.25, "{reno}");
    assert!(hybla > 0.8, "{hybla}");
}

/// Grieco and Mascolo 2004 and Fu and Liew 2003: losses of the radio cost Westwood+ and Veno less
/// than NewReno.
#[test]
fn westwood_and_veno_keep_more_after_random_loss_than_newreno() {
    for loss in ["path.loss=0.001", "path.loss=0.003", "path.loss=0.01"] {
        let [reno, westwood, veno] = ["reno", "westwood", "veno"].map(|cca| {
            let tables = on(cca, &["duration=60s", loss]);
            first(&tables.flows).goodput_mbps
        });
        assert!(westwood > 1.5 * reno, "{loss}: {westwood} for {reno}");
        assert!(veno > 1.3 * reno, "{loss}: {veno} for {reno}");
    }
}

/// Liu et al. 2008: up to 10 segments per round trip while there is no queue, 0.3 when it is full. The
/// link turns twenty times as fast after 20 s, which empties the queue for good.
#[test]
fn illinois_grows_fast_without_a_queue_and_slowly_before_it_overflows() {
    let steps = "path.down={ steps = [{ at = '0s', rate = '10Mbit/s' }, \
                 { at = '20s', rate = '200Mbit/s' }] }";
    let tables = on(
        "illinois",
        &["duration=26s", steps, "path.buffer=300packets"],
    );
    let slots = &tables.slots;
    let growth_per_round = |from: usize, to: usize| {
        let grown = f64::from(slots.cwnd[to]) - f64::from(slots.cwnd[from]);
        let rtts = &slots.rtt_mean_ms[from..to];
        let rtt = rtts.iter().sum::<f64>() / rtts.len() as f64;
        grown / ((slots.t_s[to] - slots.t_s[from]) * 1_000.0 / rtt)
    };
    let full = growth_per_round(150, 195);
    assert!((0.25..=0.5).contains(&full), "{full} with a full queue");
    let empty = growth_per_round(210, 250);
    assert!((9.0..=10.5).contains(&empty), "{empty} without a queue");
}
