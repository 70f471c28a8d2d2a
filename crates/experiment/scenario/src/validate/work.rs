//! Check that a run ends in an acceptable time: an estimate of its events.
//!
//! The estimate is an upper bound where the scenario gives one. Events of cross-traffic, of radio intervals and of
//! application timers are known, and connections send no more than their windows and the access link allow. The capacity
//! of traces and of the radio is not known before the run; [`CELLULAR`] is assumed.

use config::{
    Cross, FieldContext, FieldError, Measure, Quantity, check_number, check_positive, invalid_value,
};
use units::{Bytes, Duration, Rate};
use workload::Workload;

use crate::model::{Flow, Scenario};

/// Events of a connection that sends next to nothing: handshake, timers, rows.
const OF_CONNECTION: f64 = 100.0;
/// Events of a packet of a flow on its way, with its ACK.
const OF_PACKET: f64 = 4.0;
/// Mean rate of an access link that is a trace or the radio: more than cellular networks have over hours.
const CELLULAR: Rate = Rate::from_bits_per_second(100_000_000);
/// Largest limit of the events: no machine processes more in a lifetime.
const MAX_EVENTS: f64 = 1e18;

/// Events that a field causes.
struct Work {
    field: String,
    value: String,
    events: f64,
}

impl Work {
    fn new(field: String, value: String, events: f64) -> Self {
        Self {
            field,
            value,
            events,
        }
    }
}

/// Checks that the estimated events of a run stay within the limit of the scenario.
pub(super) fn check(scenario: &Scenario) -> Result<(), FieldError> {
    check_number("events", scenario.limits.events, 1.0, MAX_EVENTS).in_table("limits")?;
    check_positive("memory", scenario.limits.memory).in_table("limits")?;
    let mut all = cross_traffic(scenario);
    all.extend(radio(scenario));
    all.extend(applications(scenario));
    all.push(packets(scenario));
    let total: f64 = all.iter().map(|work| work.events).sum();
    if total <= scenario.limits.events {
        return Ok(());
    }
    let largest = all
        .into_iter()
        .max_by(|one, other| one.events.total_cmp(&other.events));
    let largest = largest.expect("the packets are always among them");
    let allowed = format!(
        "values with which a run takes up to {:e} events (limits.events), not some {:.0e}",
        scenario.limits.events, largest.events
    );
    invalid_value(largest.field, largest.value, allowed)
}

/// Returns the packets of cross-traffic on all links.
fn cross_traffic(scenario: &Scenario) -> Vec<Work> {
    let path = &scenario.path;
    let mut lists = vec![("path".to_owned(), &path.cross_traffic, path.mtu)];
    let wired = path.wired.iter().enumerate();
    lists.extend(wired.map(|(n, hop)| (format!("path.wired.{n}"), &hop.cross_traffic, hop.mtu)));
    let links = scenario.links.iter().enumerate();
    lists.extend(links.map(|(n, link)| (format!("links.{n}"), &link.cross_traffic, link.mtu)));
    let ues = scenario.radio.iter().flat_map(|radio| &radio.ues);
    lists.extend(
        ues.enumerate()
            .map(|(n, ue)| (format!("radio.ues.{n}"), &ue.cross_traffic, path.mtu)),
    );
    let each = lists.into_iter().flat_map(|(table, list, mtu)| {
        list.iter().enumerate().map(move |(number, cross)| {
            let (field, value, events) = cross_packets(cross, mtu, scenario.duration);
            Work::new(
                format!("{table}.cross_traffic.{number}.{field}"),
                value,
                events,
            )
        })
    });
    each.collect()
}

/// Returns the packets of a source in a run of `duration`, and the field that makes most of them.
fn cross_packets(cross: &Cross, mtu: Bytes, duration: Duration) -> (&'static str, String, f64) {
    let end = cross.stop.map_or(duration, |stop| stop.min(duration));
    let active = end.saturating_sub(cross.start);
    let size = cross.packet.unwrap_or(mtu).get() as f64;
    let packets = cross.rate.bits_per_second() as f64 / 8.0 / size * active.as_secs_f64();
    // A turn has one packet at least.
    if let (Some(on), Some(off)) = (&cross.on, &cross.off) {
        let turns = rounds(active, on.mean() + off.mean());
        if turns > packets {
            return ("on", text_of(on), turns);
        }
    }
    ("rate", cross.rate.write(), packets)
}

/// Returns the intervals of the radio, of cells and UEs.
fn radio(scenario: &Scenario) -> Option<Work> {
    let radio = scenario.radio.as_ref()?;
    let ttis = rounds(scenario.duration, radio.tti().to_base());
    let ues = radio.ues.iter().map(|ue| f64::from(ue.count)).sum::<f64>();
    let events = ttis * (radio.cells.len().max(1) as f64 + ues);
    let many = radio.ues.iter().enumerate().max_by_key(|(_, ue)| ue.count);
    Some(match many {
        Some((number, ue)) if ue.count > 1 => {
            let field = format!("radio.ues.{number}.count");
            Work::new(field, ue.count.to_string(), events)
        }
        _ => Work::new("duration".to_owned(), scenario.duration.write(), events),
    })
}

/// Returns the connections of the flows and the wake-ups of their applications.
fn applications(scenario: &Scenario) -> Vec<Work> {
    let each = scenario
        .flows
        .iter()
        .enumerate()
        .flat_map(|(number, flow)| {
            let nodes = nodes(scenario, flow);
            let count = f64::from(flow.count) * nodes;
            let time = scenario.duration.saturating_sub(flow.start);
            let round = flow.workload.mean_period_ns(scenario.path.rtt);
            let field = |name: &str| format!("flows.{number}.{name}");
            let kind = text_of(&flow.workload);
            [
                Work::new(
                    field("count"),
                    flow.count.to_string(),
                    count * OF_CONNECTION,
                ),
                Work::new(field("workload"), kind, count * rounds(time, round)),
            ]
        });
    each.collect()
}

/// Returns the packets of all flows.
fn packets(scenario: &Scenario) -> Work {
    let path = &scenario.path;
    let window = scenario
        .tcp
        .receive_buffer_max
        .min(scenario.tcp.send_buffer_max);
    let seconds = scenario.duration.as_secs_f64();
    let bytes = |flow: &Flow| {
        let count = f64::from(flow.count) * nodes(scenario, flow);
        let by_windows = window.get() as f64 / path.rtt.as_secs_f64() * seconds;
        let max = match &flow.workload {
            Workload::Bulk(bulk) => bulk.bytes.map_or(f64::INFINITY, |bytes| bytes.get() as f64),
            _ => f64::INFINITY,
        };
        count * by_windows.min(max)
    };
    // Flows over the access link share its capacity.
    let shared = |down: bool| {
        let passes = |flow: &&Flow| (flow.to == "phone") == down && (flow.from == "phone") != down;
        let all: f64 = scenario.flows.iter().filter(passes).map(bytes).sum();
        let link = if down { &path.down } else { &path.up };
        let rate = match &scenario.radio {
            Some(_) => CELLULAR,
            None => link.mean_rate(scenario.duration).unwrap_or(CELLULAR),
        };
        all.min(rate.bits_per_second() as f64 / 8.0 * seconds)
    };
    let beside = scenario
        .flows
        .iter()
        .filter(|flow| flow.to != "phone" && flow.from != "phone");
    let total = shared(true) + shared(false) + beside.map(bytes).sum::<f64>();
    let events = total / path.path_mtu().get() as f64 * OF_PACKET;
    Work::new("duration".to_owned(), scenario.duration.write(), events)
}

/// Returns the number of nodes that a flow represents.
fn nodes(scenario: &Scenario, flow: &Flow) -> f64 {
    let radio = scenario.radio.as_ref();
    let each = |node: &str| {
        radio
            .and_then(|radio| radio.each(node))
            .map(|nodes| nodes.len())
    };
    let nodes = each(&flow.from).or_else(|| each(&flow.to));
    nodes.map_or(1.0, |nodes| nodes as f64)
}

/// Returns how often something that takes `round` nanoseconds happens in a time.
fn rounds(time: Duration, round: f64) -> f64 {
    time.to_base() / round.max(1.0)
}

/// Returns a value of a table as messages write it.
fn text_of(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
