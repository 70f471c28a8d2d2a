//! Congestion controls that change on a live connection.

mod library;

use library::{run, scenario};

/// Every ordered pair, both ways: the connection goes on at more than half of the link's rate, and the
/// event tells what happened.
#[test]
fn a_switch_does_not_stall_a_connection() {
    let ccas = tcp::cca::registry::CCAS.map(|cca| cca.name);
    for from in ccas {
        for to in ccas.iter().filter(|to| **to != from) {
            for how in ["context", "kernel"] {
                let overrides = [
                    "duration=20s".to_owned(),
                    format!("flows.0.cca={from}"),
                    format!("flows.0.switch=[{{at=\"10s\",to=\"{to}\",how=\"{how}\"}}]"),
                ];
                let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
                let tables = run(&scenario("steady-20-68", &overrides), 1);
                let after = tables.slots.t_s.iter().zip(&tables.slots.goodput_mbps);
                let goodput: Vec<f64> = after
                    .filter(|(t, _)| **t >= 10.0)
                    .map(|(_, g)| *g)
                    .collect();
                let mean = goodput.iter().sum::<f64>() / goodput.len() as f64;
                assert!(mean > 10.0, "{from} to {to} by {how}: {mean} Mbit/s");
                let kinds = tables.events.kind.iter().zip(&tables.events.detail);
                let told: Vec<&String> = kinds
                    .filter(|(k, _)| *k == "switch")
                    .map(|(_, d)| d)
                    .collect();
                assert!(
                    matches!(told[..], [detail] if detail.starts_with(&format!("{to} {how}"))),
                    "{told:?}"
                );
            }
        }
    }
}

/// The queue of CUBIC leaves within a few RTTs when BBR takes over by the modelled window.
#[test]
fn a_modelled_window_drains_the_queue() {
    let switch = "flows.0.switch=[{at=\"10s\",to=\"bbr\"}]";
    let tables = run(
        &scenario(
            "steady-20-68",
            &["duration=20s", switch, "path.buffer=5bdp"],
        ),
        1,
    );
    let rtt_at = |t: f64| {
        let slots = tables.slots.t_s.iter().zip(&tables.slots.rtt_mean_ms);
        slots
            .filter(|(at, _)| (**at - t).abs() < 0.05)
            .map(|(_, rtt)| *rtt)
            .sum::<f64>()
    };
    assert!(rtt_at(9.5) > 150.0, "{}", rtt_at(9.5));
    assert!(rtt_at(12.0) < 100.0, "{}", rtt_at(12.0));
}
