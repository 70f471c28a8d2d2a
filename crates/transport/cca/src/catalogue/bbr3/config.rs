//! Parameters of BBRv3.

use core::ops::RangeInclusive;

use units::Duration;

use crate::parameters::parameters;

const WINDOWS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3600);
const SPANS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(60);

parameters! {
    /// Constants of draft-ietf-ccwg-bbr-06. Gains and factors are truncated to 256ths.
    pub struct Bbr3Config {
        /// Pacing gain of Startup: 4 ln 2, the least by which the rate can double every round.
        startup_pacing_gain: f64 = 2.77, in 1.0..=8.0, "", "§2.5 StartupPacingGain";
        /// Pacing gain of Drain.
        drain_pacing_gain: f64 = 0.5, in 0.01..=1.0, "", "§2.5 DrainPacingGain (0.347 in the Linux of Google)";
        /// Window gain of all states except ProbeBW_UP and ProbeRTT.
        cwnd_gain: f64 = 2.0, in 1.0..=8.0, "", "§2.6 DefaultCwndGain";
        /// Pacing gain of ProbeBW_UP.
        up_pacing_gain: f64 = 1.25, in 1.0..=4.0, "", "§5.6.1";
        /// Window gain of ProbeBW_UP.
        up_cwnd_gain: f64 = 2.25, in 1.0..=8.0, "", "§5.6.1";
        /// Pacing gain of ProbeBW_DOWN.
        down_pacing_gain: f64 = 0.9, in 0.01..=1.0, "", "§5.6.1 (0.91 in the Linux of Google)";
        /// Loss rate over a round trip that shows that probing went too far.
        loss_thresh: f64 = 0.02, in 0.0..=0.5, "", "§2.8 LossThresh";
        /// Share that a round with loss leaves of the short-term bounds, and least share of the target that a
        /// probe that went too far leaves.
        beta: f64 = 0.7, in 0.0..=1.0, "", "§2.8 Beta";
        /// Share of the long-term bound that is left to other flows.
        headroom: f64 = 0.15, in 0.0..=1.0, "", "§2.8 Headroom";
        /// Minimum window.
        min_pipe_cwnd: u32 = 4, in 1..=1000, "segments", "§2.8 MinPipeCwnd";
        /// Growth per round that continues the search for the bandwidth.
        full_bw_thresh: f64 = 1.25, in 1.0..=4.0, "", "§5.3.1.2";
        /// Rounds without that growth after which the path counts as full.
        full_bw_count: u32 = 3, in 1..=100, "rounds", "§5.3.1.2";
        /// Separate ranges lost in a round of recovery that end Startup; 0 ignores losses.
        startup_full_loss_count: u32 = 6, in 0..=1000, "ranges", "§5.3.1.3 StartupFullLossCnt";
        /// Rounds after which Drain ends even if the queue remains.
        drain_max_rounds: u32 = 3, in 1..=1000, "rounds", "§5.3.2";
        /// Rounds over which the excess of ACKs is the maximum.
        extra_acked_filter_len: u32 = 10, in 1..=1000, "rounds", "§2.12 ExtraAckedFilterLen";
        /// Maximum number of rounds between two probes for bandwidth, for coexistence with Reno and CUBIC.
        probe_max_rounds: u32 = 63, in 1..=10000, "rounds", "§5.3.3.8";
        /// Minimum time between two probes for bandwidth that the clock triggers.
        probe_wait_base: Duration = Duration::from_secs(2), in SPANS, "", "§5.3.3.8 PickProbeWait";
        /// Largest random addition to that time.
        probe_wait_random: Duration = Duration::from_secs(1), in SPANS, "", "§5.3.3.8 PickProbeWait";
        /// Time for which a lowest RTT holds.
        min_rtt_filter_len: Duration = Duration::from_secs(10), in WINDOWS, "", "§2.16.1 MinRTTFilterLen";
        /// Time after the last lowest RTT at which ProbeRTT is due.
        probe_rtt_interval: Duration = Duration::from_secs(5), in WINDOWS, "", "§2.16.2 ProbeRTTInterval";
        /// Minimum duration of ProbeRTT.
        probe_rtt_duration: Duration = Duration::from_millis(200), in SPANS, "", "§2.16.2 ProbeRTTDuration";
        /// Window gain of ProbeRTT.
        probe_rtt_cwnd_gain: f64 = 0.5, in 0.0..=1.0, "", "§2.16.2 ProbeRTTCwndGain";
    }
}
