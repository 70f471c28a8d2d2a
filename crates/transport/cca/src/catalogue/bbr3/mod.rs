//! BBRv3 as specified by draft-ietf-ccwg-bbr-06, without ECN, to which the draft gives no response. Comments
//! use the names of its pseudocode and its section numbers.
//!
//! Differences from the draft:
//! - An episode of loss saves the state for undo only at its first loss.
//! - After a time-out the short-term bound of the segments in flight starts from the window before the
//!   time-out, as in Google's Linux.
//! - The lowest RTT starts with that of the connection instead of the smoothed RTT.

mod aggregation;
mod bounds;
mod config;
mod control;
mod long_term;
mod probe_bw;
mod probe_rtt;
mod short_term;
mod startup;
mod state;
mod undo;

use units::{Duration, Instant, Rate};

use crate::bandwidth::{Bandwidth, Gain, Pacing};
use crate::{Ack, CaState, CcaInfo, CongestionControl, Event, Family, Lost, TransferState, Window};
use aggregation::Aggregation;
use bounds::{Bounds, MaxBandwidth};
pub use config::Bbr3Config;
use long_term::ProbeUpRamp;
use probe_bw::{AckPhase, Cycle};
use probe_rtt::MinRtt;
use short_term::{LatestValues, LossRound, Rounds};
use startup::{FullBandwidth, LostRanges};
use state::State;
use undo::Undo;

/// Catalogue entry of BBRv3.
pub const INFO: CcaInfo = CcaInfo {
    name: "bbr3",
    aliases: &["bbrv3"],
    title: "BBR v3",
    family: Family::Model,
    reference: "Cardwell, Swett, Beshay: BBR congestion control, draft-ietf-ccwg-bbr-06",
    year: 2023,
    linux: false,
    parameters: Bbr3Config::PARAMETERS,
    slow_start: None,
    build: &|settings| Box::new(Bbr3::new(Bbr3Config::with(settings))),
};

/// State of one connection.
#[derive(Clone, Debug, Default)]
pub struct Bbr3 {
    config: Bbr3Config,
    state: State,
    /// Delivery rate of the current ACK; zero if it has no sample.
    sample: Bandwidth,
    max_bandwidth: MaxBandwidth,
    bounds: Bounds,
    min_rtt: MinRtt,
    rounds: Rounds,
    loss_round: LossRound,
    latest: LatestValues,
    lost_ranges: LostRanges,
    full: FullBandwidth,
    /// Round in which Drain began.
    drain_start_round: u64,
    ack_phase: AckPhase,
    cycle: Cycle,
    rounds_since_up: u64,
    probe_up_ramp: ProbeUpRamp,
    /// Whether the samples come from a probe for bandwidth (`is_bw_probe_sample`).
    is_probe_sample: bool,
    /// `prev_probe_too_high`.
    probe_was_too_high: bool,
    /// `prev_probe_precautionary`.
    probe_was_precautionary: bool,
    probe_rtt_until: Option<Instant>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    aggregation: Aggregation,
    prior_cwnd: u32,
    undo: Undo,
    pacing: Pacing,
}

impl Bbr3 {
    /// Creates BBRv3 with these parameters.
    pub fn new(config: Bbr3Config) -> Self {
        Self {
            config,
            pacing: Pacing::new(Gain::of(config.startup_pacing_gain)),
            min_rtt: MinRtt::new(Duration::MAX, Instant::ZERO),
            ..Self::default()
        }
    }

    /// Returns `max_bw` as a payload rate for segments of `mss` bytes.
    pub fn max_bandwidth(&self, mss: u32) -> Rate {
        self.max_bandwidth.get().rate(mss)
    }

    /// Returns `inflight_longterm` in segments, once a loss has set it.
    pub fn inflight_longterm(&self) -> Option<u32> {
        Some(self.bounds.longterm).filter(|&bound| bound != bounds::UNBOUNDED)
    }

    /// Returns `inflight_shortterm` in segments, while a loss bounds it.
    pub fn inflight_shortterm(&self) -> Option<u32> {
        Some(self.bounds.inflight).filter(|&bound| bound != bounds::UNBOUNDED)
    }

    /// Returns `bw_shortterm` as a payload rate for segments of `mss` bytes, while a loss bounds it.
    pub fn bandwidth_shortterm(&self, mss: u32) -> Option<Rate> {
        let bound = Some(self.bounds.rate).filter(|&bound| bound != bounds::ANY_RATE);
        bound.map(|bound| bound.rate(mss))
    }

    /// Returns `extra_acked`, segments.
    pub fn extra_acked(&self) -> u32 {
        self.aggregation.extra()
    }

    /// `BoundBWForModel`: returns the bandwidth in use.
    fn bandwidth(&self) -> Bandwidth {
        self.max_bandwidth.get().min(self.bounds.rate)
    }
}

impl CongestionControl for Bbr3 {
    /// `OnInit` (§5.2.1).
    fn init(&mut self, window: &mut Window) {
        *self = Self {
            min_rtt: MinRtt::new(window.min_rtt, window.now),
            aggregation: Aggregation::new(window.now),
            ..Self::new(self.config)
        };
        self.rounds.end = window.delivered;
        self.loss_round.end = window.delivered;
        window.paced = true;
        window.ssthresh = crate::INFINITE_SSTHRESH;
        self.pacing.init(window);
    }

    /// Initialises the model from the earlier CCA: its pacing rate as the bandwidth, and its lowest RTT.
    ///
    /// The path counts as full, so there is no Startup. Drain comes first and ends at once if nothing is
    /// queued. The first probe follows within two to three seconds.
    fn seed(&mut self, window: &mut Window, state: &TransferState) {
        let bandwidth = Bandwidth::from_rate(state.pacing_rate, window.mss);
        if state.srtt.is_zero() || bandwidth == Bandwidth::default() {
            return;
        }
        self.max_bandwidth.update(bandwidth);
        self.min_rtt = MinRtt::new(state.min_rtt, window.now);
        self.pacing.has_seen_rtt = true;
        self.full.reached = true;
        self.enter_drain(window);
        self.check_drain_done(window);
        self.set_pacing_rate(window, self.state.pacing_gain(&self.config));
    }

    /// `OnEnterRTO`, `OnEnterFastRecovery` (§5.6.4.4). BBR does not use the threshold. The loss that began
    /// the episode has already saved the state, before it changed the model.
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        if !self.loss_round.has_loss {
            self.save_state(window);
        }
        window.ssthresh
    }

    /// `HandleLostPacket`.
    fn on_lost(&mut self, window: &mut Window, lost: &Lost) {
        self.note_loss(window);
        self.lost_ranges.add(lost);
        if self.is_probe_sample && self.is_too_high(lost.lost, lost.tx_in_flight) {
            let inflight = self.inflight_at_loss(lost);
            self.handle_too_high(window, inflight, lost.app_limited);
        }
    }

    fn mode(&self, _window: &Window) -> &'static str {
        self.state.into()
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    /// `UpdateModelAndState` and `UpdateControlParameters` (§5.2.3).
    fn cong_control(&mut self, window: &mut Window, ack: &Ack) {
        let delivered = ack.rate.delivered.map(u64::from);
        let sample = delivered.and_then(|count| Bandwidth::of(count, ack.rate.interval));
        self.sample = sample.unwrap_or_default();
        self.update_latest(window, ack);
        self.update_congestion_signals(window, ack);
        self.update_aggregation(window, ack);
        self.check_full_bw_reached(ack);
        self.check_startup_done(window, ack);
        self.check_drain_done(window);
        self.update_cycle(window, ack);
        self.update_min_rtt(window, ack);
        self.check_probe_rtt(window, ack);
        self.advance_latest(ack);
        self.set_pacing_rate(window, self.state.pacing_gain(&self.config));
        self.set_cwnd(window, ack);
    }

    /// Restores the window from before recovery at its end (§5.6.4.4).
    fn set_state(&mut self, window: &mut Window, state: CaState) {
        if window.state.in_recovery() && !state.in_recovery() {
            self.restore_cwnd(window);
        }
    }

    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        self.restart_from_idle(window, event);
    }

    fn undo_cwnd(&mut self, window: &mut Window) -> u32 {
        self.undo_losses(window);
        window.cwnd
    }

    fn min_tso_segs(&self, _window: &Window) -> u32 {
        control::MIN_BURST
    }

    fn sndbuf_expand(&self) -> u32 {
        3
    }
}
