//! BBR v1 (Cardwell et al., draft-cardwell-iccrg-bbr-congestion-control-00; ACM Queue 14(5)) with the
//! additions of Linux: a policer model, ACK aggregation, packet conservation in recovery.

mod aggregation;
mod config;
mod inflight;
mod lt_bw;
mod mode;
mod probe_bandwidth;
mod probe_rtt;
mod startup;

use units::{Duration, Instant, Rate};

use crate::bandwidth::{Bandwidth, Gain, Pacing};
use crate::windowed_filter::WindowedMax;
use crate::{Ack, CaState, CcaInfo, CongestionControl, Event, Family, TransferState, Window};
use aggregation::Aggregation;
pub use config::BbrConfig;
use lt_bw::{LongTermBw, Observation};
use mode::Mode;
use startup::FullPipe;

/// Catalogue entry of BBR.
pub const INFO: CcaInfo = CcaInfo {
    name: "bbr",
    aliases: &["bbr1", "bbrv1"],
    title: "BBR v1",
    family: Family::Model,
    reference: "Cardwell, Cheng, Gunn, Yeganeh, Jacobson: BBR, ACM Queue 14(5); draft-cardwell-iccrg-bbr-congestion-control-00",
    year: 2016,
    linux: true,
    parameters: BbrConfig::PARAMETERS,
    slow_start: None,
    build: &|settings| Box::new(Bbr::new(BbrConfig::with(settings))),
};

/// State of one connection.
#[derive(Clone, Debug, Default)]
pub struct Bbr {
    config: BbrConfig,
    mode: Mode,
    /// Pacing gain after the last ACK. Checks use it before it is updated.
    pacing_gain: Gain,
    samples: WindowedMax,
    rounds: u64,
    round_start: bool,
    /// Delivery count at which the current round ends.
    next_round: u64,
    min_rtt: Duration,
    min_rtt_at: Instant,
    probe_rtt_until: Option<Instant>,
    probe_rtt_round_done: bool,
    full: FullPipe,
    /// Index of the phase of the gain cycle.
    phase: u32,
    phase_start: Instant,
    idle_restart: bool,
    packet_conservation: bool,
    saved_cwnd: u32,
    previous_state: CaState,
    pacing: Pacing,
    lt_bw: LongTermBw,
    aggregation: Aggregation,
}

impl Bbr {
    /// Creates BBR with these parameters.
    pub fn new(config: BbrConfig) -> Self {
        Self {
            config,
            pacing_gain: Gain::of(config.high_gain),
            pacing: Pacing::new(Gain::of(config.high_gain)),
            min_rtt: Duration::MAX,
            ..Self::default()
        }
    }

    /// Returns the minimum number of segments in a burst: two, or one at low rates.
    fn bbr_min_tso_segs(&self, window: &Window) -> u32 {
        if window.pacing_rate.bits_per_second() < u64::from(self.config.min_tso_rate) {
            1
        } else {
            2
        }
    }

    /// Returns the estimated bandwidth of the bottleneck, as a payload rate for segments of `mss` bytes.
    pub fn bottleneck_bandwidth(&self, mss: u32) -> Rate {
        self.bandwidth().rate(mss)
    }

    fn max_bandwidth(&self) -> Bandwidth {
        Bandwidth(self.samples.get())
    }

    /// Returns the bandwidth in use: the policed rate if there is one, else the largest sample.
    fn bandwidth(&self) -> Bandwidth {
        self.lt_bw
            .bandwidth()
            .unwrap_or_else(|| self.max_bandwidth())
    }

    fn set_pacing_rate(&mut self, window: &mut Window, gain: Gain) {
        let bandwidth = self.bandwidth();
        self.pacing
            .update(window, bandwidth, gain, self.full.reached);
    }

    fn update_pacing_gain(&mut self) {
        let is_policed = self.mode == Mode::ProbeBandwidth && self.lt_bw.bandwidth().is_some();
        self.pacing_gain = if is_policed {
            Gain::ONE
        } else {
            self.mode.pacing_gain(&self.config, self.phase)
        };
    }

    /// Counts rounds, and stores the largest delivery rate of the last `bw_rtts` (§4.1.1.3 and §4.1.1.2).
    fn update_bandwidth(&mut self, window: &mut Window, ack: &Ack) {
        self.round_start = false;
        let Some(delivered) = ack.rate.delivered else {
            return;
        };
        let Some(sample) = Bandwidth::of(u64::from(delivered), ack.rate.interval) else {
            return;
        };
        if ack.rate.prior_delivered >= self.next_round {
            self.next_round = window.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.lt_bw_sampling(window, ack.lost, ack.rate.app_limited);
        if !ack.rate.app_limited || sample >= self.max_bandwidth() {
            self.samples
                .update(u64::from(self.config.bw_rtts), self.rounds, sample.0);
        }
    }

    /// Updates the model of a policer. If a policed rate expires, a new gain cycle begins.
    fn lt_bw_sampling(&mut self, window: &mut Window, lost: u32, app_limited: bool) {
        let observation = Observation {
            lost,
            app_limited,
            is_round_start: self.round_start,
            in_probe_bw: self.mode == Mode::ProbeBandwidth,
        };
        let was_policed = self.lt_bw.bandwidth().is_some();
        if self.lt_bw.sample(&self.config, window, observation) {
            self.enter_probe_bandwidth(window);
        } else if !was_policed && self.lt_bw.bandwidth().is_some() {
            self.pacing_gain = Gain::ONE;
        }
    }
}

impl CongestionControl for Bbr {
    fn init(&mut self, window: &mut Window) {
        *self = Self {
            min_rtt: window.min_rtt,
            min_rtt_at: window.now,
            next_round: window.delivered,
            ..Self::new(self.config)
        };
        self.lt_bw.restart(window);
        self.aggregation.restart(window);
        window.paced = true;
        window.ssthresh = crate::INFINITE_SSTHRESH;
        self.pacing.init(window);
    }

    /// Initialises the model from the earlier CCA: its pacing rate as the bandwidth, and its lowest RTT.
    ///
    /// The path counts as full, so there is no STARTUP. DRAIN comes first and ends at once if nothing is
    /// queued; the gain cycle follows. If the rate was too low, each probing phase finds more (`probe_up_gain`).
    fn seed(&mut self, window: &mut Window, state: &TransferState) {
        let bandwidth = Bandwidth::from_rate(state.pacing_rate, window.mss);
        if state.srtt.is_zero() || bandwidth == Bandwidth::default() {
            return;
        }
        self.samples
            .update(u64::from(self.config.bw_rtts), self.rounds, bandwidth.0);
        self.min_rtt = state.min_rtt;
        self.pacing.has_seen_rtt = true;
        self.full = FullPipe::with_bandwidth(bandwidth);
        self.check_drain(window);
        self.update_pacing_gain();
        self.set_pacing_rate(window, self.pacing_gain);
    }

    /// Saves the window for the end of the episode; BBR does not use the threshold.
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        self.save_cwnd(window);
        window.ssthresh
    }

    fn mode(&self, _window: &Window) -> &'static str {
        self.mode.into()
    }

    /// Returns whether the pipe is full. On a short path the threshold may then be above the window, as it has room for
    /// bursts.
    fn has_started_up(&self) -> bool {
        self.full.reached
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    fn cong_control(&mut self, window: &mut Window, ack: &Ack) {
        self.update_bandwidth(window, ack);
        let bandwidth = self.bandwidth();
        self.aggregation
            .update(&self.config, window, ack, bandwidth, self.round_start);
        self.update_cycle(window, ack);
        self.check_full_bw_reached(ack);
        self.check_drain(window);
        self.update_min_rtt(window, ack);
        self.update_pacing_gain();
        self.set_pacing_rate(window, self.pacing_gain);
        self.set_cwnd(window, ack);
    }

    fn set_state(&mut self, window: &mut Window, state: CaState) {
        if state == CaState::Loss {
            self.previous_state = CaState::Loss;
            self.full.reset_bandwidth();
            self.round_start = true;
            self.lt_bw_sampling(window, 1, false);
        }
    }

    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        if event == Event::TxStart && window.app_limited {
            // §4.3.4.4: after an idle time at the estimated rate, not above it.
            self.idle_restart = true;
            self.aggregation.restart(window);
            if self.mode == Mode::ProbeBandwidth {
                self.set_pacing_rate(window, Gain::ONE);
            } else if self.mode == Mode::ProbeRtt {
                self.check_probe_rtt_done(window);
            }
        }
    }

    fn undo_cwnd(&mut self, window: &mut Window) -> u32 {
        self.full.reset();
        self.lt_bw.restart(window);
        window.cwnd
    }

    fn min_tso_segs(&self, window: &Window) -> u32 {
        self.bbr_min_tso_segs(window)
    }

    fn sndbuf_expand(&self) -> u32 {
        3
    }
}
