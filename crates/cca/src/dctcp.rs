//! Data Center TCP (RFC 8257): a window that shrinks with the share of marked segments, as Linux runs it.

use super::parameters::parameters;
use super::slow_start::Method;
use super::{AckKind, CaState, Cca, CongestionControl, Event, Family, Window};

/// Alpha is kept in parts of this.
const ONE: u32 = 1024;

parameters! {
    /// The parameters of RFC 8257 §4, under the names of the kernel's module.
    pub struct DctcpConfig {
        /// Weight of the newest share in alpha: two to the power of minus this (g = 1/16).
        dctcp_shift_g: u32 = 4, in 0..=10, "", "RFC 8257 §4.2; Linux dctcp_shift_g";
        /// Alpha at the beginning, in 1024ths.
        dctcp_alpha_on_init: u32 = 1024, in 0..=1024, "1/1024", "RFC 8257 §3.3; Linux dctcp_alpha_on_init";
    }
}

/// DCTCP in the catalogue.
pub const ABOUT: Cca = Cca {
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

/// The state of one connection.
#[derive(Clone, Debug, Default)]
pub struct Dctcp {
    config: DctcpConfig,
    /// Estimated share of marked segments, in parts of [`ONE`].
    alpha: u32,
    /// End of the observation window.
    window_end: u64,
    delivered: u64,
    delivered_ce: u64,
    /// Window before the last reduction.
    loss_cwnd: u32,
    /// Marks are not to be had on this connection: it is a NewReno.
    without_ecn: bool,
}

impl Dctcp {
    /// DCTCP with these parameters.
    pub fn new(config: DctcpConfig) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// The estimated share of marked segments, from 0 to 1.
    pub fn alpha(&self) -> f64 {
        f64::from(self.alpha) / f64::from(ONE)
    }

    fn start_observation(&mut self, w: &Window) {
        self.window_end = w.snd_nxt;
        self.delivered = w.delivered;
        self.delivered_ce = w.delivered_ce;
    }

    /// RFC 8257 §3.4: loss is answered as NewReno does.
    fn react_to_loss(&mut self, w: &mut Window) {
        self.loss_cwnd = w.cwnd;
        w.ssthresh = (w.cwnd / 2).max(2);
    }
}

impl CongestionControl for Dctcp {
    fn name(&self) -> &'static str {
        "dctcp"
    }

    fn init(&mut self, window: &mut Window) {
        self.without_ecn = !window.ecn;
        self.alpha = self.config.dctcp_alpha_on_init;
        self.loss_cwnd = 0;
        self.start_observation(window);
    }

    fn needs_ecn(&self) -> bool {
        !self.without_ecn
    }

    /// RFC 8257 §3.3: cwnd = cwnd (1 - alpha / 2).
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        self.loss_cwnd = window.cwnd;
        if self.without_ecn {
            return (window.cwnd / 2).max(2);
        }
        let less = u64::from(window.cwnd) * u64::from(self.alpha) / u64::from(2 * ONE);
        (window.cwnd - less as u32).max(2)
    }

    /// RFC 8257 §3.3: once per window of data, alpha = (1 - g) alpha + g M.
    fn in_ack_event(&mut self, window: &mut Window, _kind: AckKind) {
        if self.without_ecn || window.snd_una < self.window_end {
            return;
        }
        let delivered = window.delivered - self.delivered;
        let marked = window.delivered_ce - self.delivered_ce;
        let shift = self.config.dctcp_shift_g;
        // A rest that is too small to be divided goes at once.
        let less = self.alpha >> shift;
        self.alpha -= if less == 0 { self.alpha } else { less };
        if marked > 0 {
            let more = (marked << (10 - shift)) / delivered.max(1);
            self.alpha = (self.alpha + more as u32).min(ONE);
        }
        self.start_observation(window);
    }

    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        window.grow_additively(window.cwnd, acked);
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
