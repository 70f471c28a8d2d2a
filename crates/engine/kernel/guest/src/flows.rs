//! Flows: sessions, switches and selectors, from a job.

use std::io;

use kernel_protocol::{GuestFlow, GuestJob};
use selection::{CcaChoice, Selectors};
use units::{Duration, Instant};
use workload::{FlowPlan, ScheduledSwitch, Sessions, SwitchSchedule, Workload};

/// Returns the workload of a flow, with its file if it names one.
fn workload(job: &GuestJob, flow: &GuestFlow) -> io::Result<Workload> {
    let mut workload: Workload = serde_json::from_str(&flow.workload)?;
    let text = |name: &str| job.files.get(name).cloned().unwrap_or_default();
    let loaded = workload.load(|name| Ok((name.to_owned(), text(name))));
    loaded.map_err(|error| io::Error::other(error.to_string()))?;
    Ok(workload)
}

/// Returns the sessions of the flows.
pub(crate) fn sessions(job: &GuestJob) -> io::Result<Sessions> {
    let workloads: Vec<Workload> = job
        .flows
        .iter()
        .map(|flow| workload(job, flow))
        .collect::<io::Result<_>>()?;
    let plans = job.flows.iter().zip(&workloads);
    let plans = plans.map(|(flow, workload)| FlowPlan {
        workload,
        opens: flow.opens.end(),
        start: instant(flow.start_ns),
        start_spread: Duration::from_nanos(flow.start_spread_ns),
        count: flow.count,
    });
    Ok(Sessions::new(plans, job.seed))
}

/// Returns the congestion controls of the flows and their changes.
pub(crate) fn switches(job: &GuestJob) -> io::Result<SwitchSchedule<CcaChoice>> {
    let read = |cca: &str| cca.parse().map_err(io::Error::other);
    let (mut first, mut due) = (Vec::new(), Vec::new());
    for (number, flow) in job.flows.iter().enumerate() {
        first.push(read(&flow.cca)?);
        for switch in &flow.switches {
            due.push(ScheduledSwitch {
                at: instant(switch.at_ns),
                flow: number,
                to: read(&switch.to)?,
                mode: switch.mode,
            });
        }
    }
    Ok(SwitchSchedule::new(first, due))
}

/// Returns the selectors of the flows whose congestion control is selected.
pub(crate) fn selectors(
    job: &GuestJob,
    switches: &SwitchSchedule<CcaChoice>,
) -> io::Result<Selectors> {
    let flows = job.flows.iter().enumerate();
    let flows = flows.map(|(number, flow)| {
        let auto = switches.current(number).auto();
        (flow.name.as_str(), auto)
    });
    let selectors = Selectors::new(flows, &job.files, job.seed).map_err(io::Error::other)?;
    Ok(selectors.for_kernel())
}

fn instant(ns: u64) -> Instant {
    Instant::ZERO + Duration::from_nanos(ns)
}
