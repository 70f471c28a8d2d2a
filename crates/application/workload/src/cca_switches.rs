//! Schedule of the switches of the CCAs of flows.

use cca::SwitchMode;
use units::Instant;

/// Scheduled switch; `C` is a choice of a CCA.
#[derive(Clone, PartialEq, Debug)]
pub struct ScheduledSwitch<C> {
    /// Time of the switch.
    pub at: Instant,
    /// Index of the flow.
    pub flow: usize,
    /// CCA after the switch.
    pub to: C,
    /// Mode of the switch.
    pub mode: SwitchMode,
}

/// Schedule of switches, with the CCA that new connections of each flow start with.
#[derive(Clone, Debug)]
pub struct SwitchSchedule<C> {
    /// Switches that are still to come, the latest first.
    pending: Vec<ScheduledSwitch<C>>,
    /// CCA of new connections, by flow.
    current: Vec<C>,
}

impl<C: Clone> SwitchSchedule<C> {
    /// Returns the schedule of flows that begin with these CCAs.
    pub fn new(first: Vec<C>, mut pending: Vec<ScheduledSwitch<C>>) -> Self {
        pending.sort_by_key(|switch| core::cmp::Reverse((switch.at, switch.flow)));
        Self {
            pending,
            current: first,
        }
    }

    /// Returns when the next switch is due; [`Instant::NEVER`] if none is left.
    pub fn next_at(&self) -> Instant {
        self.pending
            .last()
            .map_or(Instant::NEVER, |switch| switch.at)
    }

    /// Removes and returns the next switch due by `now`; new connections of its flow then start with its CCA.
    pub fn pop(&mut self, now: Instant) -> Option<ScheduledSwitch<C>> {
        let switch = self.pending.pop_if(|switch| switch.at <= now)?;
        self.current[switch.flow] = switch.to.clone();
        Some(switch)
    }

    /// Returns the CCA of new connections of a flow.
    pub fn current(&self, flow: usize) -> &C {
        &self.current[flow]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    #[test]
    fn switches_pop_in_time_order_and_stay_in_effect() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let switch = |seconds, flow, to, mode| ScheduledSwitch {
            at: at(seconds),
            flow,
            to,
            mode,
        };
        let mut switches = SwitchSchedule::new(
            vec!["cubic", "cubic"],
            vec![
                switch(20, 0, "bbr", SwitchMode::Context),
                switch(40, 0, "reno", SwitchMode::Kernel),
                switch(30, 1, "vegas", SwitchMode::Context),
            ],
        );
        assert_eq!(switches.next_at(), at(20));
        assert_eq!(switches.pop(at(19)), None);
        assert_eq!(*switches.current(0), "cubic");
        let first = switches.pop(at(20)).unwrap();
        assert_eq!(
            (first.flow, first.to, first.mode),
            (0, "bbr", SwitchMode::Context)
        );
        assert_eq!(*switches.current(0), "bbr");
        assert_eq!(switches.pop(at(60)).unwrap().flow, 1);
        assert_eq!(switches.pop(at(60)).unwrap().mode, SwitchMode::Kernel);
        assert_eq!(switches.next_at(), Instant::NEVER);
    }
}
