//! Checks of flows and cross-traffic.

use std::collections::{BTreeMap, BTreeSet};

use units::Duration;

use super::{FieldError, check_positive, invalid_value, reject};
use crate::model::{Flow, Radio, Scenario, Switch};
use config::FieldContext;

pub(super) fn check_flows(scenario: &Scenario) -> Result<(), FieldError> {
    if scenario.flows.is_empty() {
        return reject(
            "flows".to_owned(),
            "the list is empty; allowed: one flow or more".to_owned(),
        );
    }
    let mut nodes = BTreeSet::from(["server", "gateway", "phone"]);
    nodes.extend(
        scenario
            .links
            .iter()
            .flat_map(|link| [link.from.as_str(), link.to.as_str()]),
    );
    let ues: Vec<String> = scenario.radio.iter().flat_map(Radio::nodes).collect();
    nodes.extend(ues.iter().map(String::as_str));
    let is_vehicle = |node: &str| {
        let radio = scenario.radio.as_ref();
        radio.is_some_and(|radio| radio.may_be_vehicle(node))
    };
    let is_each = |node: &str| {
        let radio = scenario.radio.as_ref();
        radio.is_some_and(|radio| radio.each(node).is_some())
    };
    let nodes: Vec<&str> = nodes.into_iter().collect();
    let mut names = BTreeMap::new();
    for (index, flow) in scenario.flows.iter().enumerate() {
        let field = |name: &str| format!("flows.{index}.{name}");
        config::check_unique(&mut names, &flow.name, field("name"))?;
        for (name, node) in [("from", &flow.from), ("to", &flow.to)] {
            if !nodes.contains(&node.as_str()) && !is_vehicle(node) && !is_each(node) {
                let message = format!("{node:?} is not a node; allowed: {}", nodes.join(", "));
                return reject(field(name), message);
            }
        }
        if is_each(&flow.from) && is_each(&flow.to) {
            let message = format!("{:?} is many nodes, as from is; allowed: one node", flow.to);
            return reject(field("to"), message);
        }
        if flow.from == flow.to {
            let message = format!(
                "{:?} is where the flow comes from; allowed: another node",
                flow.to
            );
            return reject(field("to"), message);
        }
        if flow.count == 0 {
            return invalid_value(field("count"), 0, "1 connection or more");
        }
        if let Some(cap) = flow.max_pacing_rate {
            check_positive(field("max_pacing_rate"), cap)?;
        }
        if flow.start >= scenario.duration {
            let allowed = format!("times below the duration, {}", scenario.duration);
            return invalid_value(field("start"), flow.start, allowed);
        }
        if let Some(spread) = flow.start_spread {
            check_positive(field("start_spread"), spread)?;
            let most = scenario.duration.saturating_sub(flow.start);
            if spread > most {
                let allowed = format!("times of at most the duration after start, {most}");
                return invalid_value(field("start_spread"), spread, allowed);
            }
        }
        switches(&field("switch"), &flow.switch, scenario.duration)?;
        selected(&field(""), flow)?;
        flow.workload.check().in_table(field("workload"))?;
    }
    Ok(())
}

fn switches(field: &str, switches: &[Switch], duration: Duration) -> Result<(), FieldError> {
    let mut before = Duration::ZERO;
    for (index, switch) in switches.iter().enumerate() {
        let field = format!("{field}.{index}.at");
        check_positive(field.clone(), switch.at)?;
        if switch.at <= before || switch.at >= duration {
            let allowed = format!(
                "times after that of the switch before, {before}, and below the duration, {duration}"
            );
            return invalid_value(field, switch.at, allowed);
        }
        before = switch.at;
    }
    Ok(())
}

/// Rejects scheduled switches of a selected flow, and switches to `auto`.
fn selected(field: &str, flow: &Flow) -> Result<(), FieldError> {
    if flow.cca.auto().is_some() && !flow.switch.is_empty() {
        let reason = "changes what auto selects; allowed: none with auto".to_owned();
        return reject(format!("{field}switch"), reason);
    }
    for (index, switch) in flow.switch.iter().enumerate() {
        if switch.to.auto().is_some() {
            let field = format!("{field}switch.{index}.to");
            return invalid_value(
                field,
                &switch.to,
                "congestion controls; auto is a flow's from its start",
            );
        }
    }
    Ok(())
}
