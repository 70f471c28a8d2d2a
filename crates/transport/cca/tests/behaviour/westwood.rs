//! Westwood+ compared with Grieco and Mascolo 2004 and with Linux.

use cca::westwood::Westwood;
use cca::{AckKind, AckSample, CongestionControl, Event, Window};
use units::Duration;

use crate::lab::RTT;
use crate::rounds::{full_window, round};

/// Runs `rounds` round trips of `rtt` in which `segments` are acknowledged, one by one and in order.
fn deliver(westwood: &mut Westwood, w: &mut Window, segments: u32, rounds: u32, rtt: Duration) {
    for _ in 0..rounds * segments {
        w.now += rtt / u64::from(segments);
        w.snd_una += u64::from(w.mss);
        let sample = AckSample {
            acked: 1,
            rtt: Some(rtt),
            in_flight: segments,
        };
        westwood.pkts_acked(w, &sample);
        westwood.in_ack_event(w, AckKind::default());
    }
}

fn measured(segments: u32, rounds: u32) -> (Westwood, Window) {
    let (mut westwood, mut w) = (Westwood::new(Default::default()), full_window(segments));
    westwood.init(&mut w);
    deliver(&mut westwood, &mut w, segments, rounds, RTT);
    (westwood, w)
}

/// After a recovery the window is BWE · RTTmin; after a time-out the threshold is. The window before does not
/// matter.
#[test]
fn westwood_sets_the_window_from_the_measured_rate() {
    let (mut westwood, mut w) = measured(100, 30);
    w.cwnd = 300;
    assert_eq!(westwood.ssthresh(&mut w), 150);
    w.ssthresh = 150;
    westwood.cwnd_event(&mut w, Event::CompleteCwr);
    assert!((97..=100).contains(&w.cwnd), "{}", w.cwnd);
    assert_eq!(w.ssthresh, w.cwnd);
    w.ssthresh = 7;
    w.cwnd = 1;
    westwood.cwnd_event(&mut w, Event::Loss);
    assert!((97..=100).contains(&w.ssthresh), "{}", w.ssthresh);
    assert_eq!(w.cwnd, 1);
}

/// A queue does not count: RTTmin is the lowest RTT.
#[test]
fn westwood_ignores_the_queue() {
    let (mut westwood, mut w) = measured(100, 10);
    deliver(&mut westwood, &mut w, 200, 20, RTT * 2);
    w.cwnd = 200;
    westwood.cwnd_event(&mut w, Event::CompleteCwr);
    assert!((96..=100).contains(&w.cwnd), "{}", w.cwnd);
}

/// Linux `tcp_westwood_event`: a time-out resets the lowest RTT.
#[test]
fn westwood_resets_the_lowest_rtt_after_a_time_out() {
    let (mut westwood, mut w) = measured(100, 10);
    westwood.cwnd_event(&mut w, Event::Loss);
    deliver(&mut westwood, &mut w, 200, 40, RTT * 2);
    westwood.cwnd_event(&mut w, Event::CompleteCwr);
    assert!((190..=200).contains(&w.cwnd), "{}", w.cwnd);
}

/// Linux `westwood_do_filter`: a new rate passes two filters of 7/8 each, so the estimate reaches half of the
/// change after about a dozen samples.
#[test]
fn westwood_filters_the_rate_twice() {
    let (mut westwood, mut w) = measured(100, 30);
    let at_100 = westwood.bytes_per_second() as f64;
    assert!((at_100 / 1_448_000.0 - 1.0).abs() < 0.02, "{at_100}");
    let mut rounds = 0;
    while (westwood.bytes_per_second() as f64) < 1.5 * at_100 {
        deliver(&mut westwood, &mut w, 200, 1, RTT);
        rounds += 1;
    }
    assert!((11..=15).contains(&rounds), "{rounds}");
}

/// Grieco and Mascolo 2004, AckedCount: duplicate ACKs count a segment each, and the ACK that closes the hole
/// counts one more instead of all segments again.
#[test]
fn westwood_counts_duplicate_acks_once() {
    let (mut westwood, mut w) = measured(100, 30);
    let before = westwood.bytes_per_second() as f64;
    let duplicate = AckKind {
        slow_path: true,
        ..AckKind::default()
    };
    for _ in 0..20 {
        // A hole at the start of each round trip: 99 duplicate ACKs, then an ACK for all.
        for _ in 0..99 {
            w.now += RTT / 100;
            westwood.in_ack_event(&mut w, duplicate);
        }
        w.now += RTT / 100;
        w.snd_una += 100 * u64::from(w.mss);
        westwood.in_ack_event(&mut w, duplicate);
    }
    let after = westwood.bytes_per_second() as f64;
    assert!(
        (after / before - 1.0).abs() < 0.03,
        "{after} after {before}"
    );
}

/// Grieco and Mascolo 2004: Westwood+ grows like Reno.
#[test]
fn westwood_grows_as_reno() {
    let (mut westwood, mut w) = (Westwood::new(Default::default()), full_window(50));
    westwood.init(&mut w);
    round(&mut westwood, &mut w, RTT);
    assert_eq!(w.cwnd, 51);
}
