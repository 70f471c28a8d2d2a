//! Discontinuous reception (TS 36.321 clause 5.7, TS 38.321 clause 5.7).

use super::uplink::GRANT_TO_TRANSMISSION;

/// Settings in subframes (TS 36.331 clause 6.3.2, DRX-Config).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DrxConfig {
    /// onDurationTimer.
    pub on_duration: u64,
    /// drx-InactivityTimer.
    pub inactivity: u64,
    /// drx-RetransmissionTimer; in NR drx-RetransmissionTimerDL.
    pub retransmission: u64,
    /// Time in which a grant for an uplink retransmission may arrive: drx-RetransmissionTimerUL in NR, one subframe with
    /// LTE's synchronous HARQ.
    pub uplink_retransmission: u64,
    /// HARQ RTT timer: 8 in FDD (clause 7.7).
    pub harq_round_trip: u64,
    /// longDRX-Cycle.
    pub long_cycle: u64,
    /// drxStartOffset, below the long cycle.
    pub offset: u64,
    /// shortDRX-Cycle, and the number of short cycles in a row (drxShortCycleTimer).
    pub short: Option<(u64, u64)>,
}

/// Subframes in which a retransmission of a HARQ process may be announced; `until` is excluded.
#[derive(Clone, Copy, Debug)]
struct RetransmissionWindow {
    is_uplink: bool,
    process: usize,
    from: u64,
    until: u64,
}

/// DRX state of a UE: whether it listens to the control channel.
#[derive(Clone, Debug)]
pub struct Drx {
    config: DrxConfig,
    /// First subframe in which onDurationTimer and drx-InactivityTimer no longer run.
    on_until: u64,
    active_until: u64,
    /// First subframe in which the short cycle is no longer used.
    short_until: u64,
    retransmissions: Vec<RetransmissionWindow>,
    is_request_pending: bool,
}

impl Drx {
    /// Returns the state of a UE that uses the long cycle.
    pub fn new(config: DrxConfig) -> Self {
        Self {
            config,
            on_until: 0,
            active_until: 0,
            short_until: 0,
            retransmissions: Vec::new(),
            is_request_pending: false,
        }
    }

    /// Begins a subframe and returns whether it belongs to the active time. Call it once in each subframe, in order.
    pub fn start(&mut self, subframe: u64) -> bool {
        let config = self.config;
        if subframe == self.active_until
            && self.active_until > 0
            && let Some((cycle, count)) = config.short
        {
            self.short_until = subframe + cycle * count;
        }
        let cycle_starts = match config.short.filter(|_| subframe < self.short_until) {
            Some((cycle, _)) => subframe % cycle == config.offset % cycle,
            None => subframe % config.long_cycle == config.offset,
        };
        if cycle_starts {
            self.on_until = subframe + config.on_duration;
        }
        self.retransmissions
            .retain(|expected| subframe < expected.until);
        self.is_active(subframe)
    }

    fn is_active(&self, subframe: u64) -> bool {
        subframe < self.on_until
            || subframe < self.active_until
            || self.is_request_pending
            || self
                .retransmissions
                .iter()
                .any(|expected| expected.from <= subframe)
    }

    /// Handles a new transmission, of either direction, that the control channel announced in `subframe`.
    pub(crate) fn new_transmission(&mut self, subframe: u64) {
        self.active_until = subframe + 1 + self.config.inactivity;
    }

    /// Handles a downlink transmission in `subframe`. If it was not decoded, the UE listens when it may be retransmitted.
    pub(crate) fn received(&mut self, subframe: u64, process: usize, is_decoded: bool) {
        let from = subframe + self.config.harq_round_trip;
        let until = if is_decoded {
            0
        } else {
            from + self.config.retransmission
        };
        self.expect_retransmission(false, process, from, until);
    }

    /// Handles an uplink transmission in `subframe`. The UE does not know whether it is decoded, and listens when it may be
    /// retransmitted, unless it is the last attempt (`is_last`).
    pub(crate) fn sent(&mut self, subframe: u64, process: usize, is_last: bool) {
        let retransmission = subframe + self.config.harq_round_trip;
        let from = retransmission.saturating_sub(GRANT_TO_TRANSMISSION);
        let until = if is_last {
            0
        } else {
            from + self.config.uplink_retransmission
        };
        self.expect_retransmission(true, process, from, until);
    }

    /// Expects a retransmission of a process, in place of an earlier one.
    fn expect_retransmission(&mut self, is_uplink: bool, process: usize, from: u64, until: u64) {
        self.retransmissions
            .retain(|old| (old.is_uplink, old.process) != (is_uplink, process));
        if from < until {
            self.retransmissions.push(RetransmissionWindow {
                is_uplink,
                process,
                from,
                until,
            });
        }
    }

    /// Sets whether a scheduling request has been sent and is pending.
    pub(crate) fn set_request_pending(&mut self, is_pending: bool) {
        self.is_request_pending = is_pending;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: DrxConfig = DrxConfig {
        on_duration: 2,
        inactivity: 5,
        retransmission: 4,
        uplink_retransmission: 1,
        harq_round_trip: 8,
        long_cycle: 40,
        offset: 3,
        short: None,
    };

    fn active(drx: &mut Drx, span: core::ops::Range<u64>) -> Vec<u64> {
        span.filter(|&subframe| drx.start(subframe)).collect()
    }

    /// TS 36.321 clause 5.7: onDurationTimer starts where the subframe number modulo the long cycle
    /// is drxStartOffset.
    #[test]
    fn an_idle_ue_listens_at_the_start_of_each_long_cycle() {
        let mut drx = Drx::new(CONFIG);
        assert_eq!(active(&mut drx, 0..90), [3, 4, 43, 44, 83, 84]);
    }

    /// Same clause: a new transmission starts drx-InactivityTimer; data that was not decoded opens
    /// drx-RetransmissionTimer after the HARQ round trip.
    #[test]
    fn data_keep_the_ue_awake() {
        let mut drx = Drx::new(CONFIG);
        assert_eq!(active(&mut drx, 0..5), [3, 4]);
        drx.new_transmission(4);
        drx.received(4, 0, false);
        assert_eq!(active(&mut drx, 5..14), [5, 6, 7, 8, 9, 12, 13]);
        // The retransmission stops drx-RetransmissionTimer.
        drx.received(13, 0, true);
        assert_eq!(active(&mut drx, 14..43), [0_u64; 0]);
    }

    /// Same clause: the active time includes the time when "an uplink grant for a pending HARQ retransmission can occur
    /// and there is data in the corresponding HARQ buffer", which is flushed after the last attempt.
    #[test]
    fn the_ue_listens_when_an_uplink_retransmission_may_be_granted() {
        let mut drx = Drx::new(CONFIG);
        drx.sent(10, 0, false);
        drx.sent(11, 1, true);
        assert_eq!(active(&mut drx, 11..43), [14]);
    }

    /// TS 38.321 clause 5.7: each uplink transmission starts drx-HARQ-RTT-TimerUL, whose end starts
    /// drx-RetransmissionTimerUL.
    #[test]
    fn in_nr_each_uplink_transmission_opens_a_time_for_its_retransmission() {
        let mut drx = Drx::new(DrxConfig {
            uplink_retransmission: 4,
            ..CONFIG
        });
        drx.sent(10, 0, false);
        assert_eq!(active(&mut drx, 11..43), [14, 15, 16, 17]);
    }

    /// Same clause: when drx-InactivityTimer expires the short cycle is used for drxShortCycleTimer.
    #[test]
    fn short_cycles_follow_activity() {
        let mut drx = Drx::new(DrxConfig {
            short: Some((10, 2)),
            ..CONFIG
        });
        assert_eq!(active(&mut drx, 0..5), [3, 4]);
        drx.new_transmission(4);
        assert_eq!(
            active(&mut drx, 5..60),
            [5, 6, 7, 8, 9, 13, 14, 23, 24, 43, 44]
        );
    }

    #[test]
    fn a_pending_request_overrides_the_cycle() {
        let mut drx = Drx::new(CONFIG);
        drx.set_request_pending(true);
        assert_eq!(active(&mut drx, 0..3), [0, 1, 2]);
        drx.set_request_pending(false);
        assert_eq!(active(&mut drx, 3..4), [3]);
    }
}
