//! Window: the state that a connection and its congestion control share.

use serde::{Deserialize, Serialize};
use strum::{FromRepr, IntoStaticStr};
use units::random::RngStream;
use units::{Duration, Instant, Rate};

/// Value of `ssthresh` before the first loss (the kernel's `TCP_INFINITE_SSTHRESH`).
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// State of loss recovery (the kernel's `tcp_ca_state`).
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Debug,
    Default,
    Serialize,
    Deserialize,
    FromRepr,
    IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
#[repr(u8)]
pub enum CaState {
    /// No sign of loss.
    #[default]
    Open = 0,
    /// Duplicate ACKs or SACKs have arrived.
    Disorder = 1,
    /// The window is being reduced for ECN or for local congestion.
    Cwr = 2,
    /// Lost segments are being retransmitted.
    Recovery = 3,
    /// A retransmission time-out has occurred.
    Loss = 4,
}

impl CaState {
    /// Returns the state of this number in Linux (`enum tcp_ca_state`).
    pub fn of_linux(number: u8) -> Self {
        Self::from_repr(number).unwrap_or(Self::Loss)
    }

    /// Returns whether lost segments are being retransmitted.
    pub const fn in_recovery(self) -> bool {
        matches!(self, Self::Recovery | Self::Loss)
    }

    /// Returns the name that `ss -ti` prints.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Sample of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Segments delivered over `interval`; `None` if the sample is not valid.
    pub delivered: Option<u32>,
    /// Longer one of the send phase and the ACK phase.
    pub interval: Duration,
    /// Value of the connection's delivery counter when the sampled segment was sent.
    pub prior_delivered: u64,
    /// Whether the application limited the connection when the sample was taken.
    pub app_limited: bool,
    /// Whether the sampled segment was a retransmission.
    pub retransmitted: bool,
    /// Segments in flight when the sampled segment was sent, including itself.
    pub tx_in_flight: u32,
    /// Segments marked lost since the sampled segment was sent.
    pub lost: u32,
}

impl RateSample {
    /// Returns the rate for segments of `mss` payload bytes, if the sample is valid.
    pub fn rate(&self, mss: u32) -> Option<Rate> {
        let delivered = self.delivered?;
        let bytes = units::Bytes::new(u64::from(delivered) * u64::from(mss));
        (!self.interval.is_zero()).then(|| Rate::of(bytes, self.interval))
    }
}

/// Timestamps option of an ACK (RFC 7323; the kernel's `rcv_tsval` and `rcv_tsecr`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Timestamps {
    /// The ACK has none.
    #[default]
    None,
    /// Clocks, ms.
    Of {
        /// Clock of the peer when the ACK left, with an unknown origin.
        value: u32,
        /// Echo of our clock when the acknowledged segment left, as [`Window::clock_ms`] counts.
        echo: u32,
    },
}

impl Timestamps {
    /// Returns value and echo, if there are any.
    pub const fn get(self) -> Option<(u32, u32)> {
        match self {
            Self::None => None,
            Self::Of { value, echo } => Some((value, echo)),
        }
    }
}

impl From<Option<(u32, u32)>> for Timestamps {
    fn from(given: Option<(u32, u32)>) -> Self {
        given.map_or(Self::None, |(value, echo)| Self::Of { value, echo })
    }
}

/// State of a connection that its congestion control reads and writes. Its layout is that of C for the ABI to plugin
/// CCAs.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Window {
    /// Time of the event that is being handled.
    pub now: Instant,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments.
    pub ssthresh: u32,
    /// Upper bound of the window, segments.
    pub cwnd_clamp: u32,
    /// Segments acknowledged towards the next increase of `cwnd`.
    pub cwnd_cnt: u32,
    /// Window before the current reduction, segments.
    pub prior_cwnd: u32,
    /// Segments in flight by the SACK scoreboard: sent − delivered − lost + retransmitted.
    pub inflight: u32,
    /// Segments sent and not yet acknowledged cumulatively.
    pub packets_out: u32,
    /// Segments of `packets_out` that SACK reports as delivered.
    pub sacked_out: u32,
    /// Segments delivered since establishment.
    pub delivered: u64,
    /// Time of the last delivery, or of the last transmission into an empty network (the kernel's
    /// `delivered_mstamp`).
    pub delivered_at: Instant,
    /// Segments that ACKs with ECN-Echo have delivered since establishment.
    pub delivered_ce: u64,
    /// Segments marked lost since establishment.
    pub lost: u64,
    /// Whether both ends have negotiated ECN.
    pub ecn: bool,
    /// Whether the application limits the connection now.
    pub app_limited: bool,
    /// Whether the window was in full use in the last round (the kernel's `tcp_is_cwnd_limited`).
    pub cwnd_limited: bool,
    /// Smoothed RTT (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// Lowest RTT over the last five minutes; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// Loss-recovery state.
    pub state: CaState,
    /// Whether segments are paced out at `pacing_rate`.
    pub paced: bool,
    /// Rate that paces segments and sizes bursts, including headers.
    pub pacing_rate: Rate,
    /// Upper bound of the pacing rate.
    pub max_pacing_rate: Rate,
    /// Time at which pacing allows the next segment to leave; in the past if nothing holds it back.
    pub next_departure: Instant,
    /// Time of the last transmission of data.
    pub last_sent: Instant,
    /// Set by a congestion control that leaves the path underused on purpose. Rate samples then count as
    /// limited by the application, until all that is now in flight has been delivered. Cleared before every
    /// ACK.
    pub self_limited: bool,
    /// Set by a congestion control, while its window grows, to request a reduction without a loss (the
    /// kernel's `tcp_enter_cwr`). Cleared when the connection has handled it.
    pub cwr_requested: bool,
    /// Oldest unacknowledged byte of the stream.
    pub snd_una: u64,
    /// Next byte of the stream to be sent.
    pub snd_nxt: u64,
    /// Timestamps option of the current ACK.
    pub timestamps: Timestamps,
    /// Random draws for randomised CCAs.
    pub random: RngStream,
}

impl Window {
    /// Creates the window of a new connection: `initial_window` segments of `mss` bytes.
    pub fn new(mss: u32, initial_window: u32, random: RngStream) -> Self {
        Self {
            now: Instant::ZERO,
            mss,
            cwnd: initial_window,
            ssthresh: INFINITE_SSTHRESH,
            cwnd_clamp: u32::MAX,
            cwnd_cnt: 0,
            prior_cwnd: 0,
            inflight: 0,
            packets_out: 0,
            sacked_out: 0,
            delivered: 0,
            delivered_at: Instant::ZERO,
            delivered_ce: 0,
            lost: 0,
            ecn: false,
            app_limited: false,
            cwnd_limited: false,
            srtt: Duration::ZERO,
            min_rtt: Duration::MAX,
            state: CaState::Open,
            paced: false,
            pacing_rate: Rate::ZERO,
            max_pacing_rate: Rate::from_bits_per_second(u64::MAX),
            next_departure: Instant::ZERO,
            last_sent: Instant::ZERO,
            self_limited: false,
            cwr_requested: false,
            snd_una: 0,
            snd_nxt: 0,
            timestamps: Timestamps::None,
            random,
        }
    }

    /// Returns our timestamp clock in milliseconds, which wraps around as the option does.
    pub fn clock_ms(&self) -> u32 {
        self.now.since_start().as_millis() as u32
    }

    /// Returns the current threshold; outside of a reduction it is at least three quarters of the window (the
    /// kernel's `tcp_current_ssthresh`).
    pub fn current_ssthresh(&self) -> u32 {
        if matches!(self.state, CaState::Cwr | CaState::Recovery) {
            self.ssthresh
        } else {
            self.ssthresh.max((self.cwnd >> 1) + (self.cwnd >> 2))
        }
    }

    /// Returns the name of the mode in fast recovery and in slow start; `None` in congestion avoidance, where
    /// congestion controls differ.
    pub fn mode(&self) -> Option<&'static str> {
        match self.state {
            CaState::Recovery => Some("recovery"),
            _ => self.in_slow_start().then_some("slow_start"),
        }
    }

    /// Returns whether the window is below the threshold.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Adds one segment to the window for every `per_segments` acknowledged ones, which `cwnd_cnt` counts
    /// (RFC 5681 §3.1 in whole segments; the kernel's `tcp_cong_avoid_ai`).
    pub fn grow_additively(&mut self, per_segments: u32, acked: u32) {
        let per_segments = per_segments.max(1);
        if self.cwnd_cnt >= per_segments {
            // The threshold has fallen below what is already counted.
            self.cwnd_cnt = 0;
            self.cwnd = self.cwnd.saturating_add(1);
        }
        self.cwnd_cnt = self.cwnd_cnt.saturating_add(acked);
        if self.cwnd_cnt >= per_segments {
            let whole = self.cwnd_cnt / per_segments;
            self.cwnd_cnt -= whole * per_segments;
            self.cwnd = self.cwnd.saturating_add(whole);
        }
        self.cwnd = self.cwnd.min(self.cwnd_clamp);
    }
}
