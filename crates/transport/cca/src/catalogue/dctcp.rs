//! Data Center TCP (RFC 8257) as in Linux: the window shrinks in proportion to the share of marked segments.

use crate::parameters::parameters;
use crate::slow_start::Method;
use crate::{AckKind, CaState, CcaInfo, CongestionControl, Event, Family, Window};

/// Fractions in which alpha is stored.
const ONE: u32 = 1024;

parameters! {
    /// Parameters of RFC 8257 §4, under the names of the kernel's module.
    pub struct DctcpConfig {
        /// Weight of the newest share in alpha, as a negative power of two (g = 1/16).
        dctcp_shift_g: u32 = 4, in 0..=10, "", "RFC 8257 §4.2; Linux dctcp_shift_g";
        /// Initial alpha, in 1024ths.
        dctcp_alpha_on_init: u32 = 1024, in 0..=1024, "1/1024", "RFC 8257 §3.3; Linux dctcp_alpha_on_init";
    }
}

/// Catalogue entry of DCTCP.
pub const INFO: CcaInfo = CcaInfo {
    name: "dctcp",
    aliases: &[],
    title: "Data Center TCP",
    family: Family::Ecn,
    reference: "RFC 8257; Alizadeh et al.: Data center TCP, ACM SIGCOMM 2010",
    year: 2010,
    linux: true,
    parameters: DctcpConfig::PARAMETERS,
    slow_start: Some(Method::Standard),
    build: &|settings| Box::new(Dctcp::new(DctcpConfig::with(settings))),
};

/// State of one connection.
#[derive(Clone, Debug, Default)]
pub struct Dctcp {
    config: DctcpConfig,
    /// Estimated share of marked segments, in fractions of [`ONE`].
    alpha: u32,
    /// Sequence number at which the observation window ends.
    window_end: u64,
    /// Segments delivered before the observation window.
    delivered: u64,
    /// Those with ECN-Echo.
    delivered_ce: u64,
    /// Window before the last reduction.
    loss_cwnd: u32,
    /// Whether the connection has no ECN; DCTCP is NewReno then.
    without_ecn: bool,
}

impl Dctcp {
    /// Creates DCTCP with these parameters.
    pub fn new(config: DctcpConfig) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// Returns the estimated share of marked segments, from 0 to 1.
    pub fn alpha(&self) -> f64 {
        f64::from(self.alpha) / f64::from(ONE)
    }

    fn start_observation(&mut self, w: &Window) {
        self.window_end = w.snd_nxt;
        self.delivered = w.delivered;
        self.delivered_ce = w.delivered_ce;
    }

    /// Reduces the window after a loss like NewReno (RFC 8257 §3.4).
    fn react_to_loss(&mut self, w: &mut Window) {
        self.loss_cwnd = w.cwnd;
        w.ssthresh = (w.cwnd / 2).max(2);
    }
}

impl CongestionControl for Dctcp {
    fn init(&mut self, window: &mut Window) {
        self.without_ecn = !window.ecn;
        self.alpha = self.config.dctcp_alpha_on_init;
        self.loss_cwnd = 0;
        self.start_observation(window);
    }

    fn needs_ecn(&self) -> bool {
        !self.without_ecn
    }

    /// Returns cwnd (1 - alpha / 2) (RFC 8257 §3.3).
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        self.loss_cwnd = window.cwnd;
        if self.without_ecn {
            return (window.cwnd / 2).max(2);
        }
        let reduction = u64::from(window.cwnd) * u64::from(self.alpha) / u64::from(2 * ONE);
        (window.cwnd - reduction as u32).max(2)
    }

    /// Updates alpha once per window of data: alpha = (1 - g) alpha + g M (RFC 8257 §3.3).
    fn in_ack_event(&mut self, window: &mut Window, _kind: AckKind) {
        if self.without_ecn || window.snd_una < self.window_end {
            return;
        }
        let delivered = window.delivered - self.delivered;
        let marked = window.delivered_ce - self.delivered_ce;
        let shift = self.config.dctcp_shift_g;
        // An alpha that is too small for the shift falls to zero at once.
        let decay = self.alpha >> shift;
        self.alpha -= if decay == 0 { self.alpha } else { decay };
        if marked > 0 {
            let increase = (marked << (10 - shift)) / delivered.max(1);
            self.alpha = (self.alpha + increase as u32).min(ONE);
        }
        self.start_observation(window);
    }

    fn set_state(&mut self, window: &mut Window, state: CaState) {
        if !self.without_ecn && state == CaState::Recovery {
            self.react_to_loss(window);
        }
    }

    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        if !self.without_ecn && event == Event::Loss {
            self.react_to_loss(window);
        }
    }

    fn undo_cwnd(&mut self, window: &mut Window) -> u32 {
        if self.without_ecn {
            return window.cwnd.max(window.prior_cwnd);
        }
        window.cwnd.max(self.loss_cwnd)
    }
}
