//! Congestion controls: the contract on one page, then one file each.
//!
//! The words are the kernel's (`include/net/tcp.h`, `struct tcp_congestion_ops`), because those who
//! write congestion controls know them. A congestion control (CCA) sees the [`Window`] that it shares
//! with the connection and is told of what happened; it answers by writing the window.

mod about;
mod bandwidth;
pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod cdg;
mod control;
pub mod copa;
pub mod cubic;
pub mod dctcp;
mod delay_round;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
pub mod illinois;
mod jiffies;
pub mod ledbat;
pub mod lp;
pub mod nv;
pub mod parameters;
pub mod registry;
pub mod reno;
pub mod reported;
pub mod scalable;
pub mod slow_start;
pub mod sprout;
mod takeover;
pub mod vegas;
pub mod veno;
pub mod westwood;
mod window;
mod windowed_filter;
pub mod yeah;

pub use about::{Build, Cca, Family, Pair};
pub use control::Congestion;
pub use parameters::{Parameter, SettingError, Settings};
pub use registry::{UnknownCca, cca_by_name};
pub use slow_start::SlowStart;
pub use takeover::{Context, Takeover, modelled_window, used_window};
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

/// What the retransmission queue told of an ACK, before losses are looked for (the kernel's
/// `struct ack_sample`).
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSample {
    /// Segments that left the retransmission queue by the cumulative ACK.
    pub acked: u32,
    /// RTT of the newest segment that this ACK acknowledged and that was never retransmitted.
    pub rtt: Option<Duration>,
    /// Segments delivered since the newest one that this ACK delivered was sent, itself included.
    pub in_flight: u32,
}

/// How an ACK was worked on (the kernel's `enum tcp_ca_ack_event_flags`).
#[derive(Clone, Copy, Debug, Default)]
pub struct AckKind {
    /// It could not be predicted: it carries SACK, ECN-Echo or a new window, or acknowledges nothing new.
    pub slow_path: bool,
    /// It carries ECN-Echo.
    pub ecn_echo: bool,
}

/// A segment that was just marked lost (draft-ietf-ccwg-bbr-06 §5.5.10.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Lost {
    /// First byte of the stream that it carries.
    pub seq: u64,
    /// Byte after its last one.
    pub end: u64,
    /// Segments in flight when it was sent, itself included.
    pub tx_in_flight: u32,
    /// Segments marked lost since it was sent, itself included.
    pub lost: u32,
    /// Whether it was sent while the application limited the flow.
    pub app_limited: bool,
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

    /// After [`CongestionControl::init`], where it takes over by the transport protocol context: what the
    /// connection has learnt, for estimates that would otherwise begin anew.
    fn seed(&mut self, _window: &mut Window, _context: &Context) {}

    /// The slow-start threshold for the loss or ECN episode that begins now.
    fn ssthresh(&mut self, window: &mut Window) -> u32;

    /// Every ACK while something is out, before losses are looked for and the window is changed.
    fn pkts_acked(&mut self, _window: &mut Window, _sample: &AckSample) {}

    /// Every ACK, also of nothing, after [`CongestionControl::pkts_acked`].
    fn in_ack_event(&mut self, _window: &mut Window, _kind: AckKind) {}

    /// A segment was marked lost, before the state changes for it. Nothing but estimates should change
    /// here: `window.inflight` is that before the ACK or time-out that showed the loss.
    fn on_lost(&mut self, _window: &mut Window, _lost: &Lost) {}

    /// The connection may grow its window for `acked` segments (the kernel's `cong_avoid`): nothing where
    /// the window was not in full use, else slow start up to the threshold and
    /// [`CongestionControl::cong_avoid`] beyond. For those to override that go by round trips or have a
    /// slow start of their own.
    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        self.start_then_avoid(window, slow_start, acked);
    }

    /// Where the window was in full use: slow start up to the threshold, congestion avoidance for what is
    /// left over. A part to build [`CongestionControl::grow`] of.
    fn start_then_avoid(
        &mut self,
        window: &mut Window,
        slow_start: &mut dyn SlowStart,
        acked: u32,
    ) {
        if !window.cwnd_limited {
            return;
        }
        let mut rest = acked;
        if window.in_slow_start() {
            rest = slow_start.grow(window, acked);
        }
        if rest > 0 {
            self.cong_avoid(window, rest);
        }
    }

    /// As [`CongestionControl::start_then_avoid`], but what slow start leaves over does not count.
    fn start_or_avoid(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        if !window.cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            slow_start.grow(window, acked);
        } else {
            self.cong_avoid(window, acked);
        }
    }

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

    /// Whether it cannot do without ECN, and has marks echoed one by one (the kernel's
    /// `TCP_CONG_NEEDS_ECN`).
    fn needs_ecn(&self) -> bool {
        false
    }

    /// How many windows the send buffer should hold.
    fn sndbuf_expand(&self) -> u32 {
        2
    }
}
