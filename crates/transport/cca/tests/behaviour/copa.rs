//! Copa compared with Arun and Balakrishnan 2018.

use std::collections::VecDeque;

use cca::copa::{Copa, CopaConfig};
use cca::{Ack, CaState, CongestionControl, INFINITE_SSTHRESH, RateSample, Window};
use units::Duration;

use crate::lab::window;

/// Link of 100 segments per 50 ms.
const BASE: Duration = Duration::from_millis(50);
const BDP: u32 = 100;

struct Link {
    copa: Copa,
    w: Window,
    /// Segments of other flows in the queue.
    others: u32,
    /// RTTs of the segments in flight, by the queue at the departure of each.
    flight: VecDeque<Duration>,
}

impl Link {
    fn new(config: CopaConfig, cwnd: u32, ssthresh: u32) -> Self {
        let mut w = window(cwnd);
        w.srtt = BASE;
        w.ssthresh = ssthresh;
        let mut copa = Copa::new(config);
        copa.init(&mut w);
        let mut link = Self {
            copa,
            w,
            others: 0,
            flight: VecDeque::new(),
        };
        link.send();
        link
    }

    fn send(&mut self) {
        while self.flight.len() < self.w.cwnd as usize {
            let full = (self.flight.len() as u32 + 1 + self.others).max(BDP);
            let rtt = BASE.scaled(u64::from(full), u64::from(BDP));
            self.flight.push_back(rtt);
        }
    }

    /// Runs a round with an ACK for each segment of the window.
    fn round(&mut self) {
        let segments = self.w.cwnd;
        for _ in 0..segments {
            let Some(rtt) = self.flight.pop_front() else {
                break;
            };
            let w = &mut self.w;
            w.now += rtt / u64::from(segments);
            w.srtt = rtt;
            w.delivered += 1;
            w.inflight = w.cwnd;
            let ack = Ack {
                acked: 1,
                delivered: 1,
                rtt: Some(rtt),
                rate: RateSample {
                    delivered: Some(segments),
                    interval: rtt,
                    prior_delivered: w.delivered.saturating_sub(u64::from(segments)),
                    ..RateSample::default()
                },
                ..Ack::default()
            };
            self.copa.cong_control(w, &ack);
            self.send();
        }
    }

    fn rounds(&mut self, rounds: u32) -> Vec<u32> {
        (0..rounds)
            .map(|_| {
                self.round();
                self.w.cwnd
            })
            .collect()
    }
}

fn without_competition() -> CopaConfig {
    CopaConfig {
        competitive: false,
        ..CopaConfig::default()
    }
}

/// §2.1: slow start doubles the window per round trip and ends once the rate exceeds its target.
#[test]
fn copa_leaves_slow_start_with_a_short_queue() {
    let mut link = Link::new(without_competition(), 10, INFINITE_SSTHRESH);
    assert_eq!(link.rounds(3), [20, 40, 80]);
    let most = link.rounds(10).into_iter().max().unwrap_or(0);
    // The queue becomes visible a round trip after it begins, in the lowest RTT of half a round trip.
    assert!((101..=3 * BDP).contains(&most), "{most}");
    assert!(link.w.ssthresh <= 3 * BDP);
    assert!(link.w.cwnd < most, "{}", link.w.cwnd);
}

/// §2.1: the window moves by v/δ segments per round trip, and v doubles once the direction has been the same
/// for three round trips: 2, 2, 2, 4, 8 segments at δ = 0.5.
#[test]
fn copa_moves_faster_in_one_direction() {
    let mut link = Link::new(without_competition(), 20, 20);
    let result = link.rounds(5);
    let steps: Vec<u32> = result
        .iter()
        .scan(20, |before, &cwnd| {
            Some(cwnd - core::mem::replace(before, cwnd))
        })
        .collect();
    assert!(steps[0] <= 2 && steps[1] <= 2, "{steps:?}");
    assert!(steps[4] >= 2 * steps[1], "{steps:?}");
}

/// §2.1: packets are paced at twice the window per standing RTT.
#[test]
fn copa_paces_at_twice_its_rate() {
    let mut link = Link::new(without_competition(), 50, 50);
    link.round();
    assert!(link.w.paced);
    let window_bits = f64::from(link.w.cwnd) * 1_448.0 * 8.0;
    let expected = 2.0 * window_bits / BASE.as_secs_f64();
    let result = link.w.pacing_rate.bits_per_second() as f64;
    assert!(
        (result / expected - 1.0).abs() < 0.05,
        "{result} for {expected}"
    );
}

/// §2.2: after five round trips without a nearly empty queue Copa competes: 1/δ grows by one per round trip
/// and a loss halves it. When the queue empties, the default mode returns.
#[test]
fn copa_competes_with_flows_that_fill_buffers() {
    let mut link = Link::new(CopaConfig::default(), 50, 50);
    link.rounds(20);
    assert!(!link.copa.is_competing());
    link.others = 200;
    link.rounds(8);
    assert!(link.copa.is_competing());
    let before = 1.0 / link.copa.delta();
    link.rounds(10);
    let after = 1.0 / link.copa.delta();
    assert!((after - before - 10.0).abs() <= 1.0, "{before} {after}");
    link.copa.ssthresh(&mut link.w);
    let halved = 1.0 / link.copa.delta();
    assert!((halved - (after / 2.0).max(2.0)).abs() < 0.01, "{halved}");
    link.others = 0;
    link.w.cwnd = 50;
    link.rounds(3);
    assert!(!link.copa.is_competing());
    assert!((link.copa.delta() - 0.5).abs() < 1e-9);
}

/// §2.2: in the default mode a loss is no sign of congestion; a time-out restarts the window.
#[test]
fn copa_ignores_losses_but_not_time_outs() {
    let mut link = Link::new(CopaConfig::default(), 60, 60);
    link.rounds(2);
    let before = link.w.cwnd;
    link.copa.ssthresh(&mut link.w);
    link.copa.set_state(&mut link.w, CaState::Recovery);
    assert_eq!(link.w.cwnd, before);
    link.copa.set_state(&mut link.w, CaState::Loss);
    link.w.cwnd = 4;
    assert_eq!(link.rounds(3), [8, 16, 32]);
}
