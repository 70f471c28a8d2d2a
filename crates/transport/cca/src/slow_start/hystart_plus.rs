//! HyStart++ (RFC 9406): when the delay rises it continues with slower growth at first, and returns to
//! standard slow start if the delay falls again.

use units::Duration;

use super::{SlowStart, SlowStartConfig};
use crate::{AckSample, INFINITE_SSTHRESH, Window};

/// Conservative slow start (§4.2).
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// Lowest RTT of the round that started it.
    baseline: Duration,
    /// Rounds so far, including the incomplete first one.
    rounds: u32,
    /// Acknowledged segments that count towards the next segment of the window.
    acked: u32,
}

/// Slow start that distinguishes a queue from jitter.
#[derive(Clone, Copy, Debug, Default)]
pub struct HyStartPlus {
    config: SlowStartConfig,
    /// The round ends when this is acknowledged.
    round_end: u64,
    /// Lowest RTT of the round.
    round_rtt: Option<Duration>,
    /// Lowest RTT of the last round.
    last_round_rtt: Option<Duration>,
    /// Number of RTT samples in the round.
    samples: u32,
    conservative: Option<Conservative>,
}

impl HyStartPlus {
    /// Creates HyStart++ with these parameters.
    pub fn new(config: SlowStartConfig) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// Returns whether growth is conservative now.
    pub fn is_conservative(&self) -> bool {
        self.conservative.is_some()
    }

    /// Ends a round when all that was sent before it began is acknowledged (§4.2).
    fn end_round(&mut self, w: &mut Window) {
        self.round_end = w.snd_nxt;
        self.last_round_rtt = self.round_rtt.take();
        self.samples = 0;
        if let Some(conservative) = &mut self.conservative {
            conservative.rounds += 1;
            if conservative.rounds >= self.config.hystartpp_css_rounds {
                self.conservative = None;
                w.ssthresh = w.cwnd;
            }
        }
    }

    /// Enters or leaves conservative slow start because of an RTT sample (§4.2).
    fn on_rtt_sample(&mut self, rtt: Duration) {
        let round_rtt = self.round_rtt.map_or(rtt, |lowest| lowest.min(rtt));
        self.round_rtt = Some(round_rtt);
        self.samples = self.samples.saturating_add(1);
        if self.samples < self.config.hystartpp_n_rtt_sample {
            return;
        }
        match self.conservative {
            Some(Conservative { baseline, .. }) if round_rtt < baseline => self.conservative = None,
            None if self.has_risen(round_rtt) => {
                self.conservative = Some(Conservative {
                    baseline: round_rtt,
                    rounds: 0,
                    acked: 0,
                });
            }
            _ => {}
        }
    }

    /// Returns whether the delay of this round is well above that of the last one (§4.2).
    fn has_risen(&self, round_rtt: Duration) -> bool {
        let Some(before) = self.last_round_rtt else {
            return false;
        };
        let (min, max) = (
            self.config.hystartpp_min_rtt_thresh,
            self.config.hystartpp_max_rtt_thresh,
        );
        let threshold = (before / u64::from(self.config.hystartpp_min_rtt_divisor))
            .min(max)
            .max(min);
        round_rtt >= before + threshold
    }
}

impl SlowStart for HyStartPlus {
    fn reset(&mut self, window: &mut Window) {
        *self = Self::new(self.config);
        self.round_end = window.snd_nxt;
    }

    fn on_reduction(&mut self) {
        self.conservative = None;
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) {
        // §4.3: only in the first slow start, while the threshold has its initial value.
        if window.ssthresh != INFINITE_SSTHRESH {
            return;
        }
        if let Some(rtt) = sample.rtt {
            self.on_rtt_sample(rtt);
        }
        if window.snd_una >= self.round_end {
            self.end_round(window);
        }
    }

    fn grow(&mut self, window: &mut Window, acked: u32) -> u32 {
        let mut growth = if window.paced {
            acked
        } else {
            acked.min(self.config.hystartpp_l)
        };
        let unused = acked - growth;
        if let Some(conservative) = &mut self.conservative {
            conservative.acked = conservative.acked.saturating_add(growth);
            growth = conservative.acked / self.config.hystartpp_css_growth_divisor;
            conservative.acked %= self.config.hystartpp_css_growth_divisor;
        }
        let room = window.ssthresh.saturating_sub(window.cwnd);
        let rest = growth.saturating_sub(room);
        let target = window.cwnd.saturating_add(growth - rest);
        window.cwnd = target.min(window.cwnd_clamp);
        if window.in_slow_start() {
            0
        } else {
            rest + unused
        }
    }
}
