//! Switches: the scheduled changes of the congestion controls of flows.

use cca::SwitchMode;
use units::Instant;

/// A change that is due; `C` is a choice of a congestion control.
#[derive(Clone, PartialEq, Debug)]
pub struct ScheduledSwitch<C> {
    /// Time of the change.
    pub at: Instant,
    /// Number of the flow.
    pub flow: usize,
    /// Congestion control that takes over.
    pub to: C,
    /// Mode of the switch.
    pub mode: SwitchMode,
}

/// The congestion controls of new connections, by flow, and their changes over time.
#[derive(Clone, Debug)]
pub struct Switches<C> {
    /// Changes that are still to come, the latest first.
    due: Vec<ScheduledSwitch<C>>,
    present: Vec<C>,
}

impl<C: Clone> Switches<C> {
    /// Returns the switches of flows with these first congestion controls.
    pub fn new(first: Vec<C>, mut due: Vec<ScheduledSwitch<C>>) -> Self {
        due.sort_by_key(|due| core::cmp::Reverse((due.at, due.flow)));
        Self {
            due,
            present: first,
        }
    }

    /// Returns when the next change is due; [`Instant::NEVER`] if none is.
    pub fn next_at(&self) -> Instant {
        self.due.last().map_or(Instant::NEVER, |due| due.at)
    }

    /// Returns the next change that is due until `now`; new connections of its flow have it from then on.
    pub fn pop(&mut self, now: Instant) -> Option<ScheduledSwitch<C>> {
        let due = self.due.pop_if(|due| due.at <= now)?;
        self.present[due.flow] = due.to.clone();
        Some(due)
    }

    /// Returns the congestion control of new connections of a flow.
    pub fn present(&self, flow: usize) -> &C {
        &self.present[flow]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    #[test]
    fn switches_come_in_the_order_of_time_and_last() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let due = |seconds, flow, to, mode| ScheduledSwitch {
            at: at(seconds),
            flow,
            to,
            mode,
        };
        let mut switches = Switches::new(
            vec!["cubic", "cubic"],
            vec![
                due(20, 0, "bbr", SwitchMode::Context),
                due(40, 0, "reno", SwitchMode::Kernel),
                due(30, 1, "vegas", SwitchMode::Context),
            ],
        );
        assert_eq!(switches.next_at(), at(20));
        assert_eq!(switches.pop(at(19)), None);
        assert_eq!(*switches.present(0), "cubic");
        let due = switches.pop(at(20)).unwrap();
        assert_eq!(
            (due.flow, due.to, due.mode),
            (0, "bbr", SwitchMode::Context)
        );
        assert_eq!(*switches.present(0), "bbr");
        assert_eq!(switches.pop(at(60)).unwrap().flow, 1);
        assert_eq!(switches.pop(at(60)).unwrap().mode, SwitchMode::Kernel);
        assert_eq!(switches.next_at(), Instant::NEVER);
    }
}
