//! Veno (Fu, Liew 2003): Reno that reduces less on a loss without a queue, which it attributes to the radio
//! link.

use units::Duration;

use crate::parameters::parameters;
use crate::slow_start::Method;
use crate::{
    AckSample, CaState, CcaInfo, CongestionControl, Event, Family, SlowStart, TransferState, Window,
};

/// RTT before the first sample, µs.
const NO_RTT: u64 = 0x7fff_ffff;
/// Minimum number of RTT samples for an estimate of the queue.
const ENOUGH_SAMPLES: u32 = 3;

parameters! {
    /// Parameters of Fu and Liew 2003.
    pub struct VenoConfig {
        /// Segments in the queue from which a loss counts as congestion.
        beta: f64 = 3.0, in 0.5..=1_000.0, "segments", "Fu and Liew 2003; Linux tcp_veno";
        /// Share of the window left after a loss that does not count as congestion.
        random_loss_share: f64 = 0.8, in 0.5..=0.99, "", "Fu and Liew 2003; Linux tcp_veno";
    }
}

/// Catalogue entry of Veno.
pub const INFO: CcaInfo = CcaInfo {
    name: "veno",
    aliases: &["tcp-veno"],
    title: "Veno",
    family: Family::Hybrid,
    reference: "Fu, Liew: TCP Veno: TCP enhancement for transmission over wireless access networks, IEEE JSAC 21(2)",
    year: 2003,
    linux: true,
    parameters: VenoConfig::PARAMETERS,
    slow_start: Some(Method::Standard),
    build: &|settings| Box::new(Veno::new(VenoConfig::with(settings))),
};

/// State of one connection. RTTs are in whole microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Veno {
    config: VenoConfig,
    /// Whether the state is Open, in which Veno may grow the window.
    is_enabled: bool,
    base_rtt: u64,
    /// Lowest RTT since the window last grew.
    min_rtt: u64,
    samples: u32,
    /// Segments in the queue, in halves.
    queued_halves: u64,
    /// Whether the window grows in this round trip, if it grows only in every other one.
    grows_now: bool,
}

impl Veno {
    /// Creates Veno with these parameters.
    pub fn new(config: VenoConfig) -> Self {
        Self {
            config,
            is_enabled: true,
            base_rtt: NO_RTT,
            min_rtt: NO_RTT,
            samples: 0,
            queued_halves: 0,
            grows_now: true,
        }
    }

    /// Estimates the segments in the queue, in halves like Linux: N = W (RTT − BaseRTT) / RTT.
    fn estimate_queue(&mut self, cwnd: u32) {
        let halves = 2 * u64::from(cwnd);
        let target = halves * self.base_rtt / self.min_rtt;
        self.queued_halves = halves.saturating_sub(target);
    }

    fn is_congested(&self) -> bool {
        self.queued_halves >= (2.0 * self.config.beta) as u64
    }

    /// Returns whether Veno, rather than Reno, grows the window.
    fn is_active(&self) -> bool {
        self.is_enabled && self.samples >= ENOUGH_SAMPLES
    }

    /// Forgets the RTTs from before an idle time.
    fn restart(&mut self) {
        self.base_rtt = NO_RTT;
        self.grows_now = true;
        self.enable();
    }

    fn enable(&mut self) {
        self.is_enabled = true;
        self.min_rtt = NO_RTT;
    }
}

impl CongestionControl for Veno {
    fn init(&mut self, _window: &mut Window) {
        *self = Self::new(self.config);
    }

    fn seed(&mut self, _window: &mut Window, state: &TransferState) {
        if !state.srtt.is_zero() {
            self.base_rtt = state.min_rtt.as_micros() + 1;
        }
    }

    /// Leaves `random_loss_share` of the window without congestion, and half of it with congestion (Fu and Liew
    /// 2003).
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        let left = if self.is_congested() {
            window.cwnd / 2
        } else {
            (f64::from(window.cwnd) * self.config.random_loss_share) as u32
        };
        left.max(2)
    }

    fn pkts_acked(&mut self, _window: &mut Window, sample: &AckSample) {
        let Some(rtt) = sample.rtt else { return };
        // One microsecond more, so that no RTT is zero.
        let rtt = rtt.min(Duration::from_micros(NO_RTT - 1)).as_micros() + 1;
        self.base_rtt = self.base_rtt.min(rtt);
        self.min_rtt = self.min_rtt.min(rtt);
        self.samples = self.samples.saturating_add(1);
    }

    /// Estimates the queue before the window grows, also in slow start.
    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if !window.cwnd_limited {
            return;
        }
        if self.is_active() {
            self.estimate_queue(window.cwnd);
        }
        self.slow_start_then_ca(window, slow_start, acked);
        if self.is_active() {
            window.cwnd = window.cwnd.max(2).min(window.cwnd_clamp);
        }
        if self.is_enabled {
            self.min_rtt = NO_RTT;
        }
    }

    /// Adds a segment per round trip, or in every other one during congestion (Fu and Liew 2003).
    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        if !(self.is_active() && self.is_congested()) {
            window.grow_additively(window.cwnd, acked);
        } else if window.cwnd_cnt >= window.cwnd {
            let grows = self.grows_now && window.cwnd < window.cwnd_clamp;
            window.cwnd += u32::from(grows);
            self.grows_now = !grows;
            window.cwnd_cnt = 0;
        } else {
            window.cwnd_cnt = window.cwnd_cnt.saturating_add(acked);
        }
    }

    fn set_state(&mut self, _window: &mut Window, state: CaState) {
        if state == CaState::Open {
            self.enable();
        } else {
            self.is_enabled = false;
        }
    }

    fn cwnd_event(&mut self, _window: &mut Window, event: Event) {
        if matches!(event, Event::TxStart | Event::CwndRestart) {
            self.restart();
        }
    }
}
