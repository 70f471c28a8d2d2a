//! Holding a congestion control that has taken over to the modelled window.
//!
//! A sender can change neither window nor threshold of its own connection. What Linux offers it is a
//! cap of the pacing rate (SO_MAX_PACING_RATE), under which the window is not used up and does not
//! grow. For the first RTTs the cap is so low that what exceeds the modelled window drains out of the
//! queue; then for some more it is what keeps that window in flight, in which time a new BBR finds its
//! bandwidth; then it is lifted. The window itself stays as it was: a loss-based congestion control
//! fills the queue again when the cap is lifted.

use std::io;
use std::os::fd::AsFd;

use cca::{modelled_window, used_window};
use units::{Duration, Instant};

use crate::info::Look;
use crate::sockopt::cap_pacing_rate;

/// RTTs in which the queue drains, and after that in which the window is kept.
const DRAIN_ROUNDS: u64 = 2;
const KEEP_ROUNDS: u64 = 6;

/// A cap at work.
pub(crate) struct Hold {
    window: u32,
    /// Present cap, bytes per second.
    cap: u64,
    /// The cap after draining.
    keep: u64,
    next: Instant,
    keep_for: Option<Duration>,
}

impl Hold {
    /// The hold on a connection as it was seen before the switch.
    pub(crate) fn new(now: Instant, before: &Look) -> Self {
        let report = &before.report;
        let srtt = Duration::from_micros(report.srtt_us.max(1).into());
        let min_rtt = Duration::from_micros(before.min_rtt_us.max(1).into());
        let used = used_window(report.cwnd, before.unacked, before.app_limited);
        let window = modelled_window(used, srtt, min_rtt);
        let per_second = |segments: u64, time: Duration| {
            let bytes = u128::from(segments) * u128::from(before.mss) * 1_000_000_000;
            (bytes / u128::from(time.as_nanos().max(1))) as u64
        };
        // In these rounds the path delivers its share of the old window, and so much less is sent that
        // the modelled window is left.
        let delivered = DRAIN_ROUNDS * u64::from(used);
        let excess = u64::from(used.saturating_sub(window));
        Self {
            window,
            cap: per_second(delivered.saturating_sub(excess), srtt * DRAIN_ROUNDS).max(1),
            keep: per_second(window.into(), min_rtt).max(1),
            next: now + srtt * DRAIN_ROUNDS,
            keep_for: Some(min_rtt * KEEP_ROUNDS),
        }
    }

    /// The modelled window, segments.
    pub(crate) fn window(&self) -> u32 {
        self.window
    }

    /// When [`Hold::advance`] is to be called.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Sets the cap.
    pub(crate) fn apply(&self, socket: &impl AsFd) -> io::Result<()> {
        cap_pacing_rate(socket, self.cap)
    }

    /// Goes to the next stage; answers whether there is one.
    pub(crate) fn advance(&mut self) -> bool {
        let Some(length) = self.keep_for.take() else {
            return false;
        };
        self.cap = self.keep;
        self.next += length;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sidechannel::SenderReport;

    /// 200 segments at 100 ms over a base of 50 ms: 100 are in a queue, and leave it within two RTTs.
    #[test]
    fn the_queue_drains_and_the_window_is_kept() {
        let before = Look {
            report: SenderReport {
                connection: 0,
                ca_state: 0,
                cwnd: 200,
                ssthresh: 100,
                inflight: 200,
                srtt_us: 100_000,
                rto_us: 300_000,
                delivery_rate: 0,
                pacing_rate: 0,
                timeouts: None,
                slow_start: false,
            },
            unacked: 200,
            min_rtt_us: 50_000,
            mss: 1_000,
            delivered: 5_000,
            retransmissions: 0,
            app_limited: false,
            send_window: None,
        };
        let now = Instant::ZERO;
        let mut hold = Hold::new(now, &before);
        assert_eq!(hold.window(), 100);
        // The path delivers 2000 segments a second; 300 are sent in 200 ms.
        assert_eq!(hold.cap, 1_500_000);
        assert_eq!(hold.next(), now + Duration::from_millis(200));
        assert!(hold.advance());
        assert_eq!(hold.cap, 2_000_000);
        assert_eq!(hold.next(), now + Duration::from_millis(500));
        assert!(!hold.advance());
    }
}
