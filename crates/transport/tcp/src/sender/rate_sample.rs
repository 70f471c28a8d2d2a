//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation-02).

use units::{Duration, Instant, Rate};

use super::rtt::micros_between;
use super::scoreboard::{NewlySent, SentSegment, SeqRange, TxState};
use cca::RateSample;

/// State of the sampler that belongs to the connection: counters and clocks (§3.1 of the draft).
#[derive(Clone, Debug, Default)]
pub(crate) struct RateSampler {
    /// Segments delivered since establishment.
    pub(crate) delivered: u64,
    delivered_at: Instant,
    first_tx: Instant,
    /// Delivery count at which the application no longer limits; 0 if it does not limit.
    app_limited: u64,
    /// Whether the receiver has dropped data that it had reported, so that no sample is of use (`is_sack_reneg`).
    pub(super) reneged: bool,
    /// Latest sample that shows the rate of the path.
    pub(super) latest: Rate,
    sample: CurrentSample,
}

/// Sample of the current ACK.
#[derive(Clone, Copy, Debug, Default)]
struct CurrentSample {
    prior_delivered: u64,
    prior_at: Option<Instant>,
    sent_at: Instant,
    end: u64,
    send_phase: Duration,
    app_limited: bool,
    retransmitted: bool,
    tx_in_flight: u32,
    lost_before: u64,
}

impl RateSampler {
    /// Stamps the transmission of `what`; `idle` if nothing else is in flight (§3.2 of the draft).
    pub(crate) fn stamp(
        &mut self,
        what: SeqRange,
        idle: bool,
        at: Instant,
        load: TxState,
    ) -> NewlySent {
        if idle {
            self.first_tx = at;
            self.delivered_at = at;
        }
        NewlySent {
            seq: what.seq,
            end: what.end,
            fin: what.fin,
            at,
            first_tx: self.first_tx,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            app_limited: self.app_limited != 0,
            load,
        }
    }

    /// Returns the time of the last delivery, or of the last transmission into an empty network (the kernel's
    /// `delivered_mstamp`).
    pub(crate) fn delivered_at(&self) -> Instant {
        self.delivered_at
    }

    /// Handles a delivered segment: the one of this ACK that was sent last makes the sample (§3.3).
    pub(crate) fn on_delivered(&mut self, sent: &SentSegment) {
        let s = &self.sample;
        if s.prior_at.is_none() || sent.sent_after(s.sent_at, s.end) {
            self.sample = CurrentSample {
                prior_delivered: sent.delivered,
                prior_at: Some(sent.delivered_at),
                sent_at: sent.sent_at,
                end: sent.end,
                send_phase: micros_between(sent.first_tx, sent.sent_at),
                app_limited: sent.app_limited,
                retransmitted: sent.ever_retransmitted,
                tx_in_flight: sent.load.in_flight,
                lost_before: sent.load.lost,
            };
            self.first_tx = sent.sent_at;
        }
    }

    /// Returns the delivery count at the transmission of the segment that makes the sample of this ACK.
    pub(crate) fn prior_delivered(&self) -> Option<u64> {
        self.sample.prior_at.map(|_| self.sample.prior_delivered)
    }

    /// Completes the sample of this ACK, which delivered `newly` segments, when `lost` segments have been
    /// marked so far; `reneged` if there is none, because the receiver had dropped reported data before.
    pub(crate) fn finish(
        &mut self,
        now: Instant,
        newly: u32,
        min_rtt: Duration,
        lost: u64,
        reneged: bool,
    ) -> RateSample {
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        if newly > 0 {
            self.delivered_at = now;
        }
        let s = core::mem::take(&mut self.sample);
        let Some(prior_at) = s.prior_at.filter(|_| !reneged) else {
            return RateSample::default();
        };
        let interval = s.send_phase.max(micros_between(prior_at, now));
        let delivered = (self.delivered - s.prior_delivered) as u32;
        // An interval below the lowest RTT comes from a spurious retransmission (§3.3).
        let valid = min_rtt == Duration::MAX || interval >= min_rtt;
        RateSample {
            delivered: valid.then_some(delivered),
            interval,
            prior_delivered: s.prior_delivered,
            app_limited: s.app_limited,
            retransmitted: s.retransmitted,
            tx_in_flight: s.tx_in_flight,
            lost: (lost - s.lost_before) as u32,
        }
    }

    /// Stores the rate of a sample, unless the application may have limited it.
    pub(super) fn store_rate(&mut self, sample: &RateSample, mss: u32) {
        if let Some(rate) = sample.rate(mss)
            && (!sample.app_limited || rate >= self.latest)
        {
            self.latest = rate;
        }
    }

    /// Notes that the application leaves the path underused with `in_flight` segments outstanding (§3.4).
    pub(crate) fn mark_app_limited(&mut self, in_flight: u32) {
        self.app_limited = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// Returns whether the application limits the connection now.
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited != 0
    }
}
