//! Pacing rate and window from the model (draft-ietf-ccwg-bbr-06 §5.6).

use units::{Bytes, Duration};

use super::Bbr3;
use super::state::State;
use crate::bandwidth::{Bandwidth, Gain, initial_pacing_rate};
use crate::{Ack, Window};

/// Window before the first RTT, and delivered segments below which Startup grows with every delivery,
/// segments.
const INITIAL_CWND: u32 = 10;
/// Bursts inside the hosts: one queued, one being cut, one being gathered (§5.5.8.1).
const BURSTS: u32 = 3;
/// Duration of a burst at the pacing rate, and its largest size (§5.6.3).
const BURST_TIME: Duration = Duration::from_millis(1);
const LARGEST_BURST: Bytes = Bytes::new(64 * 1024);
/// Minimum burst, segments.
pub(super) const MIN_BURST: u32 = 2;

impl Bbr3 {
    /// `BDPMultiple`.
    pub(super) fn bdp(&self, gain: Gain) -> u32 {
        self.bdp_at(self.bandwidth(), gain)
    }

    fn bdp_at(&self, bandwidth: Bandwidth, gain: Gain) -> u32 {
        if self.lowest.rtt == Duration::MAX {
            return INITIAL_CWND;
        }
        bandwidth.product(self.lowest.rtt, gain)
    }

    /// `Inflight`.
    pub(super) fn inflight(&self, window: &Window, gain: Gain) -> u32 {
        self.inflight_at(window, self.bandwidth(), gain)
    }

    pub(super) fn inflight_at(&self, window: &Window, bandwidth: Bandwidth, gain: Gain) -> u32 {
        self.with_budget(window, self.bdp_at(bandwidth, gain))
    }

    /// `QuantizationBudget`.
    fn with_budget(&self, window: &Window, segments: u32) -> u32 {
        let burst = window.pacing_rate.bytes_in(BURST_TIME).min(LARGEST_BURST);
        let burst = (burst.get() / u64::from(window.mss.max(1))) as u32;
        let min_budget = (BURSTS * burst.max(MIN_BURST)).max(self.config.min_pipe_cwnd);
        let probing = if self.state == State::Up { 2 } else { 0 };
        segments.max(min_budget).saturating_add(probing)
    }

    /// `SetPacingRateWithGain`.
    pub(super) fn set_pacing_rate(&mut self, window: &mut Window, gain: Gain) {
        let rate = self.bandwidth().pacing_rate(window.mss, gain);
        if !self.rtt_seen && !window.srtt.is_zero() {
            self.init_pacing_rate(window);
        }
        if self.full.reached || rate > window.pacing_rate {
            window.pacing_rate = rate.min(window.max_pacing_rate);
        }
    }

    /// `InitPacingRate`: the window over the first RTT, or over 1 ms.
    pub(super) fn init_pacing_rate(&mut self, window: &mut Window) {
        self.rtt_seen |= !window.srtt.is_zero();
        let rate = initial_pacing_rate(window, Gain::of(self.config.startup_pacing_gain));
        window.pacing_rate = rate.unwrap_or(window.pacing_rate);
    }

    /// Sets the threshold. Its only effect is on the test for full use of the window, for which it must not
    /// exceed the window.
    pub(super) fn set_threshold(&self, window: &mut Window) {
        window.ssthresh = self.inflight(window, Gain::ONE).min(window.cwnd).max(2);
    }

    /// `SetCwnd`.
    pub(super) fn set_cwnd(&mut self, window: &mut Window, ack: &Ack) {
        let target = self.bdp(self.state.cwnd_gain(&self.config));
        let target = target.saturating_add(self.aggregation.extra());
        let max = self.with_budget(window, target);
        let grown = window.cwnd.saturating_add(ack.delivered);
        if self.full.reached {
            window.cwnd = grown.min(max);
        } else if window.cwnd < max || window.delivered < u64::from(INITIAL_CWND) {
            window.cwnd = grown;
        }
        window.cwnd = window.cwnd.max(self.config.min_pipe_cwnd);
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd(window);
    }

    /// `BoundCwndForModel` (§5.6.4.7).
    fn bound_cwnd(&self, window: &mut Window) {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.bounds.longterm,
            State::Cruise | State::ProbeRtt => self.with_headroom(),
            State::Startup | State::Drain => super::bounds::UNBOUNDED,
        };
        let cap = cap.min(self.bounds.inflight);
        let cap = cap.max(self.config.min_pipe_cwnd);
        window.cwnd = window.cwnd.min(cap).min(window.cwnd_clamp);
    }
}
