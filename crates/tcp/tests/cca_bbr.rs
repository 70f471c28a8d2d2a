//! BBR on a bottleneck of steady rate: what a probe for the RTT must not destroy, and the policer model.

use std::collections::VecDeque;

use tcp::cca::bbr::Bbr;
use tcp::cca::{Ack, CaState, CongestionControl, Event, RateSample, Window};
use units::random::{Purpose, Stream};
use units::{Bytes, Duration, Instant, Rate};

const MSS: u32 = 1448;

/// A segment on its way, and what the rate sampler stamped on it.
struct Sent {
    acked_at: Instant,
    at: Instant,
    delivered: u64,
    delivered_at: Instant,
    first_tx: Instant,
    app_limited: bool,
}

/// A sender that always has data, before a bottleneck with a queue that never overflows.
struct Path {
    bbr: Bbr,
    w: Window,
    rate: Rate,
    rtt: Duration,
    out: VecDeque<Sent>,
    next_send: Instant,
    link_free: Instant,
    delivered_at: Instant,
    first_tx: Instant,
    /// Deliveries until which what is sent counts as limited by the application.
    limited_until: u64,
}

impl Path {
    fn new(mbps: f64, rtt: Duration, seed: u64) -> Self {
        let mut w = Window::new(MSS, 10, Stream::new(seed, Purpose::CongestionControl, 0));
        w.srtt = rtt;
        w.min_rtt = rtt;
        let mut bbr = Bbr::default();
        bbr.init(&mut w);
        Self {
            bbr,
            w,
            rate: Rate::from_mbps(mbps),
            rtt,
            out: VecDeque::new(),
            next_send: Instant::ZERO,
            link_free: Instant::ZERO,
            delivered_at: Instant::ZERO,
            first_tx: Instant::ZERO,
            limited_until: 0,
        }
    }

    /// Sends a segment or takes an ACK, whichever comes first.
    fn step(&mut self) {
        let may_send = (self.out.len() as u32) < self.w.cwnd;
        match self.out.front() {
            Some(head) if !may_send || head.acked_at <= self.next_send.max(self.w.now) => {
                self.ack()
            }
            _ => self.send(),
        }
    }

    fn send(&mut self) {
        self.w.now = self.w.now.max(self.next_send);
        let now = self.w.now;
        let size = Bytes::new(u64::from(MSS));
        self.next_send = now + self.w.pacing_rate.time_to_send(size);
        self.link_free = self.link_free.max(now) + self.rate.time_to_send(size);
        if self.out.is_empty() {
            (self.first_tx, self.delivered_at) = (now, now);
        }
        self.out.push_back(Sent {
            acked_at: self.link_free + self.rtt,
            at: now,
            delivered: self.w.delivered,
            delivered_at: self.delivered_at,
            first_tx: self.first_tx,
            app_limited: self.w.delivered <= self.limited_until,
        });
    }

    fn ack(&mut self) {
        let prior_inflight = self.out.len() as u32;
        let sent = self.out.pop_front().expect("a segment is out");
        self.w.now = sent.acked_at;
        self.w.delivered += 1;
        self.w.inflight = prior_inflight - 1;
        self.delivered_at = self.w.now;
        self.w.delivered_at = self.w.now;
        self.first_tx = sent.at;
        let ack_phase = self.w.now.saturating_since(sent.delivered_at);
        let rate = RateSample {
            delivered: Some((self.w.delivered - sent.delivered) as u32),
            interval: ack_phase.max(sent.at.saturating_since(sent.first_tx)),
            prior_delivered: sent.delivered,
            app_limited: sent.app_limited,
            ..RateSample::default()
        };
        let ack = Ack {
            acked: 1,
            delivered: 1,
            prior_inflight,
            rtt: Some(self.w.now.saturating_since(sent.at)),
            rate,
            ..Ack::default()
        };
        self.w.limits_itself = false;
        self.w.next_departure = self.next_send;
        self.bbr.cong_control(&mut self.w, &ack);
        if self.w.limits_itself {
            self.limited_until = self.w.delivered + u64::from(self.w.inflight);
        }
    }

    fn run_until(&mut self, seconds: u64) {
        while self.w.now < Instant::ZERO + Duration::from_secs(seconds) {
            self.step();
        }
    }
}

/// Linux `bbr_update_min_rtt`: what is sent in PROBE_RTT is marked as limited by the application, so that
/// 200 ms with four segments, more than ten rounds of a short path, do not end the estimate.
#[test]
fn a_probe_for_a_short_rtt_leaves_the_bandwidth_estimate_alone() {
    for rtt_ms in [5, 10, 18] {
        let mut path = Path::new(100.0, Duration::from_millis(rtt_ms), 1);
        path.run_until(9);
        let before = path.bbr.bottleneck_bandwidth().as_mbps();
        assert!(
            (95.0..102.0).contains(&before),
            "{rtt_ms} ms: {before} Mbit/s"
        );
        let (mut visits, mut inside, mut lowest) = (0, false, f64::MAX);
        while path.w.now < Instant::ZERO + Duration::from_secs(25) {
            path.step();
            lowest = lowest.min(path.bbr.bottleneck_bandwidth().as_mbps());
            visits += u32::from(path.bbr.mode() == "probe_rtt" && !inside);
            inside = path.bbr.mode() == "probe_rtt";
        }
        assert!(visits >= 1, "{rtt_ms} ms: no visit");
        assert!(
            lowest > 0.95 * before,
            "{rtt_ms} ms: {before}, then {lowest} Mbit/s"
        );
    }
}

/// Linux `bbr_cwnd_event`: a transmission after an idle time ends a probe whose 200 ms are over, without
/// waiting for another round.
#[test]
fn idle_time_may_end_a_probe_for_the_rtt() {
    let mut path = Path::new(20.0, Duration::from_millis(40), 1);
    while path.bbr.mode() != "probe_rtt" || path.out.len() > 4 {
        path.step();
        assert!(path.w.now < Instant::ZERO + Duration::from_secs(20));
    }
    path.ack();
    path.w.now += Duration::from_secs(1);
    path.w.inflight = 0;
    path.w.app_limited = true;
    path.bbr.cwnd_event(&mut path.w, Event::TxStart);
    assert_eq!(path.bbr.mode(), "probe_bw");
}

/// Linux `bbr_set_state`: a time-out is itself a lossy round of the policer model.
#[test]
fn a_time_out_counts_as_a_lossy_round_for_the_policer() {
    let mut path = Path::new(20.0, Duration::from_millis(40), 1);
    path.run_until(2);
    let policed = |path: &mut Path| {
        for _ in 0..4 {
            path.w.now += Duration::from_millis(100);
            path.w.delivered_at = path.w.now;
            path.w.delivered += 25;
            path.w.lost += 25;
            path.bbr.set_state(&mut path.w, CaState::Loss);
        }
    };
    for _ in 0..3 {
        policed(&mut path);
    }
    // 25 segments in 100 ms, whatever the estimate was.
    let rate = path.bbr.bottleneck_bandwidth().as_mbps();
    assert!((2.5..4.0).contains(&rate), "{rate} Mbit/s");
}
