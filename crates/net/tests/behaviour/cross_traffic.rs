//! Traffic beside the one that is looked at.

use net::{Capacity, CrossTraffic, Kind, Pattern, Times};
use units::{Duration, Instant, Rate};

use crate::lab::{Lab, Notes, ms};

fn lab(cross: CrossTraffic) -> Lab {
    Lab::new(Capacity::Constant(Rate::from_mbps(10.0)), |link| {
        link.cross = vec![cross]
    })
}

fn source(pattern: Pattern) -> CrossTraffic {
    let (start, stop) = (ms(1_000), Instant::NEVER);
    CrossTraffic {
        rate: Rate::from_mbps(4.0),
        packet_size: 1_000,
        pattern,
        start,
        stop,
    }
}

fn cross(notes: &Notes) -> Vec<Instant> {
    let cross = notes
        .transmitted
        .iter()
        .filter(|(packet, ..)| packet.kind == Kind::Cross);
    cross.map(|&(packet, ..)| packet.sent_at).collect()
}

#[test]
fn a_constant_source_sends_at_its_rate_from_start_to_stop() {
    let config = CrossTraffic {
        stop: ms(1_010),
        ..source(Pattern::Constant)
    };
    let notes = lab(config).finish(ms(2_000));
    assert_eq!(
        cross(&notes),
        [ms(1_000), ms(1_002), ms(1_004), ms(1_006), ms(1_008)]
    );
    assert!(notes.received.is_empty(), "it leaves behind its link");
}

#[test]
fn a_full_queue_is_shared_as_packets_come() {
    let mut lab = lab(source(Pattern::Constant));
    for at in 0..11_000 {
        lab.send(ms(at), 1_500);
    }
    let notes = lab.finish(ms(11_000));
    let ours = notes
        .received
        .iter()
        .filter(|&&(_, at)| at >= ms(2_000))
        .count() as f64;
    let mbps = ours * 12_000.0 / 9e6;
    // 12 of the 16 Mbit/s that come in are ours.
    assert!((mbps - 7.5).abs() < 0.1, "{mbps} Mbit/s of 10");
}

#[test]
fn an_on_off_source_is_on_for_its_share_of_time() {
    let distributions = [
        Times::Exponential {
            mean: Duration::from_millis(300),
        },
        Times::Uniform {
            min: Duration::ZERO,
            max: Duration::from_millis(600),
        },
        // Mean 300 ms: shape / (shape - 1) times the least.
        Times::Pareto {
            min: Duration::from_millis(200),
            shape: 3.0,
        },
        // Rayleigh: mean √π / 2 of the scale.
        Times::Weibull {
            scale: Duration::from_micros(338_514),
            shape: 2.0,
        },
        // Mean e^(σ²/2) of the median.
        Times::Lognormal {
            median: Duration::from_micros(264_749),
            sigma: 0.5,
        },
    ];
    for on in distributions {
        let off = Times::Constant(Duration::from_millis(700));
        let notes = lab(source(Pattern::OnOff { on, off })).finish(ms(1_001_000));
        // 500 packets per second while on, three tenths of the time.
        let found = cross(&notes).len() as f64 / (1_000.0 * 500.0);
        assert!(
            (found - 0.3).abs() < 0.015,
            "{on:?}: on for {found} of the time"
        );
    }
}

#[test]
fn an_on_off_source_is_silent_while_off() {
    let (on, off) = (Duration::from_millis(4), Duration::from_millis(100));
    let pattern = Pattern::OnOff {
        on: Times::Constant(on),
        off: Times::Constant(off),
    };
    let sent = cross(&lab(source(pattern)).finish(ms(1_110)));
    assert_eq!(sent, [ms(1_000), ms(1_002), ms(1_104), ms(1_106)]);
}
