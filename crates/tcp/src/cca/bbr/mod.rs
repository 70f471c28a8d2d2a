//! BBR v1 (Cardwell et al., draft-cardwell-iccrg-bbr-congestion-control-00; ACM Queue 14(5)), with
//! the choices of Linux: policer model, ACK aggregation, packet conservation in recovery.

mod aggregation;
mod mode;
mod policer;

use units::{Bytes, Duration, Instant, Rate};

use super::windowed_filter::WindowedMax;
use super::{Ack, CaState, CongestionControl, Event, Window};
use aggregation::Aggregation;
use mode::Mode;
use policer::{Policer, Seen};

/// An exact ratio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Gain(u64, u64);

impl Gain {
    const ONE: Self = Self(1, 1);
    /// 2/ln 2: the lowest gain that doubles the delivery rate every round (§4.1.1.3, 2885/1000).
    const HIGH: Self = Self(2885, 1000);
    /// The inverse, by which the queue of start-up drains in one round.
    const DRAIN: Self = Self(1000, 2885);
    /// Window gain while probing (§4.2.3.2).
    const CWND: Self = Self(2, 1);

    const fn of(self, value: u64) -> u64 {
        (value as u128 * self.0 as u128 / self.1 as u128) as u64
    }
}

/// Rounds over which the bottleneck bandwidth is the maximum of the samples.
const BANDWIDTH_ROUNDS: u64 = 10;
/// How long a lowest RTT holds before it is probed for anew.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// How long a probe for the lowest RTT lasts.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// Least window, and that while probing for the RTT, segments.
const MIN_CWND: u32 = 4;
/// Pacing stays this much below the estimate, percent.
const PACING_MARGIN: u64 = 1;
/// Below this rate bursts are single segments.
const MIN_TSO_RATE: u64 = 1_200_000;
/// Largest burst (`sk_gso_max_size`), bytes.
const GSO_MAX_SIZE: u64 = 65_536;

/// The state of one connection. Bandwidths in bits of payload per second.
#[derive(Clone, Debug)]
pub struct Bbr {
    mode: Mode,
    bandwidth: WindowedMax,
    rounds: u64,
    round_start: bool,
    /// Deliveries at which the present round ends.
    next_round: u64,
    min_rtt: Duration,
    min_rtt_at: Instant,
    probe_rtt_until: Option<Instant>,
    probe_rtt_round_done: bool,
    /// Counts of deliveries between which what was sent was held back by a probe for the RTT.
    held_back: Option<(u64, u64)>,
    /// Start-up has found the bandwidth.
    full: bool,
    full_bandwidth: u64,
    full_rounds: u32,
    cycle_index: usize,
    cycle_start: Instant,
    idle_restart: bool,
    packet_conservation: bool,
    saved_cwnd: u32,
    previous_state: CaState,
    rtt_seen: bool,
    policer: Policer,
    aggregation: Aggregation,
}

impl Default for Bbr {
    fn default() -> Self {
        Self {
            mode: Mode::Startup,
            bandwidth: WindowedMax::default(),
            rounds: 0,
            round_start: false,
            next_round: 0,
            min_rtt: Duration::MAX,
            min_rtt_at: Instant::ZERO,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            held_back: None,
            full: false,
            full_bandwidth: 0,
            full_rounds: 0,
            cycle_index: 0,
            cycle_start: Instant::ZERO,
            idle_restart: false,
            packet_conservation: false,
            saved_cwnd: 0,
            previous_state: CaState::Open,
            rtt_seen: false,
            policer: Policer::default(),
            aggregation: Aggregation::default(),
        }
    }
}

impl Bbr {
    /// The name of the present mode: `startup`, `drain`, `probe_bw` or `probe_rtt`.
    pub fn mode(&self) -> &'static str {
        self.mode.name()
    }

    /// The estimate of the bottleneck's bandwidth.
    pub fn bottleneck_bandwidth(&self) -> Rate {
        Rate::from_bits_per_second(self.current_bandwidth())
    }

    fn current_bandwidth(&self) -> u64 {
        self.policer
            .bandwidth()
            .unwrap_or_else(|| self.bandwidth.get())
    }

    /// Segments in flight that fill the path at `bandwidth`, times `gain` (§4.2.3.2); the initial
    /// window while there is no RTT.
    fn bdp(&self, bandwidth: u64, gain: Gain, mss: u32) -> u32 {
        if self.min_rtt == Duration::MAX {
            return 10;
        }
        let bits = u128::from(bandwidth) * u128::from(self.min_rtt.as_nanos()) / 1_000_000_000;
        let bits = bits * u128::from(gain.0) / u128::from(gain.1);
        bits.div_ceil(u128::from(mss) * 8)
            .min(u128::from(u32::MAX / 4)) as u32
    }

    /// What must be in flight beyond the BDP: bursts at both ends, and an even number for delayed
    /// ACKs; two more in the probing phase, so that even small windows probe.
    fn with_quantization(&self, window: &Window, segments: u32) -> u32 {
        let mut segments = segments + 3 * self.burst_goal(window);
        segments = (segments + 1) & !1;
        if self.mode == Mode::ProbeBandwidth && self.cycle_index == 0 {
            segments += 2;
        }
        segments
    }

    fn inflight_target(&self, window: &Window, bandwidth: u64, gain: Gain) -> u32 {
        self.with_quantization(window, self.bdp(bandwidth, gain, window.mss))
    }

    /// Segments of a burst at the present pacing rate: what a millisecond holds (§4.2.2).
    fn burst_goal(&self, window: &Window) -> u32 {
        let bytes = ((window.pacing_rate.bits_per_second() / 8) >> 10).min(GSO_MAX_SIZE - 320);
        let least = self.min_tso_segs(window);
        ((bytes / u64::from(window.mss)) as u32)
            .max(least)
            .min(0x7f)
    }

    fn set_pacing_rate(&mut self, window: &mut Window) {
        if !self.rtt_seen && !window.srtt.is_zero() {
            self.init_pacing_rate(window);
        }
        let gain = self.pacing_gain();
        let rate = pacing_rate(self.current_bandwidth(), gain);
        if self.full || rate > window.pacing_rate {
            window.pacing_rate = rate.min(window.max_pacing_rate);
        }
    }

    /// Before there is a sample: the initial window over the first RTT, or over 1 ms.
    fn init_pacing_rate(&mut self, window: &mut Window) {
        let rtt = if window.srtt.is_zero() {
            Duration::from_millis(1)
        } else {
            self.rtt_seen = true;
            window.srtt
        };
        let bytes = Bytes::new(u64::from(window.cwnd) * u64::from(window.mss));
        let bandwidth = Rate::of(bytes, rtt).bits_per_second();
        let rate = pacing_rate(bandwidth, Gain::HIGH);
        window.pacing_rate = rate.min(window.max_pacing_rate);
    }

    fn pacing_gain(&self) -> Gain {
        if self.policer.bandwidth().is_some() && self.mode == Mode::ProbeBandwidth {
            return Gain::ONE;
        }
        self.mode.pacing_gain(self.cycle_index)
    }

    /// §4.1.1.3 and §4.1.1.2: counts rounds and keeps the largest delivery rate of the last ten.
    fn update_bandwidth(&mut self, window: &mut Window, ack: &Ack) {
        self.round_start = false;
        let Some(rate) = ack.rate.rate(window.mss) else {
            return;
        };
        if ack.rate.prior_delivered >= self.next_round {
            self.next_round = window.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.watch_policer(window, ack.lost, ack.rate.app_limited);
        let rate = rate.bits_per_second();
        if !ack.rate.app_limited || rate >= self.bandwidth.get() {
            self.bandwidth.update(BANDWIDTH_ROUNDS, self.rounds, rate);
        }
    }

    /// Looks for a policer; one that was obeyed for long enough is put to the test again, from a new
    /// phase of the gain cycle on.
    fn watch_policer(&mut self, window: &mut Window, lost: u32, app_limited: bool) {
        let seen = Seen {
            lost,
            app_limited,
            round: self.round_start,
            probing: self.mode == Mode::ProbeBandwidth,
        };
        if self.policer.sample(window, seen) {
            self.enter_probe_bandwidth(window);
        }
    }

    /// §4.3.2.2: start-up is over when three rounds bring less than a quarter more.
    fn check_full(&mut self, ack: &Ack) {
        if self.full || !self.round_start || ack.rate.app_limited {
            return;
        }
        let bandwidth = self.bandwidth.get();
        if bandwidth >= self.full_bandwidth * 5 / 4 {
            self.full_bandwidth = bandwidth;
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= 3;
    }

    /// §4.3.3: drains until what is in flight fits the path.
    fn check_drain(&mut self, window: &mut Window) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            window.ssthresh = self.inflight_target(window, self.bandwidth.get(), Gain::ONE);
        }
        if self.mode == Mode::Drain
            && window.inflight <= self.inflight_target(window, self.bandwidth.get(), Gain::ONE)
        {
            self.enter_probe_bandwidth(window);
        }
    }

    /// §4.3.4: a random phase of the gain cycle, but not the one that drains.
    fn enter_probe_bandwidth(&mut self, window: &mut Window) {
        self.mode = Mode::ProbeBandwidth;
        let drawn = window.random.below(7) as usize;
        self.cycle_index = (mode::CYCLE - 1 - drawn + 1) % mode::CYCLE;
        self.cycle_start = window.now;
    }

    /// §4.3.4.3: when the gain cycle moves on.
    fn update_cycle(&mut self, window: &Window, ack: &Ack) {
        if self.mode != Mode::ProbeBandwidth {
            return;
        }
        let elapsed = window.now.saturating_since(self.cycle_start) > self.min_rtt;
        let bandwidth = self.bandwidth.get();
        let gain = self.pacing_gain();
        let next = match gain {
            Gain::ONE => elapsed,
            // Probing lasts until the path is over-full or something was lost.
            Gain(5, 4) => {
                elapsed
                    && (ack.lost > 0
                        || ack.prior_inflight >= self.inflight_target(window, bandwidth, gain))
            }
            // Draining ends early once the queue is gone.
            _ => {
                elapsed || ack.prior_inflight <= self.inflight_target(window, bandwidth, Gain::ONE)
            }
        };
        if next {
            self.cycle_index = (self.cycle_index + 1) % mode::CYCLE;
            self.cycle_start = window.now;
        }
    }

    /// §4.3.5: the lowest RTT, and the visit to a near-empty path when it has grown old.
    fn update_min_rtt(&mut self, window: &mut Window, ack: &Ack) {
        let now = window.now;
        let expired = now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = ack.rtt
            && (rtt < self.min_rtt || (expired && !ack.delayed))
        {
            self.min_rtt = rtt;
            self.min_rtt_at = now;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(window);
            self.probe_rtt_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.work_on_probe_rtt(window);
        }
        if ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn work_on_probe_rtt(&mut self, window: &mut Window) {
        self.hold_back(window);
        match self.probe_rtt_until {
            None if window.inflight <= MIN_CWND => {
                self.probe_rtt_until = Some(window.now + PROBE_RTT_TIME);
                self.probe_rtt_round_done = false;
                self.next_round = window.delivered;
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.leave_probe_rtt_in_time(window);
                }
            }
        }
    }

    /// Ends the probe once it has lasted long enough.
    fn leave_probe_rtt_in_time(&mut self, window: &mut Window) {
        if self.probe_rtt_until.is_none_or(|until| window.now <= until) {
            return;
        }
        self.min_rtt_at = window.now;
        window.cwnd = window.cwnd.max(self.saved_cwnd);
        if self.full {
            self.enter_probe_bandwidth(window);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// What is sent during a probe says nothing about the bandwidth: the kernel marks it as limited
    /// by the application until all that is now in flight has been delivered. Otherwise a probe of
    /// more than ten short rounds would wipe out the estimate.
    fn hold_back(&mut self, window: &Window) {
        let until = window.delivered + u64::from(window.inflight);
        let from = match self.held_back {
            Some((from, until)) if window.delivered <= until => from,
            _ => window.delivered,
        };
        self.held_back = Some((from, until));
    }

    /// Whether a segment was sent during a probe, by the count of deliveries at its transmission.
    fn was_held_back(&self, delivered: u64) -> bool {
        self.held_back
            .is_some_and(|(from, until)| (from..=until).contains(&delivered))
    }

    /// §4.2.3.4: what to come back to after recovery or a probe.
    fn save_cwnd(&mut self, window: &Window) {
        let undisturbed = !matches!(self.previous_state, CaState::Recovery | CaState::Loss)
            && self.mode != Mode::ProbeRtt;
        self.saved_cwnd = if undisturbed {
            window.cwnd
        } else {
            self.saved_cwnd.max(window.cwnd)
        };
    }

    /// §4.2.3.4: packet conservation for the first round of a recovery.
    fn recover_or_restore(&mut self, window: &mut Window, ack: &Ack) -> Option<u32> {
        let (previous, state) = (self.previous_state, window.state);
        let mut cwnd = window.cwnd;
        if ack.lost > 0 {
            cwnd = cwnd.saturating_sub(ack.lost).max(1);
        }
        if state == CaState::Recovery && previous != CaState::Recovery {
            self.packet_conservation = true;
            self.next_round = window.delivered;
            cwnd = window.inflight + ack.delivered;
        } else if matches!(previous, CaState::Recovery | CaState::Loss)
            && !matches!(state, CaState::Recovery | CaState::Loss)
        {
            cwnd = cwnd.max(self.saved_cwnd);
            self.packet_conservation = false;
        }
        self.previous_state = state;
        if self.packet_conservation {
            return Some(cwnd.max(window.inflight + ack.delivered));
        }
        window.cwnd = cwnd;
        None
    }

    /// §4.2.3: the window.
    fn set_cwnd(&mut self, window: &mut Window, ack: &Ack) {
        let acked = ack.delivered;
        if acked > 0 {
            if let Some(conserved) = self.recover_or_restore(window, ack) {
                window.cwnd = conserved;
            } else {
                let bandwidth = self.current_bandwidth();
                let gain = self.mode.cwnd_gain();
                let extra = self.aggregation.extra(bandwidth, window.mss, self.full);
                let bdp = self.bdp(bandwidth, gain, window.mss) + extra;
                let target = self.with_quantization(window, bdp);
                if self.full {
                    window.cwnd = (window.cwnd + acked).min(target);
                } else if window.cwnd < target || window.delivered < 10 {
                    window.cwnd += acked;
                }
                window.cwnd = window.cwnd.max(MIN_CWND);
            }
        }
        window.cwnd = window.cwnd.min(window.cwnd_clamp);
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(MIN_CWND);
        }
    }
}

/// `bandwidth` times `gain`, less the margin that lets queues drain.
fn pacing_rate(bandwidth: u64, gain: Gain) -> Rate {
    Rate::from_bits_per_second(gain.of(bandwidth) / 100 * (100 - PACING_MARGIN))
}

impl CongestionControl for Bbr {
    fn name(&self) -> &'static str {
        "bbr"
    }

    fn init(&mut self, window: &mut Window) {
        *self = Self::default();
        self.min_rtt = window.min_rtt;
        self.min_rtt_at = window.now;
        self.next_round = window.delivered;
        self.cycle_start = window.now;
        self.previous_state = window.state;
        self.policer.restart(window);
        self.aggregation.restart(window);
        window.paced = true;
        window.ssthresh = super::INFINITE_SSTHRESH;
        self.init_pacing_rate(window);
    }

    /// BBR does not use the threshold; the window is remembered for the end of the episode.
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        self.save_cwnd(window);
        window.ssthresh
    }

    fn cong_avoid(&mut self, _window: &mut Window, _acked: u32) {}

    fn owns_window(&self) -> bool {
        true
    }

    fn cong_control(&mut self, window: &mut Window, ack: &Ack) {
        let mut ack = *ack;
        ack.rate.app_limited |= self.was_held_back(ack.rate.prior_delivered);
        let ack = &ack;
        self.update_bandwidth(window, ack);
        self.aggregation
            .update(window, ack, self.current_bandwidth(), self.round_start);
        self.update_cycle(window, ack);
        self.check_full(ack);
        self.check_drain(window);
        self.update_min_rtt(window, ack);
        self.set_pacing_rate(window);
        self.set_cwnd(window, ack);
    }

    fn set_state(&mut self, window: &mut Window, state: CaState) {
        if state == CaState::Loss {
            self.previous_state = CaState::Loss;
            self.full_bandwidth = 0;
            self.round_start = true;
            self.watch_policer(window, 1, false);
        }
    }

    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        if event == Event::TxStart && window.app_limited {
            // §4.3.4.4: after an idle time at the estimated rate, not above it.
            self.idle_restart = true;
            self.aggregation.restart(window);
            if self.mode == Mode::ProbeBandwidth {
                let rate = pacing_rate(self.current_bandwidth(), Gain::ONE);
                window.pacing_rate = rate.min(window.max_pacing_rate);
            } else if self.mode == Mode::ProbeRtt {
                self.leave_probe_rtt_in_time(window);
            }
        }
    }

    fn undo_cwnd(&mut self, window: &mut Window) -> u32 {
        self.full_bandwidth = 0;
        self.full_rounds = 0;
        self.policer.restart(window);
        window.cwnd
    }

    fn min_tso_segs(&self, window: &Window) -> u32 {
        if window.pacing_rate.bits_per_second() < MIN_TSO_RATE {
            1
        } else {
            2
        }
    }

    fn sndbuf_expand(&self) -> u32 {
        3
    }
}
