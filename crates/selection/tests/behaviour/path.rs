//! Fluid model of a sender over one bottleneck, which gives the samples of TCP_INFO every 10 ms.

use selection::{SAMPLE_INTERVAL, SenderInfo};
use units::{Duration, Instant, Rate};

/// Payload of a segment, bytes.
pub const MSS: u32 = 1_448;
/// Length of a step, s.
const STEP: f64 = 0.01;

/// Converts a rate to segments per second.
pub fn segments(mbps: f64) -> f64 {
    mbps * 1e6 / 8.0 / f64::from(MSS)
}

/// Rule by which the window changes.
#[derive(Clone, Copy, Debug)]
pub enum Window {
    /// One more segment per RTT, halved by a loss, as Reno.
    Reno,
    /// This many segments kept in the queue, as delay-based CCAs do.
    Queue(f64),
    /// This many segments per second more, whatever happens.
    Growing(f64),
}

/// Path and the window of its sender.
pub struct Flow {
    /// RTT without a queue, s.
    pub base: f64,
    /// Size of the buffer, segments.
    pub buffer: f64,
    /// Share of segments lost at random.
    pub loss: f64,
    /// Segments that others keep in flight; they share the bottleneck by what is in flight.
    pub others: f64,
    /// RTT of the handshake, s, if it is lower than that of full segments.
    pub handshake: Option<f64>,
    /// Window of the receiver, bytes.
    pub receive_window: u64,
    /// Rule of the congestion control.
    pub window: Window,
    /// Congestion window at the start, segments.
    pub cwnd: f64,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            base: 0.068,
            buffer: 300.0,
            loss: 0.0,
            others: 0.0,
            handshake: None,
            receive_window: 1 << 30,
            window: Window::Reno,
            cwnd: 100.0,
        }
    }
}

impl Flow {
    /// Returns the samples over `seconds`; `mbps` gives the capacity at a time in s.
    pub fn samples(
        mut self,
        seconds: f64,
        mbps: impl Fn(f64) -> f64,
    ) -> Vec<(Instant, SenderInfo)> {
        let (mut delivered, mut again, mut due, mut rest) = (0.0, 0_u64, 0.0, 0.0);
        let mut samples = Vec::new();
        for step in 1..=(seconds / STEP) as u64 {
            let capacity = segments(mbps(step as f64 * STEP));
            let receiver = self.receive_window as f64 / f64::from(MSS);
            // The first RTT has no queue: only the handshake is sent before it.
            let handshake = step as f64 * STEP < self.base;
            let inflight = self
                .cwnd
                .min(receiver)
                .min(if handshake { 10.0 } else { f64::MAX });
            let all = inflight + self.others;
            let queue = (all - capacity * self.base).max(0.0);
            let rate = capacity.min(all / self.base) * inflight / all;
            let rtt = self.base + queue.min(self.buffer) / capacity;
            delivered += rate * STEP;
            due += self.loss * rate * STEP;
            rest -= STEP;
            let overflows = queue > self.buffer;
            if overflows || due >= 1.0 {
                again += 1;
                due = (due - 1.0).max(0.0);
                // Once per RTT.
                if rest <= 0.0 && matches!(self.window, Window::Reno) {
                    self.cwnd = (self.cwnd / 2.0).max(2.0);
                    rest = rtt;
                }
            }
            match self.window {
                Window::Reno if inflight >= self.cwnd => self.cwnd += STEP / rtt,
                Window::Reno => {}
                Window::Queue(kept) => self.cwnd = capacity * self.base + kept,
                Window::Growing(by) => self.cwnd += by * STEP,
            }
            let at = Instant::ZERO + SAMPLE_INTERVAL * step;
            let lowest = self.handshake.unwrap_or(self.base);
            let sender = SenderInfo {
                mss: MSS,
                cwnd: self.cwnd as u32,
                inflight: inflight as u32,
                srtt: Some(Duration::from_secs_f64(rtt)),
                min_rtt: Some(Duration::from_secs_f64(lowest)),
                delivered: delivered as u64,
                retransmissions: again,
                delivery_rate: Some(Rate::from_bits_per_second(
                    (rate * 8.0 * f64::from(MSS)) as u64,
                )),
                app_limited: false,
                send_window: Some(self.receive_window),
                slow_start: false,
                ..SenderInfo::default()
            };
            samples.push((at, sender));
        }
        samples
    }
}
