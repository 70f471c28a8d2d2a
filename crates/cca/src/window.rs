//! What a connection and its congestion control share.

use units::random::Stream;
use units::{Duration, Instant, Rate};

/// The value of `ssthresh` before the first loss (the kernel's `TCP_INFINITE_SSTHRESH`).
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// Where loss recovery stands (the kernel's `tcp_ca_state`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[repr(u8)]
pub enum CaState {
    /// Nothing suspicious.
    #[default]
    Open = 0,
    /// Duplicate ACKs or SACKs were seen.
    Disorder = 1,
    /// The window is being reduced for ECN or a local congestion.
    Cwr = 2,
    /// Lost segments are being retransmitted.
    Recovery = 3,
    /// After a retransmission time-out.
    Loss = 4,
}

impl CaState {
    /// All states, in the order of their numbers.
    pub const ALL: [Self; 5] = [
        Self::Open,
        Self::Disorder,
        Self::Cwr,
        Self::Recovery,
        Self::Loss,
    ];

    /// The name as `ss -ti` users know it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Disorder => "disorder",
            Self::Cwr => "cwr",
            Self::Recovery => "recovery",
            Self::Loss => "loss",
        }
    }
}

/// One sample of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Segments delivered over `interval`; `None` where no valid sample could be taken.
    pub delivered: Option<u32>,
    /// The longer of the send and the ACK phase.
    pub interval: Duration,
    /// The connection's count of delivered segments when the sampled segment was sent.
    pub prior_delivered: u64,
    /// Whether the sample was taken while the application limited the flow.
    pub app_limited: bool,
    /// Whether the sampled segment was a retransmission.
    pub retransmitted: bool,
    /// Segments in flight when the sampled segment was sent, itself included.
    pub tx_in_flight: u32,
    /// Segments marked lost since the sampled segment was sent.
    pub lost: u32,
}

impl RateSample {
    /// The rate in segments of `mss` payload bytes, if there is a sample.
    pub fn rate(&self, mss: u32) -> Option<Rate> {
        let delivered = self.delivered?;
        let bytes = units::Bytes::new(u64::from(delivered) * u64::from(mss));
        (!self.interval.is_zero()).then(|| Rate::of(bytes, self.interval))
    }
}

/// The part of a connection that its congestion control reads and writes.
#[derive(Clone, Debug)]
pub struct Window {
    /// The time of the event that is being handled.
    pub now: Instant,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments.
    pub ssthresh: u32,
    /// The window never exceeds this, segments.
    pub cwnd_clamp: u32,
    /// Segments acknowledged towards the next increase of `cwnd`.
    pub cwnd_cnt: u32,
    /// The window before the current reduction, segments.
    pub prior_cwnd: u32,
    /// Segments in flight, by SACK scoreboard: sent − delivered − lost + retransmitted.
    pub inflight: u32,
    /// Segments sent and not acknowledged cumulatively.
    pub packets_out: u32,
    /// Of those, segments that SACK reports as delivered.
    pub sacked_out: u32,
    /// Segments delivered since establishment.
    pub delivered: u64,
    /// When something was delivered last, or sent into an empty network (the kernel's
    /// `delivered_mstamp`).
    pub delivered_at: Instant,
    /// Segments delivered since establishment by ACKs with ECN-Echo.
    pub delivered_ce: u64,
    /// Segments marked lost since establishment.
    pub lost: u64,
    /// Whether both sides agreed on ECN.
    pub ecn: bool,
    /// Whether the application leaves the pipe unfilled at present.
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
    /// Rate at which the connection paces and sizes its bursts, payload and headers.
    pub pacing_rate: Rate,
    /// Pacing never exceeds this.
    pub max_pacing_rate: Rate,
    /// When pacing lets the next segment leave; in the past if nothing holds it back.
    pub next_departure: Instant,
    /// When a segment with data left last.
    pub last_sent: Instant,
    /// Set by a congestion control that leaves the pipe unfilled on purpose: all that is sent until what
    /// is now in flight is delivered makes samples that are limited by the application. Cleared before
    /// every ACK.
    pub limits_itself: bool,
    /// Set by a congestion control, while its window grows, that wants a reduction now, without a loss (the
    /// kernel's `tcp_enter_cwr`). Cleared when the connection has seen it.
    pub wants_reduction: bool,
    /// Oldest unacknowledged byte of the stream.
    pub snd_una: u64,
    /// Next byte of the stream to be sent.
    pub snd_nxt: u64,
    /// Timestamps option of the ACK that is being handled, milliseconds: the other side's clock, of
    /// unknown origin, when it left, and ours, echoed, when what it acknowledges left, counted as
    /// [`Window::clock_ms`] (RFC 7323; the kernel's `rcv_tsval` and `rcv_tsecr`).
    pub timestamps: Option<(u32, u32)>,
    /// For the choices of randomised CCAs.
    pub random: Stream,
}

impl Window {
    /// The window of a connection that has not begun: `initial_window` segments of `mss` bytes.
    pub fn new(mss: u32, initial_window: u32, random: Stream) -> Self {
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
            limits_itself: false,
            wants_reduction: false,
            snd_una: 0,
            snd_nxt: 0,
            timestamps: None,
            random,
        }
    }

    /// Our timestamps clock, milliseconds, which wraps as the option does.
    pub fn clock_ms(&self) -> u32 {
        self.now.since_start().as_millis() as u32
    }

    /// The threshold as of now: beyond a reduction not below three quarters of the window (the kernel's
    /// `tcp_current_ssthresh`).
    pub fn current_ssthresh(&self) -> u32 {
        if matches!(self.state, CaState::Cwr | CaState::Recovery) {
            self.ssthresh
        } else {
            self.ssthresh.max((self.cwnd >> 1) + (self.cwnd >> 2))
        }
    }

    /// Whether the window is below the threshold.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Adds to the window one segment for every `per_segments` acknowledged, as counted by
    /// `cwnd_cnt` (RFC 5681 §3.1 in whole segments; the kernel's `tcp_cong_avoid_ai`).
    pub fn grow_additively(&mut self, per_segments: u32, acked: u32) {
        let per_segments = per_segments.max(1);
        if self.cwnd_cnt >= per_segments {
            // The threshold fell below what is already counted.
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
