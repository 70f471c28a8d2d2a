//! A congestion control and a slow-start method at work on one window.

use units::{Bytes, Rate};

use super::{
    Ack, AckKind, AckSample, CaState, CongestionControl, Context, Event, Lost, Pair, RateSample,
    SlowStart, Takeover, Window, modelled_window, used_window,
};

/// The window, who controls it and how it starts.
#[derive(Debug)]
pub struct Congestion {
    /// Shared with the connection.
    pub window: Window,
    cca: Box<dyn CongestionControl>,
    slow_start: Box<dyn SlowStart>,
    /// When slow start was left for the first time, and the window then.
    slow_start_exit: Option<(units::Instant, u32)>,
}

impl Congestion {
    /// `cca` over `window`, starting by `slow_start`.
    pub fn new(
        window: Window,
        cca: Box<dyn CongestionControl>,
        slow_start: Box<dyn SlowStart>,
    ) -> Self {
        Self {
            window,
            cca,
            slow_start,
            slow_start_exit: None,
        }
    }

    /// The kernel's name of the CCA.
    pub fn name(&self) -> &'static str {
        self.cca.name()
    }

    /// The connection is established.
    pub fn init(&mut self) {
        self.cca.init(&mut self.window);
        self.slow_start.reset(&mut self.window);
    }

    /// Whether the CCA replaces proportional rate reduction by its own rule.
    pub fn owns_window(&self) -> bool {
        self.cca.owns_window()
    }

    /// When slow start was left for the first time, and with which window.
    pub fn slow_start_exit(&self) -> Option<(units::Instant, u32)> {
        self.slow_start_exit
    }

    /// What an ACK told of the retransmission queue; losses are not looked for yet.
    pub fn pkts_acked(&mut self, sample: &AckSample) {
        if !self.cca.owns_window() {
            self.slow_start.on_ack(&mut self.window, sample);
        }
        self.cca.pkts_acked(&mut self.window, sample);
    }

    /// A segment was marked lost.
    pub fn on_lost(&mut self, lost: &Lost) {
        self.cca.on_lost(&mut self.window, lost);
    }

    /// How an ACK was worked on.
    pub fn in_ack_event(&mut self, kind: AckKind) {
        self.cca.in_ack_event(&mut self.window, kind);
    }

    /// The delivery rate that an ACK shows; only for one that does not own the window.
    pub fn rate_sample(&mut self, rate: &RateSample) {
        self.slow_start.on_rate(&mut self.window, rate);
        self.note_slow_start_exit();
    }

    /// The window may grow for `acked` segments.
    pub fn cong_avoid(&mut self, acked: u32) {
        let method = &mut *self.slow_start;
        self.cca.grow(&mut self.window, method, acked);
        self.note_slow_start_exit();
    }

    /// The CCA sets window and rate by itself; only for one that owns the window.
    pub fn cong_control(&mut self, ack: &Ack) {
        self.cca.cong_control(&mut self.window, ack);
        self.note_slow_start_exit();
    }

    /// A reduction begins: the threshold that the CCA wants.
    pub fn ssthresh(&mut self) -> u32 {
        let ssthresh = self.cca.ssthresh(&mut self.window);
        self.slow_start.reduced();
        if self.slow_start_exit.is_none() {
            self.slow_start_exit = Some((self.window.now, self.window.cwnd));
        }
        ssthresh
    }

    /// The connection enters `state`, or stays in it once more: every time-out begins the Loss state anew.
    pub fn set_state(&mut self, state: CaState) {
        self.cca.set_state(&mut self.window, state);
        if state == CaState::Loss {
            self.slow_start.reset(&mut self.window);
        }
        self.window.state = state;
    }

    /// Something happened outside of an ACK.
    pub fn cwnd_event(&mut self, event: Event) {
        self.cca.cwnd_event(&mut self.window, event);
    }

    /// The reduction was spurious: the window goes back to what the CCA thinks right.
    pub fn undo(&mut self, undo_ssthresh: bool, prior_ssthresh: u32) {
        let cwnd = self.cca.undo_cwnd(&mut self.window);
        self.window.cwnd = cwnd.min(self.window.cwnd_clamp);
        if undo_ssthresh && prior_ssthresh > self.window.ssthresh {
            self.window.ssthresh = prior_ssthresh;
        }
    }

    /// The least number of segments in one burst to the device.
    pub fn min_tso_segs(&self) -> u32 {
        self.cca.min_tso_segs(&self.window)
    }

    /// Whether the CCA cannot do without ECN.
    pub fn needs_ecn(&self) -> bool {
        self.cca.needs_ecn()
    }

    /// How many windows the send buffer should hold.
    pub fn sndbuf_expand(&self) -> u32 {
        self.cca.sndbuf_expand()
    }

    /// The pacing rate of a CCA that does not set one: window over RTT, times 2 in slow start and
    /// 1.2 beyond (Linux `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`). What is out may exceed the
    /// window after a reduction.
    pub fn update_default_pacing_rate(&mut self) {
        if self.cca.owns_window() {
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

    /// What another CCA is handed, by either way; before the first RTT sample there is nothing to model.
    fn context(&self, how: Takeover) -> Context {
        let w = &self.window;
        let present = Context {
            cwnd: w.cwnd,
            ssthresh: w.ssthresh,
            srtt: w.srtt,
            min_rtt: w.min_rtt,
            pacing_rate: w.pacing_rate,
        };
        if how == Takeover::Kernel || w.srtt.is_zero() {
            return present;
        }
        let used = used_window(w.cwnd, w.packets_out, w.app_limited);
        let cwnd = modelled_window(used, w.srtt, w.min_rtt);
        let bytes = Bytes::new(u64::from(cwnd) * u64::from(w.mss));
        Context {
            cwnd,
            ssthresh: cwnd,
            pacing_rate: Rate::of(bytes, w.min_rtt).min(w.max_pacing_rate),
            ..present
        }
    }

    /// Another CCA takes over, with its slow start; answers what it was handed.
    pub fn switch(&mut self, (cca, slow_start): Pair, how: Takeover) -> Context {
        let context = self.context(how);
        let w = &mut self.window;
        w.cwnd = context.cwnd.clamp(1, w.cwnd_clamp);
        w.ssthresh = context.ssthresh;
        w.pacing_rate = context.pacing_rate;
        self.cca = cca;
        self.slow_start = slow_start;
        self.cca.init(w);
        if how == Takeover::Context {
            self.cca.seed(w, &context);
        }
        self.slow_start.reset(w);
        context
    }

    fn note_slow_start_exit(&mut self) {
        if self.slow_start_exit.is_none() && !self.window.in_slow_start() {
            self.slow_start_exit = Some((self.window.now, self.window.cwnd));
        }
    }
}
