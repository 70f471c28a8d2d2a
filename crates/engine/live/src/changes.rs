//! Changes of a path while a run goes on: another scenario that differs in its wires only, and interruptions.

use net::{Blackout, LinkCapacity, LinkConfig, LinkId, Topology};
use network_builder::{Plan, Traces};
use scenario::Scenario;
use units::Duration;

use crate::Session;

/// Error of a change of other fields.
const UNCHANGEABLE: &str = "it cannot change while a run goes on; allowed: rates, delays, losses, blackouts and \
                            buffers of wires";

/// The wires of a run as they are now.
#[derive(Clone)]
pub(crate) struct Wires {
    scenario: Scenario,
    seed: u64,
    topology: Topology,
    /// The wires next to the phones.
    access: Vec<LinkId>,
    interruptions: Vec<Blackout>,
}

impl Wires {
    /// Keeps the wires of a plan, which was made from `scenario` and `seed`.
    pub(crate) fn new(scenario: &Scenario, seed: u64, plan: &Plan) -> Self {
        Self {
            scenario: scenario.clone(),
            seed,
            topology: plan.topology.clone(),
            access: access_wires(plan),
            interruptions: Vec::new(),
        }
    }

    /// Returns the wires of `scenario`; fails if it differs in more than can change.
    fn with_scenario(&self, scenario: &Scenario, traces: &Traces) -> Result<Self, String> {
        if !differs_in_wires_only(&self.scenario, scenario) {
            return Err(UNCHANGEABLE.to_owned());
        }
        let plan = Plan::new(&scenario.expand_flows(), traces, self.seed);
        let plan = plan.map_err(|error| error.to_string())?;
        let mut changed = Self::new(scenario, self.seed, &plan);
        for interruption in &self.interruptions {
            changed.interrupt(interruption.clone());
        }
        let is_possible = self.topology.changed_links(&changed.topology).is_some();
        is_possible
            .then_some(changed)
            .ok_or(UNCHANGEABLE.to_owned())
    }

    /// Lets nothing pass in this time.
    fn interrupt(&mut self, interruption: Blackout) {
        for link in &self.access {
            let blackouts = &mut self.topology.links[link.0 as usize].blackouts;
            blackouts.push(interruption.clone());
            *blackouts = merge_blackouts(core::mem::take(blackouts));
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
    pub fn change(&mut self, steps: &[(&Scenario, &Traces)]) -> Result<(), String> {
        let mut changed = self.wires.clone();
        for (scenario, traces) in steps {
            changed = changed.with_scenario(scenario, traces)?;
        }
        self.apply(changed)
    }

    /// Lets nothing pass the wires next to the phones for `duration` from the time of the last call on: what they
    /// transmit is lost.
    ///
    /// # Errors
    /// If there is no such wire, or no time.
    pub fn interrupt(&mut self, duration: Duration) -> Result<(), String> {
        if self.wires.access.is_empty() || duration.is_zero() {
            let allowed = "a time above 0 s, in a scenario with a wire";
            return Err(format!("outage: nothing to interrupt; allowed: {allowed}"));
        }
        let mut changed = self.wires.clone();
        let at = self.now().since_start();
        changed.interrupt(Blackout { at, duration });
        self.apply(changed)
    }

    fn apply(&mut self, changed: Wires) -> Result<(), String> {
        let links = self.wires.topology.changed_links(&changed.topology);
        let (links, now) = (links.unwrap_or_default(), self.now());
        let path = self.path.path();
        path.change_wires(now, &links, &changed.topology, &changed.scenario)
            .map_err(|error| error.to_string())?;
        self.wires = changed;
        Ok(())
    }
}

/// Returns whether two scenarios differ at most in the section of the path and in links, and not in middleboxes.
fn differs_in_wires_only(before: &Scenario, after: &Scenario) -> bool {
    let mut changed = before.clone();
    changed.path.clone_from(&after.path);
    changed.links.clone_from(&after.links);
    changed == *after && before.path.middleboxes == after.path.middleboxes
}

/// Returns the access links, or the wires that lead to the base station and from it.
fn access_wires(plan: &Plan) -> Vec<LinkId> {
    let links = &plan.topology.links;
    let has_radio = plan.topology.radio.is_some();
    let is_wire = |link: &LinkConfig| !matches!(link.capacity, LinkCapacity::Radio { .. });
    let mut result = Vec::new();
    for access in &plan.access {
        let station = links[access.down.0 as usize].from;
        for (id, link) in (0..).map(LinkId).zip(links) {
            let is_access = id == access.down || id == access.up;
            let is_next = is_access || has_radio && (link.to == station || link.from == station);
            if is_wire(link) && is_next && !result.contains(&id) {
                result.push(id);
            }
        }
    }
    result
}

/// Sorts blackouts, and merges those that overlap or follow each other without a gap.
fn merge_blackouts(mut blackouts: Vec<Blackout>) -> Vec<Blackout> {
    blackouts.sort_by_key(|blackout| blackout.at);
    let mut result: Vec<Blackout> = Vec::new();
    for next in blackouts {
        match result.last_mut() {
            Some(last) if next.at <= last.at + last.duration => {
                let end = (last.at + last.duration).max(next.at + next.duration);
                last.duration = end - last.at;
            }
            _ => result.push(next),
        }
    }
    result
}
