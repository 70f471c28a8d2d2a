//! Job of the guest, from a scenario.

use std::io;
use std::path::Path;

use path::Plan;
use scenario::{CcaChoice, Flow, Samples, Scenario};
use sidechannel::{GuestCca, GuestFlow, GuestJob, GuestSwitch, Job};
use units::Duration;

use crate::settings;

/// Interval that stands for a sample per ACK, which cannot be had from sockets.
const DENSE_INTERVAL: Duration = Duration::from_millis(1);

/// Returns the job of a scenario; an error names the setting that the kernel does not take.
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
        settings: settings::of(scenario, job.memory).map_err(io::Error::other)?,
        flows: flows.collect::<io::Result<_>>()?,
        files,
    })
}

fn guest_flow(flow: &Flow, start_jitter: Duration, nodelay: bool) -> io::Result<GuestFlow> {
    let switches = flow.switch.iter().map(|switch| GuestSwitch {
        at_ns: switch.at.as_nanos(),
        to: guest_cca(&switch.to),
        how: switch.how,
    });
    Ok(GuestFlow {
        name: flow.name.clone(),
        from: flow.from.clone(),
        to: flow.to.clone(),
        opens: flow.opens,
        start_ns: (flow.start + start_jitter).as_nanos(),
        count: flow.count,
        workload: serde_json::to_string(&flow.workload)?,
        nodelay: flow.nodelay.unwrap_or(nodelay),
        cca: guest_cca(&flow.cca),
        switches: switches.collect(),
    })
}

fn guest_cca(choice: &CcaChoice) -> GuestCca {
    GuestCca {
        name: choice.name.to_owned(),
        settings: choice.settings(),
        label: choice.to_string(),
    }
}
