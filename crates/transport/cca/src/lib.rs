//! Congestion control algorithms: the catalogue, the contract that each implements, slow-start methods,
//! switches.
//!
//! The names are those of the Linux kernel (`include/net/tcp.h`, `struct tcp_congestion_ops`). A congestion
//! control algorithm (CCA) implements [`CongestionControl`]. The connection calls its methods on events, and
//! the CCA answers by writing to the [`Window`] that both share. Each CCA has its own file or folder and an
//! entry in the [`registry`].

mod bandwidth;
pub mod catalogue;
mod congestion_state;
mod delay_round;
mod info;
mod jiffies;
mod limit_times;
pub mod parameters;
pub mod registry;
pub mod report_driven;
mod sender_info;
pub mod slow_start;
mod switch;
mod window;
mod windowed_filter;

pub use catalogue::*;
pub use config::Settings;
pub use congestion_state::CongestionState;
pub use info::{Build, BuiltCca, CcaInfo, Family};
pub use limit_times::{LimitTimes, SendLimit};
pub use parameters::Parameter;
pub use registry::cca_by_name;
pub use sender_info::SenderInfo;
pub use slow_start::SlowStart;
pub use switch::{SwitchMode, TransferState, modelled_window, used_window};
pub use window::{CaState, INFINITE_SSTHRESH, RateSample, Timestamps, Window};

use units::Duration;

/// Result of one ACK, after SACK processing and loss detection.
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
    /// Whether the ACK carried ECN-Echo.
    pub ecn_echo: bool,
    /// Whether the ACK was probably delayed: it covers a single segment that the receiver held back.
    pub delayed: bool,
}

/// Result of cleaning the retransmission queue for one ACK, before loss detection (the kernel's `struct
/// ack_sample`).
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSample {
    /// Segments that left the retransmission queue by the cumulative ACK.
    pub acked: u32,
    /// RTT of the newest segment that this ACK acknowledged and that was never retransmitted.
    pub rtt: Option<Duration>,
    /// Segments delivered since the newest segment that this ACK delivered was sent, including that segment.
    pub in_flight: u32,
}

/// Kind of processing that an ACK needed (the kernel's `enum tcp_ca_ack_event_flags`).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct AckKind {
    /// Whether it took the slow path: it carries SACK, ECN-Echo or a new window, or acknowledges nothing new.
    pub slow_path: bool,
    /// Whether it carries ECN-Echo.
    pub ecn_echo: bool,
}

/// Segment that was just marked lost (draft-ietf-ccwg-bbr-06 §5.5.10.2).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Lost {
    /// First byte of the stream that the segment carries.
    pub seq: u64,
    /// Byte after the last one.
    pub end: u64,
    /// Segments in flight when it was sent, including itself.
    pub tx_in_flight: u32,
    /// Segments marked lost since it was sent, including itself.
    pub lost: u32,
    /// Whether the application limited the connection when it was sent.
    pub app_limited: bool,
}

/// Event other than an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Event {
    /// First transmission while nothing is in flight.
    TxStart,
    /// Restart of the window after an idle time longer than the RTO (RFC 2861).
    CwndRestart,
    /// End of a CWR or recovery episode.
    CompleteCwr,
    /// Retransmission time-out.
    Loss,
}

/// Contract of a congestion control algorithm. Windows count segments.
pub trait CongestionControl: Send + core::fmt::Debug {
    /// Starts the CCA: at establishment, or when it takes over a live connection.
    fn init(&mut self, _window: &mut Window) {}

    /// Passes on the estimates of the connection, so that the new CCA need not start from nothing. It is called
    /// after [`CongestionControl::init`] at a switch by the transport protocol context.
    fn seed(&mut self, _window: &mut Window, _state: &TransferState) {}

    /// Returns the slow-start threshold for the loss or ECN episode that begins now. The default is that of NewReno: half
    /// of the window (RFC 5681 §3.1 equation 4), rather than of the flight size, like Linux.
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        (window.cwnd / 2).max(2)
    }

    /// Handles an ACK before loss detection and before the window changes. It is called for every ACK while
    /// segments are outstanding.
    fn pkts_acked(&mut self, _window: &mut Window, _sample: &AckSample) {}

    /// Handles every ACK, including those that acknowledge nothing, after [`CongestionControl::pkts_acked`].
    fn in_ack_event(&mut self, _window: &mut Window, _kind: AckKind) {}

    /// Handles a segment that was marked lost, before the state changes. Only estimates should change here:
    /// `window.inflight` still has the value from before the ACK or time-out that revealed the loss.
    fn on_lost(&mut self, _window: &mut Window, _lost: &Lost) {}

    /// Grows the window for `acked` segments (the kernel's `cong_avoid`).
    ///
    /// The default does nothing where the window was not in full use. Otherwise it runs slow start up to the
    /// threshold and [`CongestionControl::cong_avoid`] beyond it. A CCA overrides this method if it grows
    /// once per round trip or has a slow start of its own.
    fn grow(&mut self, window: &mut Window, slow_start: &mut dyn SlowStart, acked: u32) {
        self.slow_start_then_ca(window, slow_start, acked);
    }

    /// Runs slow start up to the threshold, and congestion avoidance for the segments that slow start leaves over,
    /// unless [`CongestionControl::drops_slow_start_rest`]. It does nothing where the window was not in full use.
    /// Implementations of [`CongestionControl::grow`] use it.
    fn slow_start_then_ca(
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
            if self.drops_slow_start_rest() {
                return;
            }
        }
        if rest > 0 {
            self.cong_avoid(window, rest);
        }
    }

    /// Returns whether the segments that slow start leaves over do not count for congestion avoidance.
    fn drops_slow_start_rest(&self) -> bool {
        false
    }

    /// Runs congestion avoidance: `acked` segments were acknowledged beyond slow start, and the window was in full use.
    /// The default is that of NewReno: one segment for every window of acknowledged ones (RFC 5681 §3.1 equation 3).
    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        window.grow_additively(window.cwnd, acked);
    }

    /// Returns whether [`CongestionControl::cong_control`] sets the window and the pacing rate in every
    /// state. It then replaces slow start, `cong_avoid` and proportional rate reduction.
    fn has_cong_control(&self) -> bool {
        false
    }

    /// Sets the window and the pacing rate. It is called on every ACK if [`CongestionControl::has_cong_control`].
    fn cong_control(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// Handles the transition to `state`; `window.state` is still the old state.
    fn set_state(&mut self, _window: &mut Window, _state: CaState) {}

    /// Handles an event other than an ACK.
    fn cwnd_event(&mut self, _window: &mut Window, _event: Event) {}

    /// Returns the window to restore after a reduction that proved to be spurious.
    fn undo_cwnd(&mut self, window: &mut Window) -> u32 {
        window.cwnd.max(window.prior_cwnd)
    }

    /// Returns the minimum number of segments in one burst to the device (the kernel's `min_tso_segs`).
    fn min_tso_segs(&self, _window: &Window) -> u32 {
        2
    }

    /// Returns the name of the current mode in samples, qlog and plots: lower-case letters and underscores. The default
    /// is that of a window with slow start, congestion avoidance and fast recovery (RFC 5681).
    fn mode(&self, window: &Window) -> &'static str {
        window.mode().unwrap_or("congestion_avoidance")
    }

    /// Returns whether a start-up of the CCA's own has ended, even if the window is below the threshold.
    fn has_started_up(&self) -> bool {
        false
    }

    /// Returns whether the CCA requires ECN, with each mark echoed separately (the kernel's
    /// `TCP_CONG_NEEDS_ECN`).
    fn needs_ecn(&self) -> bool {
        false
    }

    /// Returns the number of windows that the send buffer should hold.
    fn sndbuf_expand(&self) -> u32 {
        2
    }
}
