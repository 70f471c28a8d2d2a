//! Pacing cap after a switch: limits the new congestion control to the modelled window.
//!
//! On Linux, a program can set neither cwnd nor ssthresh of its connection. It can cap the pacing rate
//! (SO_MAX_PACING_RATE): the flow is then not limited by cwnd, which does not grow. In the first RTTs the cap is so low
//! that the queue drains by the excess over the modelled window. For some more RTTs the cap allows the modelled window
//! in flight, while a new BBR measures its bandwidth. Then the cap is lifted. cwnd itself stays as it was: a loss-based
//! congestion control fills the queue again when the cap is lifted.

use std::io;
use std::os::fd::AsFd;

use cca::{CaState, SenderInfo, modelled_window, used_window};
use units::{Duration, Instant};

use crate::options::cap_pacing_rate;

/// RTTs in which the queue drains, and RTTs after them with the modelled window in flight.
const DRAIN_ROUNDS: u64 = 2;
const FINAL_ROUNDS: u64 = 6;

/// Cap of the pacing rate after a switch.
#[derive(Clone, Debug)]
pub struct PacingCap {
    window: u32,
    /// Current cap, bytes per second.
    cap: u64,
    /// The cap after draining.
    final_cap: u64,
    stage_end: Instant,
    /// Length of the stage after draining; `None` once it has begun.
    final_length: Option<Duration>,
}

impl PacingCap {
    /// Returns the cap for a connection with the sender state `before` its switch; `None` before the first RTT sample
    /// and in loss recovery after an RTO, because the window cannot be modelled then.
    pub fn new(now: Instant, before: &SenderInfo) -> Option<Self> {
        if before.ca_state == CaState::Loss {
            return None;
        }
        let shortest = Duration::from_micros(1);
        let (srtt, min_rtt) = (before.srtt?.max(shortest), before.min_rtt?.max(shortest));
        let used = used_window(before.cwnd, before.packets_out, before.app_limited);
        let window = modelled_window(used, srtt, min_rtt);
        let per_second = |segments: u64, time: Duration| {
            let bytes = u128::from(segments) * u128::from(before.mss) * 1_000_000_000;
            (bytes / u128::from(time.as_nanos().max(1))) as u64
        };
        // In these rounds the path delivers a window per SRTT. The sender sends less than that by the excess, so that
        // the modelled window remains in flight.
        let delivered = DRAIN_ROUNDS * u64::from(used);
        let excess = u64::from(used.saturating_sub(window));
        Some(Self {
            window,
            cap: per_second(delivered.saturating_sub(excess), srtt * DRAIN_ROUNDS).max(1),
            final_cap: per_second(window.into(), min_rtt).max(1),
            stage_end: now + srtt * DRAIN_ROUNDS,
            final_length: Some(min_rtt * FINAL_ROUNDS),
        })
    }

    /// Returns the modelled window, segments.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Returns the end of the current stage, the time of the next call of [`PacingCap::advance`].
    pub fn stage_end(&self) -> Instant {
        self.stage_end
    }

    /// Sets the cap of the current stage on the socket.
    pub fn apply(&self, socket: &impl AsFd) -> io::Result<()> {
        cap_pacing_rate(socket, self.cap)
    }

    /// Enters the next stage; returns false if the cap is to be lifted instead.
    pub fn advance(&mut self) -> bool {
        let Some(length) = self.final_length.take() else {
            return false;
        };
        self.cap = self.final_cap;
        self.stage_end += length;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 200 segments at 100 ms over a base of 50 ms: 100 are in a queue and leave it within two RTTs.
    #[test]
    fn the_queue_drains_and_the_window_is_kept() {
        let before = SenderInfo {
            cwnd: 200,
            packets_out: 200,
            srtt: Some(Duration::from_millis(100)),
            min_rtt: Some(Duration::from_millis(50)),
            mss: 1_000,
            ..SenderInfo::default()
        };
        let now = Instant::ZERO;
        let mut pacing = PacingCap::new(now, &before).expect("RTTs are known");
        assert_eq!(pacing.window(), 100);
        // The path delivers 2000 segments a second; 300 are sent in 200 ms.
        assert_eq!(pacing.cap, 1_500_000);
        assert_eq!(pacing.stage_end(), now + Duration::from_millis(200));
        assert!(pacing.advance());
        assert_eq!(pacing.cap, 2_000_000);
        assert_eq!(pacing.stage_end(), now + Duration::from_millis(500));
        assert!(!pacing.advance());
    }

    #[test]
    fn the_window_of_a_time_out_is_not_held() {
        let before = SenderInfo {
            cwnd: 1,
            packets_out: 100,
            srtt: Some(Duration::from_millis(100)),
            min_rtt: Some(Duration::from_millis(50)),
            mss: 1_000,
            ca_state: CaState::Loss,
            ..SenderInfo::default()
        };
        assert!(PacingCap::new(Instant::ZERO, &before).is_none());
    }
}
