//! Job of the guest, from a scenario.

use std::io;
use std::path::Path;

use byte_path::route_min_rto_ms;
use kernel_protocol::{GuestFlow, GuestJob, GuestSwitch, Job};
use network_builder::Plan;
use scenario::{Flow, Samples, Scenario};
use units::Duration;

use crate::settings::kernel_settings;

/// Interval of samples in place of one per ACK, which sockets do not offer.
const DENSE_INTERVAL: Duration = Duration::from_millis(1);

/// Returns the job of a scenario; an error names the setting that the kernel does not support.
pub(crate) fn guest_job(scenario: &Scenario, plan: &Plan, job: &Job) -> io::Result<GuestJob> {
    let mut files = scenario.selection.clone();
    for name in scenario
        .flows
        .iter()
        .filter_map(|flow| flow.workload.file())
    {
        let text = job.files.get(&Path::new(&job.directory).join(name));
        files.insert(name.to_owned(), text.cloned().unwrap_or_default());
    }
    let min_rtos = plan.min_rtos(&scenario.tcp).into_iter();
    let flows = scenario.flows.iter();
    let flows = flows.map(|flow| guest_flow(flow, plan.start_jitter, scenario.tcp.nodelay));
    Ok(GuestJob {
        seed: job.seed,
        duration_ns: scenario.duration.as_nanos(),
        slot_ns: scenario.slot.as_nanos(),
        sampling_ns: match scenario.samples {
            Samples::Off => None,
            Samples::EveryAck => Some(DENSE_INTERVAL.as_nanos()),
            Samples::Interval(interval) => Some(interval.as_nanos()),
        },
        hosts: plan.topology.nodes.clone(),
        min_rtos_ms: min_rtos.map(route_min_rto_ms).collect(),
        settings: kernel_settings(scenario, job.memory).map_err(io::Error::other)?,
        flows: flows.collect::<io::Result<_>>()?,
        files,
    })
}

fn guest_flow(flow: &Flow, start_jitter: Duration, nodelay: Option<bool>) -> io::Result<GuestFlow> {
    let switches = flow.switch.iter().map(|switch| GuestSwitch {
        at_ns: switch.at.as_nanos(),
        to: switch.to.to_string(),
        mode: switch.mode,
    });
    Ok(GuestFlow {
        name: flow.name.clone(),
        from: flow.from.clone(),
        to: flow.to.clone(),
        opens: flow.opens,
        start_ns: (flow.start + start_jitter).as_nanos(),
        start_spread_ns: flow.start_spread.unwrap_or_default().as_nanos(),
        count: flow.count,
        workload: serde_json::to_string(&flow.workload)?,
        nodelay: flow.sends_at_once(nodelay),
        max_pacing_rate: flow
            .max_pacing_rate
            .map(|cap| cap.bits_per_second().div_ceil(8)),
        cca: flow.cca.to_string(),
        switches: switches.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the guest is to set `TCP_NODELAY` for a workload, with fields of the flow.
    fn nodelay(workload: &str, flow_fields: &str, tcp_nodelay: Option<bool>) -> bool {
        let kind = format!("{{ {flow_fields} workload = {{ {workload} }} }}");
        let text = format!("path.down.rate = '10Mbit/s'\nflows = [{kind}]");
        let scenario = Scenario::from_toml(&text, "one", &[]).unwrap();
        guest_flow(&scenario.flows[0], Duration::ZERO, tcp_nodelay)
            .unwrap()
            .nodelay
    }

    #[test]
    fn sockets_of_the_guest_have_the_cap_of_the_pacing_rate_in_bytes() {
        let text = "path.down.rate = '10Mbit/s'\nflows = [{ max_pacing_rate = '8Mbit/s' }]";
        let scenario = Scenario::from_toml(text, "one", &[]).unwrap();
        let flow = guest_flow(&scenario.flows[0], Duration::ZERO, None).unwrap();
        assert_eq!(flow.max_pacing_rate, Some(1_000_000));
    }

    #[test]
    fn sockets_of_the_guest_have_nodelay_where_the_application_sets_it() {
        for at_once in [
            "kind = 'frames'",
            "kind = 'request-response'",
            "kind = 'page', multiplexed = true",
        ] {
            assert!(nodelay(at_once, "", None), "{at_once}");
            assert!(!nodelay(at_once, "nodelay = false,", None), "{at_once}");
            assert!(!nodelay(at_once, "", Some(false)), "{at_once}");
        }
        for held in ["kind = 'bulk'", "kind = 'page'", "kind = 'on-off'"] {
            assert!(!nodelay(held, "", None), "{held}");
            assert!(nodelay(held, "nodelay = true,", Some(false)), "{held}");
            assert!(nodelay(held, "", Some(true)), "{held}");
        }
    }
}
