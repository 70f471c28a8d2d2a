//! Congestion controls on steady links, measured at the taps.

use crate::library::{first, run, scenario};

fn on_steady_20_68(cca: &str) -> results::FlowRow {
    let tables = run(
        &scenario("steady-20-68", &[&format!("flows.0.cca={cca}")]),
        1,
    );
    let row = first(&tables.flows);
    println!("{row:#?}");
    row
}

#[test]
fn each_uses_over_ninety_percent_of_the_rate() {
    for cca in ["newreno", "cubic", "bbr"] {
        let row = on_steady_20_68(cca);
        assert!(row.goodput_mbps > 0.9 * 20.0, "{cca}: {}", row.goodput_mbps);
        assert_eq!(row.timeouts, 0.0, "{cca}");
    }
}

/// RTTs between base and base plus a full buffer of one BDP, by the shape of each saw-tooth.
#[test]
fn mean_rtts_are_those_of_their_sawtooths() {
    let [reno, cubic, bbr] =
        ["newreno", "cubic", "bbr"].map(|cca| on_steady_20_68(cca).rtt_mean_ms / 68.0);
    assert!((1.35..1.7).contains(&reno), "newreno {reno}");
    assert!((1.6..2.0).contains(&cubic), "cubic {cubic}");
    assert!((1.0..1.5).contains(&bbr), "bbr {bbr}");
}

#[test]
fn pm_is_the_mean_over_slots() {
    let tables = run(&scenario("steady-20-68", &["duration=10s"]), 1);
    let row = first(&tables.flows);
    for (slots, mean) in [
        (&tables.slots.pm_balanced, row.pm_balanced),
        (&tables.slots.pm_delay, row.pm_delay),
    ] {
        let defined: Vec<f64> = slots.iter().copied().filter(|pm| !pm.is_nan()).collect();
        let expected = defined.iter().sum::<f64>() / defined.len() as f64;
        assert!((mean - expected).abs() < 1e-12, "{mean} {expected}");
        assert!((0.0..=1.0).contains(&mean));
    }
    assert!(tables.slots.t_s.len() >= 98, "{}", tables.slots.t_s.len());
}

/// The sums over the slots equal the counts of the connection, with an outage of the radio and without.
#[test]
fn counts_of_slots_add_up() {
    for name in ["steady-20-68", "drive"] {
        let tables = run(&scenario(name, &["flows.0.cca=cubic"]), 3);
        let (row, slots) = (first(&tables.flows), &tables.slots);
        assert_eq!(row.segments, slots.segments.iter().sum::<u64>());
        assert_eq!(row.duplicate_acks, slots.duplicate_acks.iter().sum::<u64>());
        assert_eq!(row.timeouts, slots.timeouts.iter().sum::<f64>());
        assert_eq!(row.loss_probes, slots.loss_probes.iter().sum::<f64>());
        let largest = slots
            .rtt_increment_max_ms
            .iter()
            .copied()
            .fold(f64::NAN, f64::max);
        assert_eq!(row.rtt_increment_max_ms, largest);
        assert!(row.rtt_increment_mean_ms < largest);
        assert!(row.duplicate_acks > 0 && row.retransmissions > 0);
    }
}

/// Slow start doubles the window each round trip, so that all that was sent before its exit is about twice the
/// window there; NaN without an exit.
#[test]
fn bytes_before_the_exit_from_slow_start_follow_from_the_window_there() {
    let row = on_steady_20_68("newreno");
    let window = row.slow_start_exit_cwnd * 1448.0;
    assert!(
        (1.0..2.5).contains(&(row.slow_start_bytes / window)),
        "{row:?}"
    );
    let row = on_steady_20_68("bbr");
    assert_eq!(
        row.slow_start_bytes.is_nan(),
        row.slow_start_exit_s.is_nan()
    );
}

/// A congestion control reports its name in the catalogue.
#[test]
fn every_congestion_control_has_the_name_of_its_entry() {
    for about in cca::CCAS {
        let built = cca::cca_by_name(about.name).expect("it is there");
        assert_eq!(built.name, about.name);
    }
}
