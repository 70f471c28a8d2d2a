//! Hybrid Slow Start compared with Ha and Rhee 2011 and with Linux.

use cca::slow_start::{Detect, HyStart, SlowStartConfig};
use cca::{AckSample, SlowStart, Window};
use units::Duration;

use crate::lab::{RTT, window};

fn hystart_round(h: &mut HyStart, w: &mut Window, rtt: Duration, spacing: Duration) {
    w.snd_una = w.snd_nxt + 1;
    w.snd_nxt += u64::from(w.cwnd) * 1448;
    for _ in 0..w.cwnd {
        w.now += spacing;
        h.on_ack(
            w,
            &AckSample {
                acked: 1,
                rtt: Some(rtt),
                in_flight: w.cwnd,
            },
        );
    }
    w.now += RTT;
}

/// Ha and Rhee 2011 §4: a delay that rises by more than an eighth (4 to 16 ms) ends slow start, but not below
/// 16 segments.
#[test]
fn hystart_leaves_when_the_delay_rises() {
    let only_delay = SlowStartConfig {
        hystart_detect: Detect::Delay,
        ..SlowStartConfig::default()
    };
    let risen = RTT + Duration::from_millis(14);
    for (cwnd, rtt, leaves) in [
        (32, risen, true),
        (12, risen, false),
        (32, RTT + Duration::from_millis(9), false),
    ] {
        let (mut h, mut w) = (HyStart::new(only_delay), window(cwnd));
        h.reset(&mut w);
        hystart_round(&mut h, &mut w, RTT, Duration::from_millis(3));
        hystart_round(&mut h, &mut w, rtt, Duration::from_millis(3));
        assert_eq!(!w.in_slow_start(), leaves, "cwnd {cwnd}, RTT {rtt}");
    }
}

/// Ha and Rhee 2011 §4: ACKs that arrive without a gap for half of the lowest RTT show a full path.
#[test]
fn hystart_leaves_on_a_long_ack_train_after_the_set_number_of_detections() {
    for (detections, rounds) in [(1, 1), (3, 3)] {
        let config = SlowStartConfig {
            hystart_detections: detections,
            hystart_detect: Detect::Train,
            ..SlowStartConfig::default()
        };
        let (mut h, mut w) = (HyStart::new(config), window(100));
        h.reset(&mut w);
        let mut needed = 0;
        while w.in_slow_start() && needed < 10 {
            hystart_round(&mut h, &mut w, RTT, Duration::from_micros(600));
            needed += 1;
        }
        assert_eq!(needed, rounds, "{detections} detections");
    }
}

/// Linux `hystart_update`: once the end is found, a slow start after an idle time no longer looks for it; one
/// after a time-out does.
#[test]
fn hystart_detects_only_once_until_a_time_out() {
    let (mut h, mut w) = (HyStart::new(Default::default()), window(100));
    h.reset(&mut w);
    hystart_round(&mut h, &mut w, RTT, Duration::from_micros(600));
    assert_eq!(w.ssthresh, 100);
    w.ssthresh = 200;
    for _ in 0..3 {
        hystart_round(&mut h, &mut w, RTT, Duration::from_micros(600));
    }
    assert_eq!(w.ssthresh, 200);
    h.reset(&mut w);
    hystart_round(&mut h, &mut w, RTT, Duration::from_micros(600));
    assert_eq!(w.ssthresh, 100);
}
