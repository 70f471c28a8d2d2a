//! Changes of a path while a run goes on: another scenario that differs in its wires only, and interruptions.

use net::{Blackout, LinkCapacity, LinkConfig, LinkId, Topology};
use network_builder::{Plan, PlanError, Traces};
use scenario::Scenario;
use units::Duration;

use crate::{Session, SessionError};

/// Names of the fields that can change while a run goes on, for errors.
pub(crate) const CHANGEABLE: &str = "rates, delays, losses, blackouts and buffers of wires";

/// The wires of a run as they are now.
#[derive(Clone)]
pub(crate) struct Wires {
    scenario: Scenario,
    seed: u64,
    topology: Topology,
    /// The wires next to the phones.
    last: Vec<LinkId>,
    interruptions: Vec<Blackout>,
}

impl Wires {
    /// Keeps the wires of a plan, which was made from `scenario` and `seed`.
    pub(crate) fn new(scenario: &Scenario, seed: u64, plan: &Plan) -> Self {
        Self {
            scenario: scenario.clone(),
            seed,
            topology: plan.topology.clone(),
            last: last_wires(plan),
            interruptions: Vec::new(),
        }
    }

    /// Returns the wires of `scenario`.
    ///
    /// # Errors
    /// If it makes no path, or differs in more than can change.
    fn with_scenario(&self, scenario: &Scenario, traces: &Traces) -> Result<Self, SessionError> {
        if !differs_in_wires_only(&self.scenario, scenario) {
            return Err(SessionError::Change);
        }
        let plan = Plan::new(&scenario.expand_flows(), traces, self.seed)?;
        let mut changed = Self::new(scenario, self.seed, &plan);
        for interruption in &self.interruptions {
            changed.interrupt(interruption.clone());
        }
        let is_possible = self.topology.changed_links(&changed.topology).is_some();
        is_possible.then_some(changed).ok_or(SessionError::Change)
    }

    /// Lets nothing pass in this time.
    fn interrupt(&mut self, interruption: Blackout) {
        for link in &self.last {
            let blackouts = &mut self.topology.links[link.0 as usize].blackouts;
            blackouts.push(interruption.clone());
            *blackouts = merged(core::mem::take(blackouts));
        }
        self.interruptions.push(interruption);
    }
}

impl Session {
    /// Goes over to the last of `steps`, scenarios each of which differs from the one before in its wires only, at the
    /// time of the last call. Middleboxes do not expect the outages of other capacities.
    ///
    /// # Errors
    /// If one differs in anything else, or makes no path. Nothing has changed then.
    pub fn change(&mut self, steps: &[(&Scenario, &Traces)]) -> Result<(), SessionError> {
        let mut changed = self.wires.clone();
        for (scenario, traces) in steps {
            changed = changed.with_scenario(scenario, traces)?;
        }
        Ok(self.take_over(changed)?)
    }

    /// Lets nothing pass the wires next to the phones for `duration` from the time of the last call on: what they
    /// transmit is lost.
    ///
    /// # Errors
    /// If there is no such wire, or no time.
    pub fn interrupt(&mut self, duration: Duration) -> Result<(), SessionError> {
        if self.wires.last.is_empty() || duration.is_zero() {
            return Err(SessionError::Interruption);
        }
        let mut changed = self.wires.clone();
        let at = self.now().since_start();
        changed.interrupt(Blackout { at, duration });
        Ok(self.take_over(changed)?)
    }

    fn take_over(&mut self, changed: Wires) -> Result<(), PlanError> {
        let links = self.wires.topology.changed_links(&changed.topology);
        let (links, now) = (links.unwrap_or_default(), self.now());
        let path = self.path.path();
        path.change_wires(now, &links, &changed.topology, &changed.scenario)?;
        self.wires = changed;
        Ok(())
    }
}

/// Returns whether two scenarios differ at most in the section of the path and in links, and not in middleboxes.
fn differs_in_wires_only(before: &Scenario, after: &Scenario) -> bool {
    let mut taken_over = before.clone();
    taken_over.path.clone_from(&after.path);
    taken_over.links.clone_from(&after.links);
    taken_over == *after && before.path.middleboxes == after.path.middleboxes
}

/// Returns the access links, or the wires that lead to the base station and from it.
fn last_wires(plan: &Plan) -> Vec<LinkId> {
    let links = &plan.topology.links;
    let has_radio = plan.topology.radio.is_some();
    let is_wire = |link: &LinkConfig| !matches!(link.capacity, LinkCapacity::Radio { .. });
    let mut result = Vec::new();
    for access in &plan.access {
        let station = links[access.down.0 as usize].from;
        for (id, link) in (0..).map(LinkId).zip(links) {
            let is_access = id == access.down || id == access.up;
            let is_last = is_access || has_radio && (link.to == station || link.from == station);
            if is_wire(link) && is_last && !result.contains(&id) {
                result.push(id);
            }
        }
    }
    result
}

/// Returns times in order, of which those that meet are one.
fn merged(mut all: Vec<Blackout>) -> Vec<Blackout> {
    all.sort_by_key(|each| each.at);
    let mut result: Vec<Blackout> = Vec::new();
    for each in all {
        match result.last_mut() {
            Some(last) if each.at <= last.at + last.duration => {
                let end = (last.at + last.duration).max(each.at + each.duration);
                last.duration = end - last.at;
            }
            _ => result.push(each),
        }
    }
    result
}
