//! Path for congestion controls that model it, without a connection: a bottleneck with a finite buffer, and a
//! sender that its application may limit.

use std::collections::VecDeque;

use cca::{Ack, CaState, CongestionControl, Event, Lost, RateSample, Window};
use units::random::{Purpose, RngStream};
use units::{Bytes, Duration, Instant, Rate};

pub const MSS: u32 = 1448;

/// Segment in flight, with the stamps of the rate sampler.
#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u64,
    dropped: bool,
    acked_at: Instant,
    at: Instant,
    delivered: u64,
    delivered_at: Instant,
    first_tx: Instant,
    app_limited: bool,
    tx_in_flight: u32,
    lost: u64,
}

/// Token bucket in front of the link.
#[derive(Clone, Copy, Debug)]
pub struct Policer {
    pub rate: Rate,
    pub burst: Bytes,
    tokens: u64,
    at: Instant,
}

impl Policer {
    pub fn new(rate: Rate, burst: Bytes) -> Self {
        Self {
            rate,
            burst,
            tokens: burst.get(),
            at: Instant::ZERO,
        }
    }

    fn lets_pass(&mut self, now: Instant) -> bool {
        let more = self.rate.bytes_in(now.saturating_since(self.at)).get();
        if more > 0 {
            self.tokens = (self.tokens + more).min(self.burst.get());
            self.at = now;
        }
        let passes = self.tokens >= u64::from(MSS);
        self.tokens -= if passes { u64::from(MSS) } else { 0 };
        passes
    }
}

/// Sender, bottleneck and return path.
pub struct Path<C> {
    pub cca: C,
    pub w: Window,
    pub rate: Rate,
    pub rtt: Duration,
    /// Buffer in front of the bottleneck, segments.
    pub buffer: u64,
    /// Time between ACKs: the receiver sends its ACKs together, once in this time.
    pub ack_interval: Duration,
    /// Returns whether a transmission is dropped, by its number.
    pub drops: Box<dyn FnMut(u64) -> bool>,
    pub policer: Option<Policer>,
    /// Rate at which the application writes; `None` if it always has data.
    pub app_rate: Option<Rate>,
    /// Time before which the application has no data.
    pub paused_until: Instant,
    pub sent: u64,
    out: VecDeque<Sent>,
    next_send: Instant,
    link_free: Instant,
    delivered_at: Instant,
    first_tx: Instant,
    limited_until: u64,
    blocked_until: u64,
    recovery_end: u64,
    lost_told: u64,
}

impl<C: CongestionControl> Path<C> {
    pub fn new(mut cca: C, mbps: f64, rtt: Duration, seed: u64) -> Self {
        let mut w = Window::new(MSS, 10, RngStream::new(seed, Purpose::CongestionControl, 0));
        w.srtt = rtt;
        w.min_rtt = rtt;
        cca.init(&mut w);
        Self {
            cca,
            w,
            rate: Rate::from_mbps(mbps),
            rtt,
            buffer: u64::MAX,
            ack_interval: Duration::ZERO,
            drops: Box::new(|_| false),
            policer: None,
            app_rate: None,
            paused_until: Instant::ZERO,
            sent: 0,
            out: VecDeque::new(),
            next_send: Instant::ZERO,
            link_free: Instant::ZERO,
            delivered_at: Instant::ZERO,
            first_tx: Instant::ZERO,
            limited_until: 0,
            blocked_until: 0,
            recovery_end: 0,
            lost_told: 0,
        }
    }

    /// Returns the mode of the congestion control.
    pub fn mode(&self) -> &'static str {
        self.cca.mode(&self.w)
    }

    pub fn in_flight(&self) -> u32 {
        self.out.len() as u32
    }

    /// Returns the segments that fill the path without a queue.
    pub fn bdp(&self) -> u32 {
        (self.rate.bytes_in(self.rtt).get() / u64::from(MSS)) as u32
    }

    /// Returns the time that a segment sent now waits at the bottleneck.
    pub fn queueing(&self) -> Duration {
        self.link_free.saturating_since(self.w.now)
    }

    /// Stops the link from now on for `time`.
    pub fn outage(&mut self, time: Duration) {
        self.link_free = self.link_free.max(self.w.now) + time;
    }

    /// Sends a segment or receives an ACK, whichever comes first.
    pub fn step(&mut self) {
        let may_send = self.in_flight() < self.w.cwnd;
        if !may_send {
            self.blocked_until = self.w.delivered + u64::from(self.in_flight());
        }
        let send_at = self.next_send.max(self.w.now).max(self.paused_until);
        match self.out.front() {
            Some(head) if !may_send || head.acked_at <= send_at => self.take_ack(),
            _ => self.send(send_at),
        }
    }

    fn send(&mut self, at: Instant) {
        let waited_for_app = at > self.next_send.max(self.w.now) || self.app_rate.is_some();
        self.w.now = at;
        let size = Bytes::new(u64::from(MSS));
        let in_flight = self.in_flight();
        if waited_for_app {
            self.limited_until = (self.w.delivered + u64::from(in_flight)).max(1);
        }
        let app_limited = self.w.delivered <= self.limited_until && self.limited_until > 0;
        self.w.app_limited = app_limited;
        if in_flight == 0 {
            (self.first_tx, self.delivered_at) = (at, at);
            self.w.inflight = 0;
            self.w.delivered_at = at;
            self.cca.cwnd_event(&mut self.w, Event::TxStart);
        }
        let mut rate = self.w.pacing_rate;
        if let Some(app) = self.app_rate {
            rate = rate.min(app);
        }
        self.next_send = at + rate.time_to_send(size);
        let waiting = self.rate.bytes_in(self.link_free.saturating_since(at));
        let full = waiting.get() / u64::from(MSS) >= self.buffer;
        let policed = self.policer.as_mut().is_some_and(|p| !p.lets_pass(at));
        let dropped = (self.drops)(self.sent) || full || policed;
        if !dropped {
            self.link_free = self.link_free.max(at) + self.rate.time_to_send(size);
        }
        self.out.push_back(Sent {
            number: self.sent,
            dropped,
            acked_at: self.at_next_ack(self.link_free.max(at) + self.rtt),
            at,
            delivered: self.w.delivered,
            delivered_at: self.delivered_at,
            first_tx: self.first_tx,
            app_limited,
            tx_in_flight: in_flight + 1,
            lost: self.w.lost,
        });
        self.sent += 1;
    }

    fn at_next_ack(&self, at: Instant) -> Instant {
        let interval = self.ack_interval.as_nanos();
        if interval == 0 {
            return at;
        }
        Instant::from_nanos(at.as_nanos().div_ceil(interval) * interval)
    }

    /// Receives all that arrives at the time of the first arrival: losses are marked, the rest is one ACK.
    pub fn take_ack(&mut self) {
        let prior_inflight = self.in_flight();
        let lost_before = self.w.lost;
        self.w.now = self.out.front().expect("a segment is out").acked_at;
        let mut newest = None;
        let mut delivered = 0;
        while let Some(&head) = self.out.front() {
            if head.acked_at > self.w.now {
                break;
            }
            self.out.pop_front();
            if head.dropped {
                self.mark_lost(&head);
            } else {
                self.w.delivered += 1;
                delivered += 1;
                newest = Some(head);
            }
        }
        self.w.inflight = self.in_flight();
        self.w.next_departure = self.next_send;
        if self.w.lost > lost_before && self.w.state == CaState::Open {
            self.recovery_end = self.sent;
            self.cca.ssthresh(&mut self.w);
            self.enter(CaState::Recovery);
        }
        let Some(newest) = newest else { return };
        if self.w.state == CaState::Recovery && newest.number >= self.recovery_end {
            self.enter(CaState::Open);
        }
        (self.delivered_at, self.w.delivered_at) = (self.w.now, self.w.now);
        self.first_tx = newest.at;
        let ack_phase = self.w.now.saturating_since(newest.delivered_at);
        let rate = RateSample {
            delivered: Some((self.w.delivered - newest.delivered) as u32),
            interval: ack_phase.max(newest.at.saturating_since(newest.first_tx)),
            prior_delivered: newest.delivered,
            app_limited: newest.app_limited,
            tx_in_flight: newest.tx_in_flight,
            lost: (self.w.lost - newest.lost) as u32,
            ..RateSample::default()
        };
        let ack = Ack {
            acked: delivered,
            delivered,
            lost: (self.w.lost - self.lost_told) as u32,
            prior_inflight,
            rtt: Some(self.w.now.saturating_since(newest.at)),
            rate,
            ..Ack::default()
        };
        self.lost_told = self.w.lost;
        self.w.self_limited = false;
        self.w.cwnd_limited = self.w.delivered <= self.blocked_until;
        self.cca.cong_control(&mut self.w, &ack);
        if self.w.self_limited {
            self.limited_until = self.w.delivered + u64::from(self.w.inflight);
        }
    }

    fn mark_lost(&mut self, sent: &Sent) {
        self.w.lost += 1;
        let seq = sent.number * u64::from(MSS);
        let lost = Lost {
            seq,
            end: seq + u64::from(MSS),
            tx_in_flight: sent.tx_in_flight,
            lost: (self.w.lost - sent.lost) as u32,
            app_limited: sent.app_limited,
        };
        self.cca.on_lost(&mut self.w, &lost);
    }

    pub fn enter(&mut self, state: CaState) {
        self.cca.set_state(&mut self.w, state);
        self.w.state = state;
    }

    pub fn run_until(&mut self, seconds: f64) {
        while self.w.now.as_secs_f64() < seconds {
            self.step();
        }
    }

    /// Steps until `wanted` holds.
    ///
    /// # Panics
    /// Panics if that takes more than `seconds` of virtual time.
    pub fn run_while_not(&mut self, seconds: u64, mut wanted: impl FnMut(&Self) -> bool) {
        let end = self.w.now + Duration::from_secs(seconds);
        while !wanted(self) {
            self.step();
            assert!(self.w.now < end, "not within {seconds} s");
        }
    }
}
