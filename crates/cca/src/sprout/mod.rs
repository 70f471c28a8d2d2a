//! A controller that forecasts, after Sprout (Winstein, Sivaraman, Balakrishnan: Stochastic forecasts achieve
//! high throughput and low delay over cellular networks, NSDI 2013): the path is a Poisson process whose rate
//! drifts as Brownian motion; from what is delivered in every tick the rate is inferred, and as much is kept
//! in flight as will be delivered in time with 95 % probability.
//!
//! What differs from the original, which is a protocol of its own over UDP:
//! - The sender infers, from what ACKs say was delivered; the original's receiver does, and sends forecasts.
//!   Only the two-way delay is seen, so the time to deliver is the lowest RTT and the target delay together.
//! - Ticks are worked off when an ACK comes, there is no timer; heartbeats are replaced by a least window.
//! - A tick counts as it is only if segments waited for most of it, as their RTT shows; otherwise it tells
//!   how fast the path is at least. The original's sender announces when it will pause.
//! - The grid of rates doubles where the path is faster than its 1000 segments/s, and the drift with it.
//! - The forecast is a mixture of normal distributions rather than a table.
//! - Segments are paced.
//!
//! Losses do not count, as in the original, which is made for the deep buffers of cellular networks: before a
//! buffer that holds less than the target delay it goes on losing what it paces beyond the rate, a fifth.

mod belief;
mod config;
mod forecast;
mod ticks;

use units::{Bytes, Duration, Instant, Rate};

use super::{Ack, Cca, CongestionControl, Context, Family, Window};
use belief::Belief;
pub use config::SproutConfig;
use ticks::{Tick, Ticks};

/// A tick counts as it is if the path was busy for this share of it.
const BUSY_SHARE: (u64, u64) = (3, 4);
/// After a silence no more ticks than these are worked off: by then the belief is as wide as it gets.
const MOST_TICKS: u32 = 100;
/// Forecasts do not reach further.
const LONGEST: Duration = Duration::from_secs(5);
/// Relative deviation of the belief after a takeover: the rate of the context is only about right.
const TAKEOVER_DEVIATION: f64 = 0.125;

/// The forecast controller in the catalogue.
pub const ABOUT: Cca = Cca {
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

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Sprout {
    config: SproutConfig,
    belief: Belief,
    ticks: Ticks,
}

impl Default for Sprout {
    fn default() -> Self {
        Self::new(SproutConfig::default())
    }
}

impl Sprout {
    /// The controller with other parameters.
    pub fn new(config: SproutConfig) -> Self {
        Self {
            config,
            belief: Belief::new(&config),
            ticks: Ticks::new(config.tick, Instant::ZERO),
        }
    }

    /// Expected rate of delivery, segments per second.
    pub fn expected_rate(&self) -> f64 {
        self.belief.mean()
    }

    /// Infers from one tick.
    fn infer(&mut self, tick: Tick) {
        let length = self.config.tick;
        let seconds = length.as_secs_f64();
        self.belief.evolve();
        self.belief.fit(f64::from(tick.delivered) / seconds);
        let busy = tick.busy.as_nanos() * BUSY_SHARE.1 >= length.as_nanos() * BUSY_SHARE.0;
        if busy {
            self.belief.observe(tick.delivered, seconds);
        } else {
            self.belief.observe_at_least(tick.delivered, seconds);
        }
    }

    /// Window and pacing rate from the belief.
    fn control(&self, window: &mut Window) {
        let lowest = if window.min_rtt == Duration::MAX {
            Duration::ZERO
        } else {
            window.min_rtt
        };
        let ahead = (lowest.min(LONGEST) + self.config.target_delay).min(LONGEST);
        let forecast = forecast::cautious(&self.belief, &self.config, ahead.as_secs_f64());
        let most = window.cwnd_clamp.max(1);
        window.cwnd = (forecast as u32).max(self.config.min_window).min(most);
        let rate = self.config.pacing_gain * self.belief.mean();
        // At least the least window in the time ahead.
        let least = f64::from(self.config.min_window) / ahead.as_secs_f64();
        let bytes = Bytes::new((rate.max(least) * f64::from(window.mss)) as u64);
        let paced = Rate::of(bytes, Duration::from_secs(1));
        window.pacing_rate = paced.min(window.max_pacing_rate);
    }
}

impl CongestionControl for Sprout {
    fn name(&self) -> &'static str {
        "sprout"
    }

    fn init(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.ticks = Ticks::new(self.config.tick, window.now);
        window.paced = true;
        // There is no slow start.
        window.ssthresh = 2;
        let kept = window.cwnd;
        self.control(window);
        window.cwnd = kept;
    }

    /// The rate of the context is believed within an eighth.
    fn seed(&mut self, window: &mut Window, context: &Context) {
        if context.srtt.is_zero() || context.pacing_rate == Rate::ZERO {
            return;
        }
        let bits = context.pacing_rate.bits_per_second() as f64;
        let rate = bits / 8.0 / f64::from(window.mss.max(1));
        self.belief.expect(rate, TAKEOVER_DEVIATION);
        self.control(window);
    }

    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        window.ssthresh
    }

    fn cong_avoid(&mut self, _window: &mut Window, _acked: u32) {}

    fn owns_window(&self) -> bool {
        true
    }

    fn cong_control(&mut self, window: &mut Window, ack: &Ack) {
        let now = window.now;
        let waited = ack
            .rtt
            .map_or(Duration::ZERO, |rtt| rtt.saturating_sub(window.min_rtt));
        let busy_since = Instant::from_nanos(now.as_nanos().saturating_sub(waited.as_nanos()));
        self.ticks.skip_to_last(now, MOST_TICKS);
        let mut inferred = false;
        while let Some(tick) = self.ticks.next_over(now, busy_since) {
            self.infer(tick);
            inferred = true;
        }
        self.ticks.add(now, busy_since, ack.delivered);
        if inferred || window.cwnd < self.config.min_window {
            self.control(window);
        }
    }

    /// The window does not depend on losses.
    fn undo_cwnd(&mut self, window: &mut Window) -> u32 {
        window.cwnd
    }
}
