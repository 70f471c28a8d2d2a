//! Congestion controls that model or forecast the path, on whole paths, measured on the taps.

use results::FlowRow;

use crate::library::{first, run, scenario};

fn row(name: &str, cca: &str, overrides: &[&str]) -> FlowRow {
    let cca = format!("flows.0.cca={cca}");
    let all: Vec<&str> = overrides.iter().copied().chain([cca.as_str()]).collect();
    let row = first(&run(&scenario(name, &all), 1).flows);
    println!("{name} {cca}: {row:#?}");
    row
}

/// BBR keeps the RTT near that of an empty path, where those that go by loss fill a buffer of one BDP.
#[test]
fn bbr_keeps_less_than_half_of_the_queue_of_reno_and_cubic() {
    let queueing = |cca| row("steady-20-68", cca, &["duration=30s"]).rtt_mean_ms - 68.0;
    let (reno, cubic) = (queueing("reno"), queueing("cubic"));
    for cca in ["bbr", "bbr3"] {
        let wait = queueing(cca);
        assert!(
            wait < 0.5 * reno.min(cubic),
            "{cca} {wait} ms, reno {reno} ms, cubic {cubic} ms"
        );
    }
}

/// draft-ietf-ccwg-bbr-06 §3: loss above 2 % bounds what BBRv3 has in flight; v1 does not mind it.
#[test]
fn bbr3_bounds_its_loss_at_a_small_buffer() {
    let at = |cca| row("steady-20-68", cca, &["duration=30s", "path.buffer=0.3bdp"]);
    let (v1, v3) = (at("bbr"), at("bbr3"));
    let lost = |row: &FlowRow| row.retransmissions as f64 / row.segments as f64;
    let (lost_v1, lost_v3) = (lost(&v1), lost(&v3));
    assert!(lost_v3 < 0.015, "{lost_v3}");
    assert!(lost_v1 > 2.0 * lost_v3, "{lost_v1}, {lost_v3}");
    assert!(v3.goodput_mbps > 0.85 * 20.0, "{}", v3.goodput_mbps);
}

/// NSDI 2013 abstract: on a cellular path the forecast gives up a part of the rate of CUBIC for a fraction of its delay.
#[test]
fn sprout_keeps_the_delay_low_on_a_drive() {
    let (cubic, sprout) = (row("drive", "cubic", &[]), row("drive", "sprout", &[]));
    assert!(
        sprout.goodput_mbps > 0.6 * cubic.goodput_mbps,
        "{} of {}",
        sprout.goodput_mbps,
        cubic.goodput_mbps
    );
    let waits = [&sprout, &cubic].map(|row| row.rtt_mean_ms - 68.0);
    assert!(waits[0] < 0.5 * waits[1], "{waits:?}");
}
