//! Congestion controls that go by delay, and slow-start methods, on whole paths.

use std::collections::HashMap;

use results::{FlowRow, Tables};

use crate::library::{first, run, scenario};

/// The RTT of the path without a queue, ms.
const BASE_MS: f64 = 68.0;
/// The window that fills it, segments.
const BDP: f64 = 113.0;

fn alone(cca: &str, more: &[&str]) -> FlowRow {
    let cca = format!("flows.0.cca={cca}");
    let mut overrides = vec!["duration=30s", &cca];
    overrides.extend(more);
    first(&run(&scenario("steady-20-68", &overrides), 1).flows)
}

/// The goodput of a flow that competes with CUBIC, and of that CUBIC flow, Mbit/s.
fn beside_cubic(cca: &str) -> (f64, f64) {
    let flows = format!("flows=[{{cca={cca}}},{{cca='cubic'}}]");
    let tables = run(&scenario("steady-20-68", &["duration=60s", &flows]), 1);
    (
        tables.flows.row(0).goodput_mbps,
        tables.flows.row(1).goodput_mbps,
    )
}

/// Mean RTT from 10 s on, less the base RTT, ms.
fn standing_queue(tables: &Tables, base_ms: f64) -> f64 {
    let slots = tables.slots.t_s.iter().zip(&tables.slots.rtt_mean_ms);
    let late: Vec<f64> = slots
        .filter(|(t, rtt)| **t >= 10.0 && !rtt.is_nan())
        .map(|(_, rtt)| *rtt)
        .collect();
    late.iter().sum::<f64>() / late.len() as f64 - base_ms
}

/// No CCA stalls on a steady link, and delay-based CCAs keep less than half of the queue of loss-based ones.
#[test]
fn those_that_go_by_delay_keep_the_queue_short() {
    let rows: HashMap<&str, FlowRow> = cca::CCAS.map(|cca| (cca.name, alone(cca.name, &[]))).into();
    for (cca, row) in &rows {
        assert!(row.goodput_mbps > 1.0, "{cca}: {}", row.goodput_mbps);
    }
    let queue = |cca| rows[cca].rtt_mean_ms - BASE_MS;
    let of_loss = queue("reno").min(queue("cubic"));
    for cca in ["vegas", "cdg", "nv", "lp", "bbr", "copa"] {
        let row = &rows[cca];
        let result = queue(cca);
        assert!(result < of_loss / 2.0, "{cca}: {result} ms of {of_loss} ms");
        assert!(row.goodput_mbps > 12.0, "{cca}: {}", row.goodput_mbps);
    }
}

/// Brakmo and Peterson's Vegas, CDG and LP leave most of a shared link to CUBIC, which fills the buffer.
#[test]
fn those_that_go_by_delay_yield_to_cubic() {
    for cca in ["'vegas'", "'cdg'", "'lp'"] {
        let (own, cubic) = beside_cubic(cca);
        assert!(own < cubic / 3.0, "{cca}: {own}, CUBIC {cubic}");
        assert!(own + cubic > 17.0, "{cca}: {own}, CUBIC {cubic}");
    }
}

/// Arun and Balakrishnan 2018 §2.2: the competitive mode gets a share against flows that fill buffers; the
/// default mode alone does not.
#[test]
fn copa_competes_where_it_must() {
    let (own, cubic) = beside_cubic("'copa'");
    assert!(own > cubic / 3.0, "{own}, CUBIC {cubic}");
    let (meek, cubic) = beside_cubic("{name='copa',competitive=false}");
    assert!(meek < own / 2.0, "{meek}, CUBIC {cubic}");
}

/// The same §2.2: alone on a link whose buffer is large, Copa sees the queue nearly empty and stays in its default
/// mode. Neither the short packets of the handshake nor its own bursts of two hide that.
#[test]
fn copa_alone_does_not_compete() {
    for (name, segment_ms) in [("steady-5-68", 2.4), ("steady-20-18", 0.6)] {
        let row = run(
            &scenario(
                name,
                &["duration=30s", "path.buffer=4bdp", "flows.0.cca='copa'"],
            ),
            1,
        );
        let queue = row.flows.induced_delay_ms[0] / segment_ms;
        assert!(queue < 6.0, "{name}: {queue} segments");
    }
}

/// The same §2.1 and §3: alone on a link about 1/δ segments wait, 0.6 ms each at 20 Mbit/s.
#[test]
fn copa_keeps_a_queue_by_its_delta() {
    let queue = |delta: &str| {
        let cca = format!("flows.0.cca={{name='copa',delta={delta}}}");
        let tables = run(&scenario("steady-20-68", &["duration=30s", &cca]), 1);
        standing_queue(&tables, BASE_MS) / 0.6
    };
    let (few, many) = (queue("0.5"), queue("0.05"));
    assert!((0.5..15.0).contains(&few), "{few} segments");
    assert!(
        (10.0..80.0).contains(&many) && many > 2.0 * few,
        "{many} segments after {few}"
    );
}

/// RFC 6817 §2.4.2: the queueing delay settles at TARGET.
#[test]
fn ledbat_holds_the_delay_at_its_target() {
    for target in [100.0, 25.0] {
        let cca = format!("flows.0.cca={{name='ledbat',target='{target}ms'}}");
        let overrides = ["duration=60s", "path.buffer=20bdp", &cca];
        let tables = run(&scenario("steady-5-18", &overrides), 1);
        let result = standing_queue(&tables, 18.0);
        assert!(
            (result - target).abs() < 0.15 * target,
            "{result} ms for {target} ms"
        );
    }
}

/// A few seconds of CUBIC that begins by `method`.
fn start(method: &str, more: &[&str]) -> FlowRow {
    let cca = format!("{{name='cubic',{method}}}");
    let mut overrides = vec!["duration=3s"];
    overrides.extend(more);
    alone(&cca, &overrides)
}

/// Ha and Rhee 2011: Hybrid Slow Start leaves with a window that fills the path and before a loss; standard
/// slow start does not leave before.
#[test]
fn hystart_leaves_before_the_first_loss() {
    for method in ["hystart", "linux-3.19", "linux-4.8", "bbr"] {
        let row = start(&format!("slow_start='{method}'"), &["path.buffer=2bdp"]);
        assert_eq!(row.retransmissions, 0, "{method}");
        assert!(row.slow_start_exit_cwnd < 3.0 * BDP, "{method}");
    }
    let row = start("slow_start='standard'", &["path.buffer=2bdp"]);
    let lost = row.retransmissions;
    // Five rounds by a quarter more are three times the window: HyStart++ loses, but less.
    let plus = start("slow_start='hystart++'", &["path.buffer=2bdp"]);
    assert!(
        plus.retransmissions < lost / 2,
        "{} of {lost}",
        plus.retransmissions
    );
    assert!(
        row.slow_start_exit_cwnd > 2.5 * BDP,
        "{}",
        row.slow_start_exit_cwnd
    );
}

/// Hybrid Slow Start takes jitter for a queue, and ends with a window below the BDP. Requiring three detections delays
/// that (atxutegi2018 §V), and HyStart++ (RFC 9406 §4.2) can return from conservative slow start.
#[test]
fn jitter_ends_hystart_too_early() {
    let jitter = ["path.jitter={ mean = '20ms', sd = '20ms' }"];
    let mean = |method: &str| {
        let rows = (0..8).map(|seed| {
            let cca = format!("flows.0.cca={{name='cubic',{method}}}");
            let overrides = ["duration=3s", &cca, jitter[0]];
            first(&run(&scenario("steady-20-68", &overrides), seed).flows).slow_start_exit_cwnd
        });
        rows.sum::<f64>() / 8.0
    };
    let once = mean("slow_start='hystart',hystart_detect='delay'");
    let thrice = mean("slow_start='hystart',hystart_detect='delay',hystart_detections=3");
    let plus = mean("slow_start='hystart++'");
    assert!(once < BDP, "{once}");
    assert!(thrice > 1.5 * once, "{thrice} after {once}");
    assert!(plus > once, "{plus} after {once}");
}
