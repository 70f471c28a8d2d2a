//! Congestion state of a connection: the window, its congestion control and its slow-start method.

use units::{Bytes, Rate};

use super::{
    Ack, AckKind, AckSample, BuiltCca, CaState, CongestionControl, Event, Lost, RateSample,
    SlowStart, SwitchMode, TransferState, Window, modelled_window, used_window,
};

/// Window together with the congestion control and the slow-start method that work on it.
#[derive(Debug)]
pub struct CongestionState {
    /// Window that is shared with the connection.
    pub window: Window,
    name: &'static str,
    cca: Box<dyn CongestionControl>,
    slow_start: Box<dyn SlowStart>,
    /// Time of the first slow-start exit, and the window at that time.
    slow_start_exit: Option<(units::Instant, u32)>,
}

impl CongestionState {
    /// Creates the congestion state from its parts.
    pub fn new(window: Window, built: BuiltCca) -> Self {
        Self {
            window,
            name: built.name,
            cca: built.cca,
            slow_start: built.slow_start,
            slow_start_exit: None,
        }
    }

    /// Returns the kernel's name of the CCA.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Starts the CCA and slow start when the connection is established.
    pub fn init(&mut self) {
        self.cca.init(&mut self.window);
        self.slow_start.reset(&mut self.window);
    }

    /// Returns whether the CCA sets the window and the pacing rate in every state (its `has_cong_control`).
    pub fn owns_window(&self) -> bool {
        self.cca.has_cong_control()
    }

    /// Returns the name of the phase in which the CCA is, such as `slow_start`.
    pub fn mode(&self) -> &'static str {
        self.cca.mode(&self.window)
    }

    /// Returns the time of the first slow-start exit, and the window at that time.
    pub fn slow_start_exit(&self) -> Option<(units::Instant, u32)> {
        self.slow_start_exit
    }

    /// Handles the result of cleaning the retransmission queue; loss detection has not run yet.
    pub fn pkts_acked(&mut self, sample: &AckSample) {
        if !self.cca.has_cong_control() {
            self.slow_start.on_ack(&mut self.window, sample);
        }
        self.cca.pkts_acked(&mut self.window, sample);
    }

    /// Handles a segment that was marked lost.
    pub fn on_lost(&mut self, lost: &Lost) {
        self.cca.on_lost(&mut self.window, lost);
    }

    /// Passes to the CCA how an ACK was processed: on which path, and with ECN-Echo or not.
    pub fn in_ack_event(&mut self, kind: AckKind) {
        self.cca.in_ack_event(&mut self.window, kind);
    }

    /// Passes the delivery-rate sample of an ACK to slow start. It is called only if the CCA does not
    /// [own the window](Self::owns_window).
    pub fn rate_sample(&mut self, rate: &RateSample) {
        self.slow_start.on_rate(&mut self.window, rate);
        self.note_slow_start_exit();
    }

    /// Grows the window for `acked` segments.
    pub fn cong_avoid(&mut self, acked: u32) {
        let method = &mut *self.slow_start;
        self.cca.grow(&mut self.window, method, acked);
        self.note_slow_start_exit();
    }

    /// Lets the CCA set the window and the pacing rate. It is called only if the CCA
    /// [owns the window](Self::owns_window).
    pub fn cong_control(&mut self, ack: &Ack) {
        self.cca.cong_control(&mut self.window, ack);
        self.note_slow_start_exit();
    }

    /// Returns the threshold that the CCA sets for the reduction that begins now.
    pub fn ssthresh(&mut self) -> u32 {
        let ssthresh = self.cca.ssthresh(&mut self.window);
        self.slow_start.on_reduction();
        if self.slow_start_exit.is_none() {
            self.slow_start_exit = Some((self.window.now, self.window.cwnd));
        }
        ssthresh
    }

    /// Handles the transition to `state`. Every time-out enters the Loss state again, even from Loss.
    pub fn set_state(&mut self, state: CaState) {
        self.cca.set_state(&mut self.window, state);
        if state == CaState::Loss {
            self.slow_start.reset(&mut self.window);
        }
        self.window.state = state;
    }

    /// Handles an event other than an ACK.
    pub fn cwnd_event(&mut self, event: Event) {
        self.cca.cwnd_event(&mut self.window, event);
    }

    /// Undoes a spurious reduction: restores the window that the CCA returns, and the threshold if it was
    /// higher.
    pub fn undo(&mut self, undo_ssthresh: bool, prior_ssthresh: u32) {
        let cwnd = self.cca.undo_cwnd(&mut self.window);
        self.window.cwnd = cwnd.min(self.window.cwnd_clamp);
        if undo_ssthresh && prior_ssthresh > self.window.ssthresh {
            self.window.ssthresh = prior_ssthresh;
        }
    }

    /// Returns the minimum number of segments in one burst to the device.
    pub fn min_tso_segs(&self) -> u32 {
        self.cca.min_tso_segs(&self.window)
    }

    /// Returns whether the CCA requires ECN.
    pub fn needs_ecn(&self) -> bool {
        self.cca.needs_ecn()
    }

    /// Returns the number of windows that the send buffer should hold.
    pub fn sndbuf_expand(&self) -> u32 {
        self.cca.sndbuf_expand()
    }

    /// Sets the pacing rate for a CCA that does not set one. It is the window over the RTT, times 2 below half of the
    /// threshold and 1.2 from there on (Linux `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`). The outstanding segments
    /// replace the window where they exceed it, as they may after a reduction.
    pub fn update_default_pacing_rate(&mut self) {
        if self.cca.has_cong_control() {
            return;
        }
        let w = &mut self.window;
        if w.srtt.is_zero() {
            return;
        }
        let percent = if w.cwnd < w.ssthresh / 2 { 200 } else { 120 };
        let segments = u64::from(w.cwnd.max(w.packets_out));
        let bytes = Bytes::new(segments * u64::from(w.mss) * percent / 100);
        w.pacing_rate = Rate::of(bytes, w.srtt).min(w.max_pacing_rate);
    }

    /// Returns whether a switch models the window (atxutegi2018 eq. 6.3). That takes an RTT sample, and a window in use
    /// when it was taken. After a time-out the window is the loss window (RFC 5681 §3.1), and the RTT includes the outage:
    /// only the threshold still shows how much the path can hold.
    fn is_modelled(&self, mode: SwitchMode) -> bool {
        mode == SwitchMode::Context
            && !self.window.srtt.is_zero()
            && self.window.state != CaState::Loss
    }

    /// Returns the state that a switch transfers: the modelled window, or the current state.
    fn transfer_state(&self, mode: SwitchMode) -> TransferState {
        let w = &self.window;
        let current = TransferState {
            cwnd: w.cwnd,
            ssthresh: w.ssthresh,
            srtt: w.srtt,
            min_rtt: w.min_rtt,
            pacing_rate: w.pacing_rate,
        };
        if !self.is_modelled(mode) {
            return current;
        }
        let used = used_window(w.cwnd, w.packets_out, w.app_limited);
        let cwnd = modelled_window(used, w.srtt, w.min_rtt);
        let bytes = Bytes::new(u64::from(cwnd) * u64::from(w.mss));
        TransferState {
            cwnd,
            ssthresh: cwnd,
            pacing_rate: Rate::of(bytes, w.min_rtt).min(w.max_pacing_rate),
            ..current
        }
    }

    /// Replaces the CCA and its slow-start method; returns the state that was transferred.
    pub fn switch(&mut self, built: BuiltCca, mode: SwitchMode) -> TransferState {
        let state = self.transfer_state(mode);
        // The loss window after a time-out says nothing about the bandwidth.
        let passes_estimates = mode == SwitchMode::Context && self.window.state != CaState::Loss;
        let w = &mut self.window;
        w.cwnd = state.cwnd.clamp(1, w.cwnd_clamp);
        w.ssthresh = state.ssthresh;
        w.pacing_rate = state.pacing_rate;
        self.name = built.name;
        self.cca = built.cca;
        self.slow_start = built.slow_start;
        self.cca.init(w);
        if passes_estimates {
            self.cca.seed(w, &state);
        }
        self.slow_start.reset(w);
        state
    }

    fn note_slow_start_exit(&mut self) {
        let is_over = || !self.window.in_slow_start() || self.cca.has_started_up();
        if self.slow_start_exit.is_none() && is_over() {
            self.slow_start_exit = Some((self.window.now, self.window.cwnd));
        }
    }
}
