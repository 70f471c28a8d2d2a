//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation-02).

use units::{Duration, Instant, Rate};

use super::rtt::micros_between;
use super::scoreboard::{SentSegment, Transmission};
use cca::RateSample;

/// Sampler of a connection: counters and clocks (§3.1 of the draft).
#[derive(Clone, Debug, Default)]
pub(crate) struct RateSampler {
    /// Segments delivered since establishment.
    pub(crate) delivered: u64,
    /// Time of the last delivery, or of the last transmission into an empty network (the kernel's `delivered_mstamp`).
    pub(super) delivered_at: Instant,
    /// Start of the current send phase (`first_tx_mstamp`).
    first_tx: Instant,
    /// Delivery count above which the connection is no longer application-limited; 0 if it is not.
    app_limited: u64,
    /// Whether the receiver has dropped data that it had reported, so that no sample is valid (`is_sack_reneg`).
    pub(super) reneged: bool,
    /// Latest rate that the application has not limited, or that is higher than before.
    pub(super) latest: Rate,
    /// Segment that makes the sample of the current ACK: of those delivered, the one sent last.
    sampled: Option<SentSegment>,
}

impl RateSampler {
    /// Returns a transmission at `sent_at`; `is_idle` if nothing else is outstanding (§3.2 of the draft).
    pub(crate) fn stamp(
        &mut self,
        is_idle: bool,
        sent_at: Instant,
        tx_in_flight: u32,
        lost: u64,
    ) -> Transmission {
        if is_idle {
            self.first_tx = sent_at;
            self.delivered_at = sent_at;
        }
        Transmission {
            sent_at,
            first_tx: self.first_tx,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            app_limited: self.app_limited != 0,
            tx_in_flight,
            lost,
        }
    }

    /// Handles a delivered segment: the one of this ACK that was sent last makes the sample (§3.3).
    pub(crate) fn on_delivered(&mut self, sent: &SentSegment) {
        let is_latest = |last: &SentSegment| sent.sent_after(last.tx.sent_at, last.end);
        if self.sampled.as_ref().is_none_or(is_latest) {
            self.sampled = Some(*sent);
            self.first_tx = sent.tx.sent_at;
        }
    }

    /// Returns the delivery count at the transmission of the segment that makes the sample of this ACK.
    pub(crate) fn prior_delivered(&self) -> Option<u64> {
        self.sampled.as_ref().map(|sent| sent.tx.delivered)
    }

    /// Returns the sample of this ACK, which delivered `newly_delivered` segments; `lost` counts the segments marked since
    /// establishment. There is no sample if the receiver had `reneged` before.
    pub(crate) fn finish(
        &mut self,
        now: Instant,
        newly_delivered: u32,
        min_rtt: Duration,
        lost: u64,
        reneged: bool,
    ) -> RateSample {
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        if newly_delivered > 0 {
            self.delivered_at = now;
        }
        let Some(sent) = self.sampled.take().filter(|_| !reneged) else {
            return RateSample::default();
        };
        let send_phase = micros_between(sent.tx.first_tx, sent.tx.sent_at);
        let interval = send_phase.max(micros_between(sent.tx.delivered_at, now));
        let delivered = (self.delivered - sent.tx.delivered) as u32;
        // An interval below the lowest RTT comes from a spurious retransmission (§3.3).
        let is_valid = min_rtt == Duration::MAX || interval >= min_rtt;
        RateSample {
            delivered: is_valid.then_some(delivered),
            interval,
            prior_delivered: sent.tx.delivered,
            app_limited: sent.tx.app_limited,
            retransmitted: sent.ever_retransmitted,
            tx_in_flight: sent.tx.tx_in_flight,
            lost: (lost - sent.tx.lost) as u32,
        }
    }

    /// Stores the rate of a sample, unless the application has limited it to less than before.
    pub(super) fn store_rate(&mut self, sample: &RateSample, mss: u32) {
        if let Some(rate) = sample.rate(mss)
            && (!sample.app_limited || rate >= self.latest)
        {
            self.latest = rate;
        }
    }

    /// Marks the connection as application-limited while `in_flight` segments are in flight (§3.4).
    pub(crate) fn mark_app_limited(&mut self, in_flight: u32) {
        self.app_limited = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// Returns whether the connection is application-limited.
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited != 0
    }
}
