//! Congestion controls that decide by reports, such as those written in Python.
//!
//! A report describes the recent past; the decision on it is a window and a pacing rate. Reports are infrequent, so the
//! deciding code may be slow and need not be Rust. Between two reports the window and the rate stay the same. After a
//! retransmission time-out the window grows back to the last decision, by one segment for each delivered one.

use strum::IntoStaticStr;
use units::{Bytes, Duration, Instant, Rate};

use super::{Ack, CaState, CongestionControl, Window};

/// Minimum time between two reports, except where a loss episode or a time-out begins.
pub const MIN_INTERVAL: Duration = Duration::from_millis(1);

/// Reason for a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Cause {
    /// The congestion control starts or takes over.
    Start,
    /// The interval has ended.
    Interval,
    /// Losses were found, and recovery begins.
    Loss,
    /// The retransmission timer expired.
    Timeout,
}

impl Cause {
    /// Returns the cause as a word.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Events since the last report, and the current state.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// Reason for the report.
    pub cause: Cause,
    /// Present time.
    pub now: Instant,
    /// Time since the last report.
    pub interval: Duration,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Segments in flight.
    pub inflight: u32,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Mean RTT in the interval; `None` without a sample.
    pub rtt: Option<Duration>,
    /// Smoothed RTT.
    pub srtt: Duration,
    /// Lowest RTT of the last five minutes; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// Segments delivered in the interval.
    pub delivered: u64,
    /// Segments marked lost in the interval.
    pub lost: u64,
    /// Segments delivered in the interval by ACKs with ECN-Echo.
    pub marked: u64,
    /// Highest delivery rate of a sample in the interval; zero without one.
    pub delivery_rate: Rate,
    /// Whether the application limits the connection now.
    pub app_limited: bool,
}

/// Response to a report; `None` leaves the current value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Congestion window, segments, at least one.
    pub cwnd: Option<u32>,
    /// Pacing rate.
    pub pacing_rate: Option<Rate>,
}

/// Code that decides on reports.
pub trait ReportHandler: Send + core::fmt::Debug {
    /// Returns the time between reports; `None` for one smoothed RTT each time.
    fn interval(&self) -> Option<Duration>;

    /// Decides on a report.
    fn decide(&mut self, report: &Report) -> Decision;
}

/// Counters of a window, segments.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    delivered: u64,
    lost: u64,
    marked: u64,
}

impl Counts {
    fn of(w: &Window) -> Self {
        Self {
            delivered: w.delivered,
            lost: w.lost,
            marked: w.delivered_ce,
        }
    }
}

/// Congestion control that asks `H` for its decisions.
#[derive(Debug)]
pub struct ReportDriven<H> {
    handler: H,
    /// Last window that was decided, segments.
    target: u32,
    /// Whether the handler has set a pacing rate.
    paced: bool,
    /// Counters at the last report.
    last_counts: Counts,
    /// Time of the last report.
    last_report: Instant,
    rtt_sum: Duration,
    rtt_samples: u32,
    delivery_rate: Rate,
    /// Loss episode or time-out to report at the next ACK.
    urgent_cause: Option<Cause>,
}

impl<H: ReportHandler> ReportDriven<H> {
    /// Creates the congestion control of `handler`.
    pub fn new(handler: H) -> Self {
        Self {
            handler,
            target: 0,
            paced: false,
            last_counts: Counts::default(),
            last_report: Instant::ZERO,
            rtt_sum: Duration::ZERO,
            rtt_samples: 0,
            delivery_rate: Rate::ZERO,
            urgent_cause: None,
        }
    }

    fn report(&mut self, w: &mut Window, cause: Cause) {
        let counts = Counts::of(w);
        let samples = u64::from(self.rtt_samples);
        let decision = self.handler.decide(&Report {
            cause,
            now: w.now,
            interval: w.now.saturating_since(self.last_report),
            cwnd: w.cwnd,
            inflight: w.inflight,
            mss: w.mss,
            rtt: (samples > 0).then(|| self.rtt_sum / samples),
            srtt: w.srtt,
            min_rtt: w.min_rtt,
            delivered: counts.delivered - self.last_counts.delivered,
            lost: counts.lost - self.last_counts.lost,
            marked: counts.marked - self.last_counts.marked,
            delivery_rate: self.delivery_rate,
            app_limited: w.app_limited,
        });
        self.last_counts = counts;
        self.last_report = w.now;
        self.rtt_sum = Duration::ZERO;
        self.rtt_samples = 0;
        self.delivery_rate = Rate::ZERO;
        if let Some(cwnd) = decision.cwnd {
            self.target = cwnd.clamp(1, w.cwnd_clamp);
        }
        if let Some(rate) = decision.pacing_rate {
            self.paced = true;
            w.paced = true;
            // Less than one segment per second would be a stall.
            let min_rate = Rate::of(Bytes::new(u64::from(w.mss)), Duration::from_secs(1));
            w.pacing_rate = rate.max(min_rate).min(w.max_pacing_rate);
        }
    }

    fn set_window(&self, w: &mut Window, delivered: u32) {
        w.cwnd = if w.state == CaState::Loss {
            w.cwnd.saturating_add(delivered).min(self.target)
        } else {
            self.target
        }
        .max(1);
        if !self.paced && !w.srtt.is_zero() {
            // Twice the window per RTT, as Linux paces in slow start. Without pacing it only sizes bursts.
            let bytes = Bytes::new(2 * u64::from(w.cwnd) * u64::from(w.mss));
            w.pacing_rate = Rate::of(bytes, w.srtt).min(w.max_pacing_rate);
        }
    }
}

impl<H: ReportHandler> CongestionControl for ReportDriven<H> {
    fn init(&mut self, window: &mut Window) {
        self.target = window.cwnd;
        self.last_counts = Counts::of(window);
        self.last_report = window.now;
        self.report(window, Cause::Start);
        self.set_window(window, 0);
    }

    fn mode(&self, _window: &Window) -> &'static str {
        "reports"
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    /// Returns the current threshold: the window does not depend on it.
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        window.ssthresh
    }

    fn cong_control(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt_sum += rtt;
            self.rtt_samples += 1;
        }
        if let Some(rate) = ack.rate.rate(window.mss) {
            self.delivery_rate = self.delivery_rate.max(rate);
        }
        let interval = self.handler.interval().unwrap_or(window.srtt);
        let due = self.last_report + interval.max(MIN_INTERVAL);
        if let Some(cause) = self.urgent_cause.take() {
            self.report(window, cause);
        } else if window.now >= due {
            self.report(window, Cause::Interval);
        }
        self.set_window(window, ack.delivered);
    }

    fn set_state(&mut self, _window: &mut Window, state: CaState) {
        match state {
            CaState::Recovery => self.urgent_cause = Some(Cause::Loss),
            CaState::Loss => self.urgent_cause = Some(Cause::Timeout),
            _ => {}
        }
    }
}
