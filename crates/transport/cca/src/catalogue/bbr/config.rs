//! Parameters of BBR v1.

use core::ops::RangeInclusive;

use units::Duration;

use crate::parameters::parameters;

const WINDOWS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3600);
const SPANS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(10);

parameters! {
    /// Parameters of BBR v1, under the names of the kernel's constants without the prefix `bbr_` and without
    /// units. Gains are truncated to 256ths.
    pub struct BbrConfig {
        /// Pacing and window gain of STARTUP: 2/ln 2, the least that doubles the delivery rate every round.
        high_gain: f64 = 739.0 / 256.0, in 1.0..=8.0, "", "Linux bbr_high_gain; draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.2.1";
        /// Pacing gain of DRAIN: the inverse of that of STARTUP.
        drain_gain: f64 = 88.0 / 256.0, in 0.01..=1.0, "", "Linux bbr_drain_gain; draft §4.3.3";
        /// Window gain of PROBE_BW.
        cwnd_gain: f64 = 2.0, in 1.0..=8.0, "", "Linux bbr_cwnd_gain; draft §4.2.3.2";
        /// Pacing gain of the PROBE_BW phase that probes for more bandwidth.
        probe_up_gain: f64 = 1.25, in 1.0..=4.0, "", "Linux bbr_pacing_gain[0]; draft §4.3.4.1";
        /// Pacing gain of the PROBE_BW phase that drains the queue of the probe.
        probe_down_gain: f64 = 0.75, in 0.01..=1.0, "", "Linux bbr_pacing_gain[1]; draft §4.3.4.1";
        /// Phases of the gain cycle, each about one lowest RTT long: one above, one below, the others at the
        /// estimate.
        cycle_len: u32 = 8, in 2..=64, "phases", "Linux CYCLE_LEN; draft §4.3.4.1";
        /// Rounds over which the bandwidth is the maximum of the samples.
        bw_rtts: u32 = 10, in 1..=1000, "rounds", "Linux bbr_bw_rtts; draft §4.1.1.5";
        /// Time for which a lowest RTT holds before BBR probes for a new one.
        min_rtt_win: Duration = Duration::from_secs(10), in WINDOWS, "", "Linux bbr_min_rtt_win_sec; draft §4.1.2.2";
        /// Minimum duration of PROBE_RTT; 0 disables it.
        probe_rtt_mode: Duration = Duration::from_millis(200), in SPANS, "", "Linux bbr_probe_rtt_mode_ms; draft §4.3.5";
        /// Minimum window, and window of PROBE_RTT.
        cwnd_min_target: u32 = 4, in 1..=1000, "segments", "Linux bbr_cwnd_min_target; draft §4.2.3.3";
        /// Growth per round that continues STARTUP.
        full_bw_thresh: f64 = 1.25, in 1.0..=4.0, "", "Linux bbr_full_bw_thresh; draft §4.3.2.2";
        /// Rounds without that growth after which the path counts as full.
        full_bw_cnt: u32 = 3, in 1..=100, "rounds", "Linux bbr_full_bw_cnt; draft §4.3.2.2";
        /// Rate below which bursts are single segments.
        min_tso_rate: u32 = 1_200_000, "bit/s", "Linux bbr_min_tso_rate";
        /// Share of the excess of ACKs that is added to the window; 0 ignores aggregation.
        extra_acked_gain: f64 = 1.0, in 0.0..=4.0, "", "Linux bbr_extra_acked_gain";
        /// Half of the rounds over which the excess of ACKs is the maximum.
        extra_acked_win_rtts: u32 = 5, in 1..=31, "rounds", "Linux bbr_extra_acked_win_rtts";
        /// Time in which the bandwidth delivers the largest excess that counts.
        extra_acked_max: Duration = Duration::from_millis(100), in SPANS, "", "Linux bbr_extra_acked_max_us";
        /// Detect token-bucket policers, and send at their rate.
        policer: bool = true, "", "Linux bbr_lt_bw_sampling; not in the draft";
        /// Minimum rounds of an interval of the policer model, which ends after four times as many.
        lt_intvl_min_rtts: u32 = 4, in 1..=30, "rounds", "Linux bbr_lt_intvl_min_rtts";
        /// Lost segments per delivered one that indicate a policer.
        lt_loss_thresh: f64 = 50.0 / 256.0, in 0.0..=1.0, "", "Linux bbr_lt_loss_thresh";
        /// Largest relative difference of two rates that agree.
        lt_bw_ratio: f64 = 0.125, in 0.0..=1.0, "", "Linux bbr_lt_bw_ratio";
        /// Largest absolute difference of two rates that agree.
        lt_bw_diff: u32 = 500, "B/s", "Linux bbr_lt_bw_diff";
        /// Rounds for which a policer's rate is used.
        lt_bw_max_rtts: u32 = 48, in 1..=127, "rounds", "Linux bbr_lt_bw_max_rtts";
    }
}
