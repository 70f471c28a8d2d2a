//! Congestion controls that go by delay, on whole paths.

mod library;

use library::{run, scenario};

#[test]
fn print_copa() {
    let tables = run(
        &scenario("steady-20-68", &["duration=30s", "flows.0.cca=copa"]),
        1,
    );
    for (t, (g, r)) in tables.slots.t_s.iter().zip(
        tables
            .slots
            .goodput_mbps
            .iter()
            .zip(&tables.slots.rtt_mean_ms),
    ) {
        eprintln!("{t:.1} {g:.2} {r:.1}");
    }
}
