//! Westwood+ (Grieco, Mascolo 2004): grows like Reno, and sets the window after a loss to the measured rate
//! times the lowest RTT.

use units::{Duration, Instant};

use crate::parameters::parameters;
use crate::slow_start::Method;
use crate::{
    AckKind, AckSample, CcaInfo, CongestionControl, Event, Family, TransferState, Window, jiffies,
};

/// RTT before the first sample, jiffies (Linux `TCP_WESTWOOD_INIT_RTT`).
const INITIAL_RTT: u64 = 20 * jiffies::PER_SECOND;

parameters! {
    /// Parameters of Westwood+.
    pub struct WestwoodConfig {
        /// Shortest time over which a rate is sampled; the RTT if that is longer.
        rtt_min: Duration = Duration::from_millis(50), in Duration::from_millis(1)..=Duration::from_secs(10), "", "Grieco and Mascolo 2004; Linux TCP_WESTWOOD_RTT_MIN";
        /// Inverse weight of a new sample in each of the two filters of the rate.
        filter: u32 = 8, in 1..=1_000, "samples", "Linux westwood_do_filter";
    }
}

/// Catalogue entry of Westwood+.
pub const INFO: CcaInfo = CcaInfo {
    name: "westwood",
    aliases: &["westwood+", "westwoodplus", "tcpw"],
    title: "Westwood+",
    family: Family::Loss,
    reference: "Grieco, Mascolo: Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control, ACM SIGCOMM CCR 34(2)",
    year: 2004,
    linux: true,
    parameters: WestwoodConfig::PARAMETERS,
    slow_start: Some(Method::Standard),
    build: &|settings| Box::new(Westwood::new(WestwoodConfig::with(settings))),
};

/// State of one connection. Times are in jiffies, rates in bytes per jiffy.
#[derive(Clone, Debug, Default)]
pub struct Westwood {
    config: WestwoodConfig,
    /// Rate after the first filter.
    bw_ns_est: u64,
    /// Rate after both filters.
    rate: u64,
    /// Start of the current sample.
    sample_start: u64,
    /// Bytes delivered since then.
    delivered: u64,
    /// Bytes that duplicate ACKs have counted and that no cumulative ACK has covered yet.
    accounted: u64,
    /// Oldest unacknowledged byte at the last ACK; `None` before the first.
    snd_una: Option<u64>,
    rtt: u64,
    min_rtt: u64,
    /// Whether the next ACK resets the lowest RTT.
    reset_min_rtt: bool,
}

impl Westwood {
    /// Creates Westwood+ with these parameters.
    pub fn new(config: WestwoodConfig) -> Self {
        Self {
            config,
            rtt: INITIAL_RTT,
            min_rtt: INITIAL_RTT,
            reset_min_rtt: true,
            ..Self::default()
        }
    }

    /// Returns the measured rate, bytes per second.
    pub fn bytes_per_second(&self) -> u64 {
        self.rate * jiffies::PER_SECOND
    }

    /// Returns the window that fills the path at the measured rate without a queue, segments: BWE · RTTmin.
    fn bdp_window(&self, w: &Window) -> u32 {
        let segments = self.rate.saturating_mul(self.min_rtt) / u64::from(w.mss.max(1));
        segments.clamp(2, u64::from(w.cwnd_clamp.max(2))) as u32
    }

    fn filter(&self, mean: u64, sample: u64) -> u64 {
        let n = u64::from(self.config.filter);
        ((n - 1) * mean + sample) / n
    }

    /// Ends a sample that has lasted long enough, and filters it twice.
    fn sample_rate(&mut self, now: Instant) {
        let now = jiffies::at(now);
        let time = now.saturating_sub(self.sample_start);
        if time <= self.rtt.max(jiffies::of(self.config.rtt_min)) {
            return;
        }
        let sample = self.delivered / time;
        if self.bw_ns_est == 0 && self.rate == 0 {
            self.bw_ns_est = sample;
            self.rate = sample;
        } else {
            self.bw_ns_est = self.filter(self.bw_ns_est, sample);
            self.rate = self.filter(self.rate, self.bw_ns_est);
        }
        self.delivered = 0;
        self.sample_start = now;
    }

    /// Returns the bytes that an ACK of the slow path adds (Grieco and Mascolo 2004, AckedCount). A duplicate ACK adds a
    /// segment. A cumulative one adds its bytes; those of more than a segment only as far as duplicate ACKs have not
    /// counted them, and a segment if they have counted all.
    fn count_acked(&mut self, acked: u64, mss: u64) -> u64 {
        if acked == 0 {
            self.accounted += mss;
            return mss;
        }
        if acked <= mss {
            return acked;
        }
        if self.accounted >= acked {
            self.accounted -= acked;
            return mss;
        }
        acked - core::mem::take(&mut self.accounted)
    }
}

impl CongestionControl for Westwood {
    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.sample_start = jiffies::at(window.now);
    }

    /// Sets the rate to the transferred window over the lowest RTT.
    fn seed(&mut self, window: &mut Window, state: &TransferState) {
        if state.srtt.is_zero() {
            return;
        }
        self.min_rtt = jiffies::of(state.min_rtt).max(1);
        self.rtt = jiffies::of(state.srtt).max(1);
        self.reset_min_rtt = false;
        let bytes = u64::from(state.cwnd) * u64::from(window.mss);
        self.rate = bytes / self.min_rtt;
        self.bw_ns_est = self.rate;
    }

    fn pkts_acked(&mut self, _window: &mut Window, sample: &AckSample) {
        if let Some(rtt) = sample.rtt.filter(|rtt| !rtt.is_zero()) {
            self.rtt = jiffies::of(rtt);
        }
    }

    fn in_ack_event(&mut self, window: &mut Window, kind: AckKind) {
        let previous = *self.snd_una.get_or_insert(window.snd_una);
        self.sample_rate(window.now);
        let acked = window.snd_una.saturating_sub(previous);
        self.delivered += if kind.slow_path {
            self.count_acked(acked, u64::from(window.mss))
        } else {
            acked
        };
        self.snd_una = Some(window.snd_una);
        self.min_rtt = if self.reset_min_rtt {
            self.rtt
        } else {
            self.min_rtt.min(self.rtt)
        };
        self.reset_min_rtt = false;
    }

    /// Sets the threshold, and after a recovery also the window, to the one that fills the path at the measured rate
    /// (Grieco and Mascolo 2004). Until this event they are those of Reno.
    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        match event {
            Event::CompleteCwr => {
                window.ssthresh = self.bdp_window(window);
                window.cwnd = window.ssthresh.min(window.cwnd_clamp);
            }
            Event::Loss => {
                window.ssthresh = self.bdp_window(window);
                self.reset_min_rtt = true;
            }
            Event::TxStart | Event::CwndRestart => {}
        }
    }
}
