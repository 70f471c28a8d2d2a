//! ACK aggregation (draft-ietf-ccwg-bbr-06 §5.5.9).

use units::Instant;

use super::Bbr3;
use crate::windowed_filter::WindowedMax;
use crate::{Ack, Window};

/// Largest excess of ACKs in the last rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    interval_start: Instant,
    /// Segments delivered since then.
    delivered: u64,
    excess: WindowedMax,
}

impl Aggregation {
    pub(super) fn new(interval_start: Instant) -> Self {
        Self {
            interval_start,
            ..Self::default()
        }
    }

    /// Begins a new interval and resets its deliveries, as Linux's BBR does (`bbr_cwnd_event`). The draft resets only the
    /// time, so that deliveries from before idle times would add up.
    pub(super) fn restart(&mut self, now: Instant) {
        (self.interval_start, self.delivered) = (now, 0);
    }

    /// Returns `extra_acked`, segments.
    pub(super) fn extra(&self) -> u32 {
        self.excess.get() as u32
    }
}

impl Bbr3 {
    /// `UpdateACKAggregation`: the excess is the maximum over one round in Startup and over `extra_acked_filter_len`
    /// rounds later.
    pub(super) fn update_aggregation(&mut self, window: &Window, ack: &Ack) {
        let bandwidth = self.bandwidth();
        let aggregation = &mut self.aggregation;
        let elapsed = window.now.saturating_since(aggregation.interval_start);
        let mut expected = bandwidth.segments_in(elapsed);
        if aggregation.delivered <= expected {
            aggregation.restart(window.now);
            expected = 0;
        }
        aggregation.delivered += u64::from(ack.delivered);
        let extra = aggregation.delivered.saturating_sub(expected);
        let rounds = if self.full.reached {
            self.config.extra_acked_filter_len
        } else {
            1
        };
        aggregation.excess.update(
            u64::from(rounds),
            self.rounds.count,
            extra.min(u64::from(window.cwnd)),
        );
    }
}
