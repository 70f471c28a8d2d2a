//! Pacing rate and window from the model (draft-ietf-ccwg-bbr-06 §5.6).

use units::{Bytes, Duration};

use super::Bbr3;
use super::state::State;
use crate::bandwidth::{Bandwidth, Gain};
use crate::{Ack, Window};

/// Window before the first RTT, and delivered segments below which Startup grows with every delivery,
/// segments.
const INITIAL_CWND: u32 = 10;
/// Bursts inside the hosts: one queued, one being cut, one being gathered (§5.5.8.1).
const BURSTS: u32 = 3;
/// Duration of a burst at the pacing rate (§5.6.3).
const BURST_TIME: Duration = Duration::from_millis(1);
/// Largest size of a burst (§5.6.3).
const MAX_BURST: Bytes = Bytes::new(64 * 1024);
/// Minimum burst, segments.
pub(super) const MIN_BURST: u32 = 2;

impl Bbr3 {
    /// `BDPMultiple`.
    pub(super) fn bdp(&self, gain: Gain) -> u32 {
        self.bdp_at(self.bandwidth(), gain)
    }

    fn bdp_at(&self, bandwidth: Bandwidth, gain: Gain) -> u32 {
        if self.min_rtt.rtt == Duration::MAX {
            return INITIAL_CWND;
        }
        bandwidth.product(self.min_rtt.rtt, gain)
    }

    /// `Inflight`.
    pub(super) fn inflight(&self, window: &Window, gain: Gain) -> u32 {
        self.inflight_at(window, self.bandwidth(), gain)
    }

    pub(super) fn inflight_at(&self, window: &Window, bandwidth: Bandwidth, gain: Gain) -> u32 {
        self.with_quantization_budget(window, self.bdp_at(bandwidth, gain))
    }

    /// `QuantizationBudget`.
    fn with_quantization_budget(&self, window: &Window, segments: u32) -> u32 {
        let burst = window.pacing_rate.bytes_in(BURST_TIME).min(MAX_BURST);
        let burst = (burst.get() / u64::from(window.mss.max(1))) as u32;
        let min_budget = (BURSTS * burst.max(MIN_BURST)).max(self.config.min_pipe_cwnd);
        let probing = if self.state == State::Up { 2 } else { 0 };
        segments.max(min_budget).saturating_add(probing)
    }

    /// `SetPacingRateWithGain`.
    pub(super) fn set_pacing_rate(&mut self, window: &mut Window, gain: Gain) {
        let bandwidth = self.bandwidth();
        self.pacing
            .update(window, bandwidth, gain, self.full.reached);
    }

    /// Sets the threshold. Its only effect is on `cwnd_limited`, for which it must not exceed the window.
    pub(super) fn set_threshold(&self, window: &mut Window) {
        window.ssthresh = self.inflight(window, Gain::ONE).min(window.cwnd).max(2);
    }

    /// `SetCwnd`.
    pub(super) fn set_cwnd(&mut self, window: &mut Window, ack: &Ack) {
        let target = self.bdp(self.state.cwnd_gain(&self.config));
        let target = target.saturating_add(self.aggregation.extra());
        let max = self.with_quantization_budget(window, target);
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
