//! Scheduling requests (TS 36.321 clause 5.4.4).

use super::Signal;

/// Times and number of a scheduling request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestConfig {
    /// Subframes between opportunities: 1, 2, 5, 10, 20, 40 or 80 (TS 36.213 Table 10.1.5-1).
    pub period: u64,
    /// Subframe of the first opportunity, below the period.
    pub offset: u64,
    /// sr-ProhibitTimer, in periods.
    pub prohibit: u64,
    /// dsr-TransMax: 4, 8, 16, 32 or 64.
    pub max_transmissions: u32,
}

/// State of the scheduling request of one UE.
#[derive(Clone, Debug)]
pub struct SchedulingRequest {
    config: RequestConfig,
    is_pending: bool,
    /// SR_COUNTER.
    sent: u32,
    /// Subframe until which sr-ProhibitTimer runs.
    prohibited_until: u64,
}

impl SchedulingRequest {
    /// Returns the state without a pending request.
    pub fn new(config: RequestConfig) -> Self {
        Self {
            config,
            is_pending: false,
            sent: 0,
            prohibited_until: 0,
        }
    }

    /// Triggers a request, unless one is pending.
    pub fn trigger(&mut self) {
        if !self.is_pending {
            self.is_pending = true;
            self.sent = 0;
        }
    }

    /// Returns whether a request has been sent and is pending.
    pub(crate) fn awaits_grant(&self) -> bool {
        self.is_pending && self.sent > 0
    }

    /// Cancels the request, because a PDU has a report or all data.
    pub(crate) fn cancel(&mut self) {
        self.is_pending = false;
        self.prohibited_until = 0;
    }

    /// Returns the signal that is sent in `subframe`.
    pub fn poll(&mut self, subframe: u64) -> Option<Signal> {
        let is_opportunity = subframe % self.config.period == self.config.offset;
        if !self.is_pending || !is_opportunity || subframe < self.prohibited_until {
            return None;
        }
        if self.sent < self.config.max_transmissions {
            self.sent += 1;
            self.prohibited_until = subframe + self.config.prohibit * self.config.period;
            Some(Signal::Request)
        } else {
            self.cancel();
            Some(Signal::RandomAccess)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(config: RequestConfig, until: u64) -> Vec<(u64, Signal)> {
        let mut requester = SchedulingRequest::new(config);
        requester.trigger();
        let poll = |subframe| requester.poll(subframe).map(|signal| (subframe, signal));
        (1..until).filter_map(poll).collect()
    }

    /// TS 36.321 clause 5.4.4: after dsr-TransMax requests the UE turns to random access and all
    /// pending requests are cancelled.
    #[test]
    fn unanswered_requests_end_in_random_access() {
        let config = RequestConfig {
            period: 10,
            offset: 3,
            prohibit: 0,
            max_transmissions: 4,
        };
        let [r, a] = [Signal::Request, Signal::RandomAccess];
        assert_eq!(
            sent(config, 100),
            [(3, r), (13, r), (23, r), (33, r), (43, a)]
        );
    }

    /// Same clause: none is sent while sr-ProhibitTimer runs.
    #[test]
    fn the_prohibit_timer_spaces_requests() {
        let config = RequestConfig {
            period: 5,
            offset: 0,
            prohibit: 2,
            max_transmissions: 64,
        };
        let times: Vec<u64> = sent(config, 40).iter().map(|(at, _)| *at).collect();
        assert_eq!(times, [5, 15, 25, 35]);
    }
}
