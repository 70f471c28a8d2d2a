//! Parameters of the forecast.

use core::ops::RangeInclusive;

use units::Duration;

use crate::parameters::parameters;

const TICKS: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_millis(200);
const DELAYS: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(5);

parameters! {
    /// Constants of Winstein, Sivaraman, Balakrishnan, NSDI 2013.
    pub struct SproutConfig {
        /// Time between two inferences.
        tick: Duration = Duration::from_millis(20), in TICKS, "", "NSDI 2013 §3";
        /// Drift of the rate, as the standard deviation after a second. It holds for a grid up to max_rate
        /// and grows with the grid.
        sigma: f64 = 200.0, in 1.0..=10000.0, "segments/s/√s", "NSDI 2013 §3";
        /// Rate at which an outage ends.
        outage_escape: f64 = 1.0, in 0.01..=100.0, "1/s", "NSDI 2013 §3";
        /// Initial highest rate of the grid; the grid doubles on faster paths and shrinks back on slower
        /// ones.
        max_rate: f64 = 1000.0, in 100.0..=100000.0, "segments/s", "NSDI 2013 §3; the doubling is not in the paper";
        /// Number of rates in the grid.
        bins: u32 = 256, in 32..=1024, "", "NSDI 2013 §3";
        /// Probability that at least the forecast is delivered.
        confidence: f64 = 0.95, in 0.01..=0.999, "", "NSDI 2013 §3";
        /// Longest wait of a segment beyond the lowest RTT, at that confidence.
        target_delay: Duration = Duration::from_millis(100), in DELAYS, "", "NSDI 2013 §3";
        /// Pacing rate as a multiple of the expected rate; the original sends a window at once.
        pacing_gain: f64 = 1.25, in 1.0..=10.0, "", "not in the paper";
        /// Minimum window, which keeps deliveries observable; the original sends heartbeats.
        min_window: u32 = 4, in 1..=100, "segments", "not in the paper";
    }
}
