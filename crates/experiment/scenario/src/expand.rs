//! Expansion of a scenario's flows into sessions, and of the switches of their CCAs.

use std::borrow::Cow;

use units::{Duration, Instant};
use workload::{FlowPlan, ScheduledSwitch, SwitchSchedule};

use crate::model::{CcaChoice, Flow, Middlebox, Radio, Scenario};

impl Scenario {
    /// Returns the scenario with a flow for each node of those that end at all nodes of a UE.
    pub fn expand_flows(&self) -> Cow<'_, Self> {
        let pattern = |node: &str| node.ends_with(Radio::EACH);
        let spreads = |flow: &Flow| pattern(&flow.from) || pattern(&flow.to);
        if !self.flows.iter().any(spreads) {
            return Cow::Borrowed(self);
        }
        let flows = self.flows.iter().flat_map(|flow| self.expand_flow(flow));
        Cow::Owned(Self {
            flows: flows.collect(),
            ..self.clone()
        })
    }

    /// Returns the flows that an entry represents.
    fn expand_flow(&self, flow: &Flow) -> Vec<Flow> {
        let each = |node: &str| self.radio.as_ref().and_then(|radio| radio.each(node));
        let numbered = |number: u32| format!("{}-{number}", flow.name);
        let sent = each(&flow.from).into_iter().flatten().map(|from| Flow {
            from,
            ..flow.clone()
        });
        let received = each(&flow.to)
            .into_iter()
            .flatten()
            .map(|to| Flow { to, ..flow.clone() });
        let many = (1..).zip(sent.chain(received)).map(|(number, each)| Flow {
            name: numbered(number),
            ..each
        });
        let many: Vec<Flow> = many.collect();
        if many.is_empty() {
            vec![flow.clone()]
        } else {
            many
        }
    }

    /// Returns the sessions of the flows, which start `jitter` later than written.
    pub fn flow_plans(&self, jitter: Duration) -> impl Iterator<Item = FlowPlan<'_>> {
        self.flows.iter().map(move |flow| FlowPlan {
            workload: &flow.workload,
            opens: flow.opens.end(),
            start: Instant::ZERO + flow.start + jitter,
            start_spread: flow.start_spread.unwrap_or_default(),
            count: flow.count,
        })
    }

    /// Returns the kind of the TCP option by which servers hear what their far ends have (AS-TCP); `None` if they do not.
    pub fn far_ack_kind(&self) -> Option<u8> {
        let mut kinds = self.path.middleboxes.iter().map(Middlebox::far_ack_kind);
        kinds
            .find_map(|kind| kind)
            .filter(|_| self.tcp.far_acks != Some(false))
    }

    /// Returns whether servers understand explicit loss notifications, and there are any.
    pub fn has_eln(&self) -> bool {
        let mut kinds = self.path.middleboxes.iter().map(|middlebox| middlebox.kind);
        kinds.any(|kind| kind == middlebox::Kind::Eln) && self.tcp.eln != Some(false)
    }

    /// Returns the congestion controls of the flows and their changes.
    pub fn switches(&self) -> SwitchSchedule<CcaChoice> {
        let of_flows = self.flows.iter().enumerate();
        let due = of_flows.flat_map(|(flow, each)| {
            each.switch.iter().map(move |switch| ScheduledSwitch {
                at: Instant::ZERO + switch.at,
                flow,
                to: switch.to.clone(),
                mode: switch.mode,
            })
        });
        let first = self.flows.iter().map(|flow| flow.cca.clone());
        SwitchSchedule::new(first.collect(), due.collect())
    }
}
