//! Discontinuous reception (TS 36.321 clause 5.7).

/// Settings in subframes (TS 36.331 clause 6.3.2, DRX-Config).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DrxConfig {
    /// onDurationTimer.
    pub on_duration: u64,
    /// drx-InactivityTimer.
    pub inactivity: u64,
    /// drx-RetransmissionTimer.
    pub retransmission: u64,
    /// HARQ RTT timer: 8 in FDD (clause 7.7).
    pub harq_round_trip: u64,
    /// longDRX-Cycle.
    pub long_cycle: u64,
    /// drxStartOffset, below the long cycle.
    pub offset: u64,
    /// shortDRX-Cycle, and for how many of them it is used (drxShortCycleTimer).
    pub short: Option<(u64, u64)>,
}

/// DRX state of a UE: whether it listens to the control channel.
#[derive(Clone, Debug)]
pub struct Drx {
    config: DrxConfig,
    /// First subframe in which each timer no longer runs.
    on_until: u64,
    active_until: u64,
    /// First subframe in which the short cycle is no longer used.
    short_until: u64,
    /// Spans in which retransmissions may come.
    retransmissions: Vec<(u64, u64)>,
    request_pending: bool,
}

impl Drx {
    /// Returns a UE that has been inactive for long.
    pub fn new(config: DrxConfig) -> Self {
        Self {
            config,
            on_until: 0,
            active_until: 0,
            short_until: 0,
            retransmissions: Vec::new(),
            request_pending: false,
        }
    }

    /// Begins a subframe and returns whether it belongs to the active time. Call it once in each subframe, in order.
    pub fn start(&mut self, subframe: u64) -> bool {
        let config = self.config;
        if subframe == self.active_until && self.active_until > 0 {
            self.enter_short_cycle(subframe);
        }
        let phase_starts = match config.short.filter(|_| subframe < self.short_until) {
            Some((cycle, _)) => subframe % cycle == config.offset % cycle,
            None => subframe % config.long_cycle == config.offset,
        };
        if phase_starts {
            self.on_until = subframe + config.on_duration;
        }
        self.retransmissions.retain(|&(_, until)| subframe < until);
        self.is_active(subframe)
    }

    fn enter_short_cycle(&mut self, subframe: u64) {
        if let Some((cycle, count)) = self.config.short {
            self.short_until = subframe + cycle * count;
        }
    }

    fn is_active(&self, subframe: u64) -> bool {
        subframe < self.on_until
            || subframe < self.active_until
            || self.request_pending
            || self
                .retransmissions
                .iter()
                .any(|&(from, _)| from <= subframe)
    }

    /// Notes that the control channel announced a new transmission in `subframe`.
    pub(crate) fn new_transmission(&mut self, subframe: u64) {
        self.active_until = subframe + 1 + self.config.inactivity;
    }

    /// Notes that a downlink transmission in `subframe` was not decoded; the UE listens when it may be repeated.
    pub(crate) fn not_decoded(&mut self, subframe: u64) {
        let from = subframe + self.config.harq_round_trip;
        self.retransmissions
            .push((from, from + self.config.retransmission));
    }

    /// Sets whether a scheduling request is pending.
    pub(crate) fn set_request_pending(&mut self, pending: bool) {
        self.request_pending = pending;
    }

    /// Ends the running phase, as a DRX command demands (clause 6.1.3.3).
    pub fn command(&mut self, subframe: u64) {
        self.on_until = subframe;
        self.active_until = 0;
        self.enter_short_cycle(subframe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: DrxConfig = DrxConfig {
        on_duration: 2,
        inactivity: 5,
        retransmission: 4,
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
    fn an_idle_user_listens_at_the_start_of_each_long_cycle() {
        let mut drx = Drx::new(CONFIG);
        assert_eq!(active(&mut drx, 0..90), [3, 4, 43, 44, 83, 84]);
    }

    /// Same clause: a new transmission starts drx-InactivityTimer; data that was not decoded opens
    /// drx-RetransmissionTimer after the HARQ round trip.
    #[test]
    fn data_keeps_the_user_awake() {
        let mut drx = Drx::new(CONFIG);
        assert_eq!(active(&mut drx, 0..5), [3, 4]);
        drx.new_transmission(4);
        drx.not_decoded(4);
        assert_eq!(active(&mut drx, 5..43), [5, 6, 7, 8, 9, 12, 13, 14, 15]);
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
    fn a_pending_request_and_a_command_override_the_cycle() {
        let mut drx = Drx::new(CONFIG);
        drx.set_request_pending(true);
        assert_eq!(active(&mut drx, 0..3), [0, 1, 2]);
        drx.set_request_pending(false);
        assert_eq!(active(&mut drx, 3..4), [3]);
        drx.command(4);
        assert_eq!(active(&mut drx, 4..43), [0_u64; 0]);
    }
}
