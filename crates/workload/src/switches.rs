//! The scheduled changes of congestion controls of a scenario.

use cca::Takeover;
use scenario::{CcaChoice, Scenario};
use units::Instant;

/// A change that is due.
#[derive(Clone, PartialEq, Debug)]
pub struct Due {
    /// Time of the change.
    pub at: Instant,
    /// Number of the flow in the scenario.
    pub flow: usize,
    /// Congestion control that takes over.
    pub to: CcaChoice,
    /// Kind of takeover.
    pub how: Takeover,
}

/// Which congestion control each flow has, over time.
#[derive(Clone, Debug)]
pub struct Switches {
    /// Latest first.
    due: Vec<Due>,
    present: Vec<CcaChoice>,
}

impl Switches {
    /// Those of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let of_flows = scenario.flows.iter().enumerate();
        let mut due: Vec<Due> = of_flows
            .flat_map(|(flow, each)| {
                each.switch.iter().map(move |switch| Due {
                    at: Instant::ZERO + switch.at,
                    flow,
                    to: switch.to.clone(),
                    how: switch.how,
                })
            })
            .collect();
        due.sort_by_key(|due| core::cmp::Reverse((due.at, due.flow)));
        Self {
            due,
            present: scenario.flows.iter().map(|flow| flow.cca.clone()).collect(),
        }
    }

    /// When the next one is due; [`Instant::NEVER`] if none is.
    pub fn next_at(&self) -> Instant {
        self.due.last().map_or(Instant::NEVER, |due| due.at)
    }

    /// The next that is due until `now`; from here on new connections of its flow have it.
    pub fn pop(&mut self, now: Instant) -> Option<Due> {
        let due = self.due.pop_if(|due| due.at <= now)?;
        self.present[due.flow] = due.to.clone();
        Some(due)
    }

    /// The congestion control of new connections of a flow.
    pub fn present(&self, flow: usize) -> &CcaChoice {
        &self.present[flow]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    #[test]
    fn switches_come_in_the_order_of_time_and_last() {
        let text = r#"
            [[flows]]
            switch = [{ at = "20s", to = "bbr" }, { at = "40s", to = "reno", how = "kernel" }]
            [[flows]]
            switch = [{ at = "30s", to = "vegas" }]
        "#;
        let scenario = Scenario::from_toml(text, "test", &[]).unwrap();
        let mut switches = Switches::new(&scenario);
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        assert_eq!(switches.next_at(), at(20));
        assert_eq!(switches.pop(at(19)), None);
        assert_eq!(switches.present(0).name, "cubic");
        let due = switches.pop(at(20)).unwrap();
        assert_eq!(
            (due.flow, due.to.name, due.how),
            (0, "bbr", Takeover::Context)
        );
        assert_eq!(switches.present(0).name, "bbr");
        assert_eq!(switches.pop(at(60)).unwrap().flow, 1);
        assert_eq!(switches.pop(at(60)).unwrap().how, Takeover::Kernel);
        assert_eq!(switches.next_at(), Instant::NEVER);
    }
}
