//! Hybla (Caini, Firrincieli 2004): the window grows as if the RTT were that of a short reference path. So
//! long paths do not grow more slowly.

use units::Duration;

use crate::parameters::parameters;
use crate::{CaState, CcaInfo, CongestionControl, Family, SlowStart, TransferState, Window};

/// One segment in the fractions in which growth is stored.
const ONE: u64 = 128;
/// Largest window, segments (Linux tcp_hybla).
const CWND_CLAMP: u32 = 65_535;
/// Maximum number of doublings of the growth per ACK in slow start (Linux tcp_hybla).
const MAX_DOUBLINGS: u64 = 16;
/// Largest ratio of the RTT to the reference, in eighths: 10 s over the shortest reference.
const MAX_EIGHTHS: u64 = 80_000;

parameters! {
    /// Parameter of the kernel's module.
    pub struct HyblaConfig {
        /// RTT of the reference path.
        rtt0: Duration = Duration::from_millis(25), in Duration::from_millis(1)..=Duration::from_secs(10), "", "Caini and Firrincieli 2004; Linux tcp_hybla";
    }
}

/// Catalogue entry of Hybla.
pub const INFO: CcaInfo = CcaInfo {
    name: "hybla",
    aliases: &["tcp-hybla"],
    title: "Hybla",
    family: Family::Loss,
    reference: "Caini, Firrincieli: TCP Hybla: a TCP enhancement for heterogeneous networks, Int. J. of Satellite Communications and Networking 22(5)",
    year: 2004,
    linux: true,
    parameters: HyblaConfig::PARAMETERS,
    slow_start: None,
    build: &|settings| Box::new(Hybla::new(HyblaConfig::with(settings))),
};

/// State of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Hybla {
    config: HyblaConfig,
    /// Whether Hybla grows the window. It grows like Reno while the state is not Open.
    is_enabled: bool,
    /// Ratio of the RTT to the reference in eighths, at least one (the kernel's `rho_3ls`).
    rho_eighths: u64,
    /// Lowest smoothed RTT, which determines `rho`.
    min_srtt: Duration,
    /// Growth that is not yet in the window, in 128ths of a segment.
    fraction: u64,
}

impl Hybla {
    /// Creates Hybla with these parameters.
    pub fn new(config: HyblaConfig) -> Self {
        Self {
            config,
            is_enabled: true,
            rho_eighths: 8,
            min_srtt: Duration::ZERO,
            fraction: 0,
        }
    }

    fn set_rtt(&mut self, rtt: Duration) {
        self.min_srtt = rtt;
        let eighths = rtt.as_nanos().saturating_mul(8) / self.config.rtt0.as_nanos();
        self.rho_eighths = eighths.clamp(8, MAX_EIGHTHS);
    }

    /// Returns 2^ρ − 1, the segments added per ACK in slow start (Caini and Firrincieli 2004), in 128ths. The
    /// whole part of ρ is a shift; the power of its eighths is computed in 128ths.
    fn slow_start_increase(&self) -> u64 {
        let (whole, eighths) = (self.rho_eighths / 8, self.rho_eighths % 8);
        let fraction = (libm::exp2(eighths as f64 / 8.0) * ONE as f64) as u64;
        (fraction << whole.min(MAX_DOUBLINGS)) - ONE
    }
}

impl CongestionControl for Hybla {
    /// Begins with a window of ρ segments, which is one on a path up to twice the reference.
    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.set_rtt(window.srtt);
        window.cwnd_clamp = window.cwnd_clamp.min(CWND_CLAMP);
        window.cwnd = ((self.rho_eighths / 8) as u32).min(window.cwnd_clamp);
    }

    /// Keeps the transferred window, and sets ρ from the lowest RTT.
    fn seed(&mut self, window: &mut Window, state: &TransferState) {
        if !state.srtt.is_zero() {
            self.set_rtt(state.min_rtt);
        }
        window.cwnd = state.cwnd.clamp(1, window.cwnd_clamp);
    }

    /// Adds 2^ρ − 1 segments per ACK in slow start and ρ² / cwnd beyond, as Linux does.
    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if window.srtt < self.min_srtt {
            self.set_rtt(window.srtt);
        }
        if !self.is_enabled {
            self.slow_start_then_ca(window, slow_start, acked);
            return;
        }
        if !window.cwnd_limited {
            return;
        }
        let in_slow_start = window.in_slow_start();
        let increase = if in_slow_start {
            self.slow_start_increase()
        } else {
            let rho_squared = 2 * self.rho_eighths * self.rho_eighths;
            rho_squared / u64::from(window.cwnd)
        };
        if !in_slow_start && increase < ONE {
            window.cwnd_cnt = window.cwnd_cnt.saturating_add(1);
        }
        self.fraction += increase % ONE;
        let carried = self.fraction / ONE;
        self.fraction %= ONE;
        if carried > 0 {
            window.cwnd_cnt = 0;
        }
        let whole = (increase / ONE + carried) as u32;
        window.cwnd = window.cwnd.saturating_add(whole);
        if increase == 0 && window.cwnd_cnt >= window.cwnd {
            // The share of a segment is too small for the fractions: grow like Reno.
            window.cwnd += 1;
            window.cwnd_cnt = 0;
        }
        if in_slow_start {
            window.cwnd = window.cwnd.min(window.ssthresh);
        }
        window.cwnd = window.cwnd.min(window.cwnd_clamp);
    }

    fn set_state(&mut self, _window: &mut Window, state: CaState) {
        self.is_enabled = state == CaState::Open;
    }
}
