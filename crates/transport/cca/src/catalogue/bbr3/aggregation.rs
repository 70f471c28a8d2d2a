//! ACK aggregation (draft-ietf-ccwg-bbr-06 §5.5.9).

use units::Instant;

use super::Bbr3;
use crate::windowed_filter::WindowedMax;
use crate::{Ack, Window};

/// Largest excess of ACKs in the last rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    since: Instant,
    delivered: u64,
    excess: WindowedMax,
}

impl Aggregation {
    pub(super) fn new(since: Instant) -> Self {
        Self {
            since,
            ..Self::default()
        }
    }

    /// Begins a new interval and resets its deliveries, as Linux's BBR does (`bbr_cwnd_event`). The draft resets only the
    /// time, so that deliveries from before idle times would add up.
    pub(super) fn restart(&mut self, now: Instant) {
        (self.since, self.delivered) = (now, 0);
    }

    /// Returns `extra_acked`, segments.
    pub(super) fn extra(&self) -> u32 {
        self.excess.get() as u32
    }
}

impl Bbr3 {
    /// `UpdateACKAggregation`: the excess is the maximum over one round in Startup and over ten rounds later.
    pub(super) fn update_aggregation(&mut self, window: &Window, ack: &Ack) {
        let bandwidth = self.bandwidth();
        let seen = &mut self.aggregation;
        let mut expected = bandwidth.segments_in(window.now.saturating_since(seen.since));
        if seen.delivered <= expected {
            seen.restart(window.now);
            expected = 0;
        }
        seen.delivered += u64::from(ack.delivered);
        let extra = seen.delivered.saturating_sub(expected);
        let rounds = if self.full.reached {
            self.config.extra_acked_filter_len
        } else {
            1
        };
        seen.excess.update(
            u64::from(rounds),
            self.rounds.count,
            extra.min(u64::from(window.cwnd)),
        );
    }
}
