//! Window of BBR: the inflight target, and its changes in recovery (§4.2.3).

use units::Duration;

use super::Bbr;
use super::mode::Mode;
use crate::bandwidth::{Bandwidth, Gain};
use crate::{Ack, CaState, Window};

/// Window before the first RTT, and delivered segments below which Startup grows with every delivery,
/// segments.
const INITIAL_CWND: u32 = 10;
/// Largest burst considered, bytes (`GSO_LEGACY_MAX_SIZE`, less room for the headers).
const MAX_BURST_BYTES: u64 = 65_536 - 1 - 320;

impl Bbr {
    /// Returns the segments that fill the path at `bandwidth`, times `gain` (§4.2.3.2).
    fn bdp(&self, bandwidth: Bandwidth, gain: Gain) -> u32 {
        if self.min_rtt == Duration::MAX {
            return INITIAL_CWND;
        }
        bandwidth.product(self.min_rtt, gain)
    }

    /// Adds the bursts at both ends to the BDP and rounds up to an even number for delayed ACKs. The probing
    /// phase gets two segments more, so that even small windows probe.
    fn with_quantization_budget(&self, window: &Window, segments: u32) -> u32 {
        let mut segments = segments + 3 * self.tso_segs_goal(window);
        segments = (segments + 1) & !1;
        if self.mode == Mode::ProbeBandwidth && self.phase == 0 {
            segments += 2;
        }
        segments
    }

    /// Returns the segments in flight that fill the path at `bandwidth`, times `gain`.
    pub(super) fn inflight_target(&self, window: &Window, bandwidth: Bandwidth, gain: Gain) -> u32 {
        self.with_quantization_budget(window, self.bdp(bandwidth, gain))
    }

    /// Returns the segments of a burst, which are those of a millisecond at the current pacing rate (§4.2.2).
    fn tso_segs_goal(&self, window: &Window) -> u32 {
        let bytes = ((window.pacing_rate.bits_per_second() / 8) >> 10).min(MAX_BURST_BYTES);
        let min_segs = self.bbr_min_tso_segs(window);
        ((bytes / u64::from(window.mss)) as u32)
            .max(min_segs)
            .min(0x7f)
    }

    /// Returns the segments in flight when pacing releases the next burst, given the current number `inflight`. The path
    /// continues to deliver until then, and a burst that raises the load already counts (Linux
    /// `bbr_packets_in_net_at_edt`).
    pub(super) fn inflight_at_departure(&self, window: &Window, inflight: u32) -> u32 {
        let wait = window.next_departure.saturating_since(window.now);
        let delivered = self.bandwidth().segments_in(wait);
        let mut inflight = u64::from(inflight);
        if self.pacing_gain > Gain::ONE {
            inflight += u64::from(self.tso_segs_goal(window));
        }
        inflight.saturating_sub(delivered) as u32
    }

    /// Saves the window to restore after recovery or a probe (§4.2.3.4).
    pub(super) fn save_cwnd(&mut self, window: &Window) {
        let is_reduced = self.previous_state.in_recovery() || self.mode == Mode::ProbeRtt;
        self.saved_cwnd = if is_reduced {
            self.saved_cwnd.max(window.cwnd)
        } else {
            window.cwnd
        };
    }

    /// Restores the window after a recovery. In its first round, returns the window of packet conservation (§4.2.3.4).
    fn recover_or_restore(&mut self, window: &mut Window, ack: &Ack) -> Option<u32> {
        let (previous, state) = (self.previous_state, window.state);
        let mut cwnd = window.cwnd;
        if ack.lost > 0 {
            cwnd = cwnd.saturating_sub(ack.lost).max(1);
        }
        if state == CaState::Recovery && previous != CaState::Recovery {
            self.packet_conservation = true;
            self.next_round = window.delivered;
            cwnd = window.inflight.saturating_add(ack.delivered);
        } else if previous.in_recovery() && !state.in_recovery() {
            cwnd = cwnd.max(self.saved_cwnd);
            self.packet_conservation = false;
        }
        self.previous_state = state;
        if self.packet_conservation {
            return Some(cwnd.max(window.inflight.saturating_add(ack.delivered)));
        }
        window.cwnd = cwnd;
        None
    }

    pub(super) fn set_cwnd(&mut self, window: &mut Window, ack: &Ack) {
        let acked = ack.delivered;
        if acked > 0 {
            if let Some(conserved) = self.recover_or_restore(window, ack) {
                window.cwnd = conserved;
            } else {
                let bandwidth = self.bandwidth();
                let extra = self
                    .aggregation
                    .extra(&self.config, bandwidth, self.full.reached);
                let bdp = self.bdp(bandwidth, self.mode.cwnd_gain(&self.config)) + extra;
                let target = self.with_quantization_budget(window, bdp);
                if self.full.reached {
                    window.cwnd = window.cwnd.saturating_add(acked).min(target);
                } else if window.cwnd < target || window.delivered < u64::from(INITIAL_CWND) {
                    window.cwnd = window.cwnd.saturating_add(acked);
                }
                window.cwnd = window.cwnd.max(self.config.cwnd_min_target);
            }
        }
        window.cwnd = window.cwnd.min(window.cwnd_clamp);
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(self.config.cwnd_min_target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;
    use units::random::{Purpose, RngStream};

    /// At one segment per millisecond, a departure in 5 ms finds five segments fewer in flight. It adds its
    /// own burst if the gain raises the load.
    #[test]
    fn inflight_at_departure_excludes_what_is_delivered_by_then() {
        let mut window = Window::new(1448, 10, RngStream::new(1, Purpose::CongestionControl, 0));
        window.pacing_rate = Rate::from_mbps(11.6);
        let one_per_ms = Bandwidth::of(1, Duration::from_millis(1)).expect("a millisecond");
        let mut bbr = Bbr::new(Default::default());
        bbr.samples.update(10, 0, one_per_ms.0 + 1);
        bbr.pacing_gain = Gain::of(0.75);
        window.next_departure = window.now + Duration::from_millis(5);
        assert_eq!(bbr.inflight_at_departure(&window, 20), 15);
        assert_eq!(bbr.inflight_at_departure(&window, 3), 0);
        bbr.pacing_gain = Gain::of(1.25);
        assert_eq!(bbr.inflight_at_departure(&window, 20), 17);
        window.now += Duration::from_millis(9);
        assert_eq!(bbr.inflight_at_departure(&window, 20), 22);
    }
}
