//! Veno compared with Fu and Liew 2003 and with Linux.

use cca::veno::Veno;
use cca::{CaState, CongestionControl, Event, Window};
use units::Duration;

use crate::lab::RTT;
use crate::rounds::{full_window, round};

/// Returns a Veno that knows the path of 100 ms, with a window of `cwnd` segments.
fn knowing(cwnd: u32) -> (Veno, Window) {
    let (mut veno, mut w) = (Veno::new(Default::default()), full_window(cwnd));
    veno.init(&mut w);
    round(&mut veno, &mut w, RTT);
    w.cwnd = cwnd;
    w.cwnd_cnt = 0;
    (veno, w)
}

/// Returns the RTT at which `segments` of a window of `cwnd` are queued: N = W (RTT − BaseRTT) / RTT.
fn with_queue(cwnd: u32, segments: u32) -> Duration {
    RTT.scaled(u64::from(cwnd), u64::from(cwnd - segments))
}

/// A loss with fewer than β = 3 segments in the queue counts as a loss of the radio link and takes a fifth;
/// any other takes half.
#[test]
fn veno_distinguishes_radio_losses_from_congestion() {
    for (queue, left) in [(0, 80), (2, 80), (4, 50), (30, 50)] {
        let (mut veno, mut w) = knowing(100);
        crate::rounds::ack(&mut veno, &mut w, with_queue(100, queue), Duration::ZERO);
        w.cwnd = 100;
        assert_eq!(veno.ssthresh(&mut w), left, "{queue} segments in the queue");
    }
}

/// One segment more per round trip, or in every other one if the queue holds β segments.
#[test]
fn veno_grows_half_as_fast_with_a_queue() {
    for (queue, grown) in [(0, 12..=12), (20, 5..=7)] {
        let (mut veno, mut w) = knowing(100);
        for _ in 0..12 {
            let rtt = with_queue(w.cwnd, queue);
            round(&mut veno, &mut w, rtt);
        }
        assert!(
            grown.contains(&(w.cwnd - 100)),
            "{} for {grown:?}",
            w.cwnd - 100
        );
    }
}

/// Linux `tcp_veno_cwnd_event`: the lowest RTT is measured anew after an idle time.
#[test]
fn veno_resets_the_lowest_rtt_after_idle_time() {
    let slow = RTT * 2;
    for (event, left) in [
        (None, 50),
        (Some(Event::TxStart), 80),
        (Some(Event::CwndRestart), 80),
    ] {
        let (mut veno, mut w) = knowing(100);
        if let Some(event) = event {
            veno.cwnd_event(&mut w, event);
        }
        crate::rounds::ack(&mut veno, &mut w, slow, Duration::ZERO);
        w.cwnd = 100;
        assert_eq!(veno.ssthresh(&mut w), left, "{event:?}");
    }
}

/// Linux `tcp_veno_state`: Reno outside of the Open state, for any queue.
#[test]
fn veno_is_reno_outside_of_the_open_state() {
    let (mut veno, mut w) = knowing(100);
    veno.set_state(&mut w, CaState::Disorder);
    for expected in 101..105 {
        let rtt = with_queue(w.cwnd, 30);
        round(&mut veno, &mut w, rtt);
        assert_eq!(w.cwnd, expected);
    }
}
