//! Middleboxes of a run, built from a scenario.

use std::sync::Arc;

use cca::{BuiltCca, cca_by_name};
use middlebox::{
    AckRegulator, AckSemantics, EgressQueue, Eln, Freeze, Kind, Middlebox as Settings,
    ResetTracker, RunDefaults, Snoop, SplitHost,
};
use net::{HostId, Queue};
use scenario::{DEFAULT_CCA, Scenario};
use tcp::TcpConfig;

use crate::plan::{Middlebox, Plan, PlanError};

/// Returns the middleboxes of `scenario` on the path of `plan`, in the run with `seed`.
///
/// # Errors
/// If a flow ends at an unknown node.
pub(crate) fn middleboxes(
    scenario: &Scenario,
    plan: &Plan,
    seed: u64,
) -> Result<Vec<Middlebox>, PlanError> {
    let mut of_flows = Vec::with_capacity(scenario.flows.len());
    for flow in &scenario.flows {
        let selected = flow.cca.fixed_cca().is_none();
        let cca = (!selected).then(|| flow.cca.to_string());
        of_flows.push((plan.ends(flow)?, cca));
    }
    let of_flows = Arc::new(of_flows);
    let boxes = scenario.path.middleboxes.iter().map(|settings| {
        let own = settings.cca.clone();
        let of_flows = Arc::clone(&of_flows);
        let defaults = RunDefaults {
            tcp: TcpConfig::new(scenario.tcp.clone(), scenario.path.path_mtu()),
            seed,
            cca: Arc::new(move |one, other| build(own.as_deref(), &of_flows, (one, other))),
        };
        let settings = settings.clone();
        let egress_queues = egress_queues(plan);
        let mobiles: Vec<HostId> = egress_queues.iter().map(|queue| queue.host).collect();
        Middlebox {
            node: settings.node().to_owned(),
            ack_semantics: ack_semantics(scenario, &settings),
            build: Arc::new(move || match settings.kind {
                Kind::Snoop => Box::new(Snoop::new(&settings, egress_queues.clone())),
                Kind::Eln => Box::new(Eln::new(egress_queues.clone())),
                Kind::Freeze => Box::new(Freeze::new(&settings, mobiles.clone())),
                Kind::AckRegulator => Box::new(AckRegulator::new(egress_queues.clone())),
                Kind::ResetTracker => Box::new(ResetTracker::new(&settings, mobiles.clone())),
                Kind::Split | Kind::Es | Kind::As | Kind::Mtcp | Kind::MtcpPlus | Kind::Pam => {
                    Box::new(SplitHost::new(&settings, defaults.clone()))
                }
            }),
        }
    });
    Ok(boxes.collect())
}

/// Returns the hosts behind the wireless link, with the limits of the queues towards them.
fn egress_queues(plan: &Plan) -> Vec<EgressQueue> {
    let access = plan.access.iter();
    let egress_queues = access.map(|access| {
        let queue = &plan.topology.links[access.down.0 as usize].queue;
        EgressQueue {
            host: access.ue,
            limit: queue.limit,
            is_droptail: queue.discipline == Queue::Droptail,
        }
    });
    egress_queues.collect()
}

/// Returns what ACKs mean to the server: AS-TCP falls back to ES-TCP for servers without its option.
fn ack_semantics(scenario: &Scenario, settings: &Settings) -> AckSemantics {
    if settings.kind == Kind::As && scenario.far_ack_kind().is_none() {
        return AckSemantics::PerConnection;
    }
    settings.kind.ack_semantics()
}

/// Hosts of a flow, and its CCA; `None` if it is selected at run time.
type FlowCca = ((HostId, HostId), Option<String>);

/// Builds the CCA of a split host for a connection between two hosts: its own one, or that of the flow between them.
fn build(own: Option<&str>, of_flows: &[FlowCca], (one, other): (HostId, HostId)) -> BuiltCca {
    let of_flow = of_flows
        .iter()
        .find(|(ends, _)| *ends == (one, other) || *ends == (other, one))
        .and_then(|(_, cca)| cca.as_deref());
    let built = cca_by_name(own.or(of_flow).unwrap_or(DEFAULT_CCA));
    built.unwrap_or_else(|error| unreachable!("a scenario is checked where it is read: {error}"))
}
