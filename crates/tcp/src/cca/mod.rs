//! Congestion controls: the contract on one page, then one file each.
//!
//! The words are the kernel's (`include/net/tcp.h`, `struct tcp_congestion_ops`), because those who
//! write congestion controls know them. A congestion control (CCA) sees the [`Window`] that it shares
//! with the connection and is told of what happened; it answers by writing the window.

pub mod bbr;
mod control;
pub mod cubic;
mod handover;
pub mod registry;
pub mod reno;
pub mod slow_start;
mod window;
mod windowed_filter;

pub use control::{Congestion, Context};
pub use handover::modelled_window;
pub use registry::{UnknownCca, cca_by_name};
pub use slow_start::SlowStart;
pub use window::{CaState, INFINITE_SSTHRESH, RateSample, Window};

use units::Duration;

/// What one ACK told, after SACK and loss detection have looked at it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// Segments that left the retransmission queue by the cumulative ACK.
    pub acked: u32,
    /// Segments newly known to be delivered, by ACK or SACK.
    pub delivered: u32,
    /// Segments newly marked lost.
    pub lost: u32,
    /// Segments in flight before this ACK.
    pub prior_inflight: u32,
    /// RTT of the newest segment that this ACK acknowledged and that was never retransmitted.
    pub rtt: Option<Duration>,
    /// Delivery-rate sample.
    pub rate: RateSample,
    /// The ACK carried ECN-Echo.
    pub ecn_echo: bool,
    /// The ACK is likely delayed: it covers one segment that the receiver held back.
    pub delayed: bool,
}

/// Something that happened outside of an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The first transmission while nothing was in flight.
    TxStart,
    /// The window is restarted after an idle time longer than the RTO (RFC 2861).
    CwndRestart,
    /// The end of a CWR or recovery episode.
    CompleteCwr,
    /// A retransmission time-out.
    Loss,
}

/// A congestion control. Windows count segments.
pub trait CongestionControl: Send + core::fmt::Debug {
    /// The kernel's name.
    fn name(&self) -> &'static str;

    /// At establishment, or when the CCA takes over a live connection.
    fn init(&mut self, _window: &mut Window) {}

    /// The slow-start threshold for the loss or ECN episode that begins now.
    fn ssthresh(&mut self, window: &mut Window) -> u32;

    /// Every ACK that newly delivers something, before the window is changed.
    fn pkts_acked(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// Congestion avoidance: `acked` segments were acknowledged beyond slow start and the window was
    /// in full use.
    fn cong_avoid(&mut self, window: &mut Window, acked: u32);

    /// Whether [`CongestionControl::cong_control`] sets window and pacing rate by itself, in every
    /// state, in place of slow start, `cong_avoid` and proportional rate reduction.
    fn owns_window(&self) -> bool {
        false
    }

    /// Called on every ACK if [`CongestionControl::owns_window`].
    fn cong_control(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// The connection enters `state`; `window.state` is still the old one.
    fn set_state(&mut self, _window: &mut Window, _state: CaState) {}

    /// Something happened outside of an ACK.
    fn cwnd_event(&mut self, _window: &mut Window, _event: Event) {}

    /// The window after a reduction that proved to be spurious.
    fn undo_cwnd(&mut self, window: &mut Window) -> u32 {
        window.cwnd.max(window.prior_cwnd)
    }

    /// The least number of segments in one burst to the device (the kernel's `min_tso_segs`).
    fn min_tso_segs(&self, _window: &Window) -> u32 {
        2
    }

    /// How many windows the send buffer should hold.
    fn sndbuf_expand(&self) -> u32 {
        2
    }
}
