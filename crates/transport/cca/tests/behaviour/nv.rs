//! New Vegas compared with Linux `tcp_nv` and with Brakmo's description in its source.

use cca::nv::{Nv, NvConfig};
use cca::{CaState, CongestionControl, INFINITE_SSTHRESH, Window};
use units::Duration;

use crate::rounds::{full_window, round};

const BASE: Duration = Duration::from_millis(100);

/// Returns an NV with `cwnd` segments in flight that has seen a few rounds of the base RTT.
fn nv(config: NvConfig, cwnd: u32) -> (Nv, Window) {
    let (mut nv, mut w) = (Nv::new(config), full_window(cwnd));
    nv.init(&mut w);
    for _ in 0..4 {
        w.cwnd = cwnd;
        round(&mut nv, &mut w, BASE);
    }
    w.cwnd = cwnd;
    w.cwnd_cnt = 0;
    (nv, w)
}

/// Without a queue NV grows like Reno: the growth factor starts at zero and stays there.
#[test]
fn nv_grows_by_one_while_there_is_no_queue() {
    let (mut nv, mut w) = nv(NvConfig::default(), 100);
    for expected in 101..110 {
        round(&mut nv, &mut w, BASE);
        assert_eq!(w.cwnd, expected);
    }
}

/// With `nv_cwnd_growth_rate_pos` set, growth doubles after that many decisions without congestion.
#[test]
fn nv_can_grow_faster_and_faster() {
    let config = NvConfig {
        nv_cwnd_growth_rate_pos: 2,
        ..NvConfig::default()
    };
    let (mut nv, mut w) = nv(config, 100);
    for _ in 0..9 {
        round(&mut nv, &mut w, BASE);
    }
    assert!(w.cwnd > 115, "{}", w.cwnd);
}

/// If more than `nv_pad` segments are queued, the window shrinks by 30 % of the surplus. On a link of 100
/// segments per base RTT it comes down to a queue of about ten.
#[test]
fn nv_keeps_a_few_segments_in_the_queue() {
    let (mut nv, mut w) = nv(NvConfig::default(), 100);
    w.cwnd = 200;
    for _ in 0..60 {
        let rtt = BASE.scaled(u64::from(w.cwnd.max(100)), 100);
        round(&mut nv, &mut w, rtt);
    }
    assert!((105..=125).contains(&w.cwnd), "{}", w.cwnd);
}

/// Before the first loss thirty RTT samples and two rounds suffice to end slow start.
#[test]
fn nv_ends_slow_start_when_a_queue_builds() {
    let (mut nv, mut w) = nv(NvConfig::default(), 60);
    w.ssthresh = INFINITE_SSTHRESH;
    for _ in 0..6 {
        let rtt = BASE.scaled(u64::from(w.cwnd.max(100)), 100);
        round(&mut nv, &mut w, rtt);
    }
    assert!(w.ssthresh < 200, "{}", w.ssthresh);
    assert!(w.cwnd < 400, "{}", w.cwnd);
}

/// A loss leaves 80 %; growth waits for a decision; each time-out halves the speed of growth.
#[test]
fn nv_reduces_on_losses() {
    let (mut nv, mut w) = nv(NvConfig::default(), 100);
    assert_eq!(nv.ssthresh(&mut w), 79);
    nv.set_state(&mut w, CaState::Recovery);
    w.state = CaState::Recovery;
    round(&mut nv, &mut w, BASE);
    assert_eq!(w.cwnd, 100);
    let grown_after = |time_outs: u32| {
        let (mut nv, mut w) = self::nv(NvConfig::default(), 100);
        for _ in 0..time_outs {
            nv.set_state(&mut w, CaState::Loss);
        }
        nv.set_state(&mut w, CaState::Open);
        w.cwnd = 50;
        w.ssthresh = 50;
        for _ in 0..6 {
            round(&mut nv, &mut w, BASE);
        }
        w.cwnd - 50
    };
    assert!(grown_after(0) >= 5);
    assert!((1..=3).contains(&grown_after(1)), "{}", grown_after(1));
}

/// The lowest RTT is reset about every five seconds, so a path that became longer does not look like a queue
/// for ever.
#[test]
fn nv_resets_the_lowest_rtt() {
    let (mut nv, mut w) = nv(NvConfig::default(), 100);
    let longer = BASE * 2;
    for _ in 0..10 {
        round(&mut nv, &mut w, longer);
    }
    let low = w.cwnd;
    assert!(low < 100, "{low}");
    for _ in 0..100 {
        round(&mut nv, &mut w, longer);
    }
    assert!(w.cwnd > low + 20, "{} after {low}", w.cwnd);
}
