//! Cross-traffic on the links of a flow.

use config::{Cross, Distribution};
use net::LinkCapacity;
use units::{Bytes, Duration, Instant, Rate};

use crate::lab::{Lab, Notes, ms};

fn lab(cross: Cross) -> Lab {
    Lab::new(LinkCapacity::Constant(Rate::from_mbps(10.0)), |link| {
        link.cross = vec![cross]
    })
}

/// A source that is on and off for such times, or else always on.
fn source(times: Option<[Distribution<Duration>; 2]>) -> Cross {
    Cross {
        rate: Rate::from_mbps(4.0),
        packet: Some(Bytes::new(1_000)),
        start: Duration::from_millis(1_000),
        on: times.map(|[on, _]| on),
        off: times.map(|[_, off]| off),
        ..Cross::default()
    }
}

fn constant(value: Duration) -> Distribution<Duration> {
    Distribution::Constant { value }
}

fn cross(notes: &Notes) -> Vec<Instant> {
    let cross = notes
        .transmitted
        .iter()
        .filter(|(packet, ..)| packet.is_cross());
    cross.map(|&(packet, ..)| packet.sent_at).collect()
}

#[test]
fn a_constant_source_sends_at_its_rate_from_start_to_stop() {
    let config = Cross {
        stop: Some(Duration::from_millis(1_010)),
        ..source(None)
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
    let mut lab = lab(source(None));
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
        Distribution::Exponential {
            mean: Duration::from_millis(300),
        },
        Distribution::Uniform {
            min: Duration::ZERO,
            max: Duration::from_millis(600),
        },
        // Mean 300 ms: shape / (shape - 1) times the least.
        Distribution::Pareto {
            scale: Duration::from_millis(200),
            shape: 3.0,
        },
        // Rayleigh: mean √π / 2 of the scale.
        Distribution::Weibull {
            scale: Duration::from_micros(338_514),
            shape: 2.0,
        },
        // Mean e^(σ²/2) of the median.
        Distribution::Lognormal {
            median: Duration::from_micros(264_749),
            sigma: 0.5,
        },
        Distribution::Gamma {
            scale: Duration::from_millis(100),
            shape: 3.0,
        },
        Distribution::Normal {
            mean: Duration::from_millis(300),
            sd: Duration::from_millis(50),
        },
        Distribution::Logistic {
            location: Duration::from_millis(300),
            scale: Duration::from_millis(20),
        },
    ];
    for on in distributions {
        let off = constant(Duration::from_millis(700));
        let notes = lab(source(Some([on, off]))).finish(ms(1_001_000));
        // 500 packets per second while on, three tenths of the time.
        let result = cross(&notes).len() as f64 / (1_000.0 * 500.0);
        assert!(
            (result - 0.3).abs() < 0.015,
            "{on:?}: on for {result} of the time"
        );
    }
}

#[test]
fn an_on_off_source_is_silent_while_off() {
    let (on, off) = (Duration::from_millis(4), Duration::from_millis(100));
    let times = [constant(on), constant(off)];
    let sent = cross(&lab(source(Some(times))).finish(ms(1_110)));
    assert_eq!(sent, [ms(1_000), ms(1_002), ms(1_104), ms(1_106)]);
}

#[test]
fn a_source_that_is_never_off_goes_on_at_its_rate() {
    let times = [constant(Duration::from_millis(4)), constant(Duration::ZERO)];
    let sent = cross(&lab(source(Some(times))).finish(ms(1_007)));
    let since: Vec<u64> = sent
        .iter()
        .map(|at| at.saturating_since(ms(1_000)).as_millis())
        .collect();
    assert_eq!(since, [0, 2, 4, 6]);
}
