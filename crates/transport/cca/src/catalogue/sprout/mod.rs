//! Forecasting controller after Sprout (Winstein, Sivaraman, Balakrishnan: Stochastic forecasts achieve high
//! throughput and low delay over cellular networks, NSDI 2013).
//!
//! The model of the path is a Poisson process whose rate drifts as Brownian motion. Each tick, the controller infers the
//! rate from the deliveries. It keeps as many segments in flight as will be delivered in time with a probability of 95 %.
//!
//! Differences from the original, which is a protocol of its own over UDP:
//! - The sender infers the rate from ACKs. In the original the receiver does, and sends forecasts. Only the
//!   two-way delay is observable here, so the time to deliver is the sum of the lowest RTT and the target
//!   delay.
//! - Ticks are processed when an ACK arrives; there is no timer. A minimum window replaces heartbeats.
//! - A tick counts in full only if segments waited for most of it, as their RTT shows; otherwise it gives a
//!   lower bound of the rate. In the original the sender announces its pauses.
//! - The grid of rates doubles, and the drift with it, if the path is faster than its 1000 segments/s.
//! - The forecast is a mixture of normal distributions rather than a table.
//! - Segments are paced.
//!
//! Losses do not count, as in the original, which is made for the deep buffers of cellular networks. If a buffer holds
//! less than the target delay, the controller keeps losing the fifth that it paces beyond the rate.

mod bayes_filter;
mod config;
mod forecast;
mod ticks;

use units::{Bytes, Duration, Instant, Rate};

use crate::{Ack, CcaInfo, CongestionControl, Family, TransferState, Window};
use bayes_filter::RateDistribution;
pub use config::SproutConfig;
use forecast::forecast_deliveries;
use ticks::{Tick, Ticks};

/// Maximum number of ticks processed after a silence: by then the distribution is as wide as it becomes.
const MAX_TICKS: u32 = 100;
/// Maximum time ahead of a forecast.
const MAX_HORIZON: Duration = Duration::from_secs(5);
/// Relative deviation of the rate after a switch, which transfers only an approximate rate.
const SWITCH_DEVIATION: f64 = 0.125;

/// Catalogue entry of the forecast controller.
pub const INFO: CcaInfo = CcaInfo {
    name: "sprout",
    aliases: &[],
    title: "Sprout-like forecast",
    family: Family::Forecast,
    reference: "Winstein, Sivaraman, Balakrishnan: Stochastic forecasts achieve high throughput and low delay over cellular networks, NSDI 2013",
    year: 2013,
    linux: false,
    parameters: SproutConfig::PARAMETERS,
    slow_start: None,
    build: &|settings| Box::new(Sprout::new(SproutConfig::with(settings))),
};

/// State of one connection.
#[derive(Clone, Debug)]
pub struct Sprout {
    config: SproutConfig,
    distribution: RateDistribution,
    ticks: Ticks,
}

impl Sprout {
    /// Creates the controller with these parameters.
    pub fn new(config: SproutConfig) -> Self {
        Self {
            config,
            distribution: RateDistribution::new(&config),
            ticks: Ticks::new(config.tick, Instant::ZERO),
        }
    }

    /// Returns the expected delivery rate, segments per second.
    pub fn expected_rate(&self) -> f64 {
        self.distribution.mean()
    }

    /// Updates the distribution by one tick, which counts in full if the path was busy for three quarters of it.
    fn infer(&mut self, tick: Tick) {
        let length = self.config.tick;
        let seconds = length.as_secs_f64();
        self.distribution.predict();
        self.distribution
            .resize_grid(f64::from(tick.delivered) / seconds);
        if tick.busy.as_nanos() * 4 >= length.as_nanos() * 3 {
            self.distribution.observe(tick.delivered, seconds);
        } else {
            self.distribution.observe_at_least(tick.delivered, seconds);
        }
    }

    /// Sets the window and the pacing rate from the distribution.
    fn control(&self, window: &mut Window) {
        let min_rtt = if window.min_rtt == Duration::MAX {
            Duration::ZERO
        } else {
            window.min_rtt
        };
        let horizon = (min_rtt.min(MAX_HORIZON) + self.config.target_delay).min(MAX_HORIZON);
        let horizon_s = horizon.as_secs_f64();
        let forecast = forecast_deliveries(&self.distribution, &self.config, horizon_s);
        let max = window.cwnd_clamp.max(1);
        window.cwnd = (forecast as u32).max(self.config.min_window).min(max);
        let rate = self.config.pacing_gain * self.distribution.mean();
        let min_rate = f64::from(self.config.min_window) / horizon_s;
        let bytes = Bytes::new((rate.max(min_rate) * f64::from(window.mss)) as u64);
        let pacing_rate = Rate::of(bytes, Duration::from_secs(1));
        window.pacing_rate = pacing_rate.min(window.max_pacing_rate);
    }
}

impl CongestionControl for Sprout {
    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.ticks = Ticks::new(self.config.tick, window.now);
        window.paced = true;
        // There is no slow start.
        window.ssthresh = 2;
        let old_cwnd = window.cwnd;
        self.control(window);
        window.cwnd = old_cwnd;
    }

    /// Sets a normal distribution around the transferred pacing rate.
    fn seed(&mut self, window: &mut Window, state: &TransferState) {
        if state.srtt.is_zero() || state.pacing_rate == Rate::ZERO {
            return;
        }
        let bits = state.pacing_rate.bits_per_second() as f64;
        let rate = bits / 8.0 / f64::from(window.mss.max(1));
        self.distribution.set_normal(rate, SWITCH_DEVIATION);
        self.control(window);
    }

    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        window.ssthresh
    }

    fn mode(&self, _window: &Window) -> &'static str {
        "forecast"
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    fn cong_control(&mut self, window: &mut Window, ack: &Ack) {
        let now = window.now;
        let waited = ack
            .rtt
            .map_or(Duration::ZERO, |rtt| rtt.saturating_sub(window.min_rtt));
        let busy_since = Instant::from_nanos(now.as_nanos().saturating_sub(waited.as_nanos()));
        self.ticks.skip_to_last(now, MAX_TICKS);
        let mut has_ticked = false;
        while let Some(tick) = self.ticks.next_ended(now, busy_since) {
            self.infer(tick);
            has_ticked = true;
        }
        self.ticks.add(now, busy_since, ack.delivered);
        if has_ticked || window.cwnd < self.config.min_window {
            self.control(window);
        }
    }

    /// Keeps the window, which does not depend on losses.
    fn undo_cwnd(&mut self, window: &mut Window) -> u32 {
        window.cwnd
    }
}
