//! Checks of middleboxes: their fields, and that each has a node of its own between the hosts.

use config::{FieldContext, FieldError, check_each, reject};

use crate::model::{Middlebox, MiddleboxKind, Queue, Scenario};

pub(super) fn check(scenario: &Scenario) -> Result<(), FieldError> {
    let boxes = &scenario.path.middleboxes;
    check_each("middleboxes", boxes, Middlebox::check).in_table("path")?;
    let nodes = scenario.path.inner_nodes();
    for (number, middlebox) in boxes.iter().enumerate() {
        let field = format!("path.middleboxes.{number}.at");
        let at = middlebox.node();
        if !nodes.iter().any(|node| node == at) {
            let message = format!(
                "{at:?} is not a node between the hosts; allowed: {}",
                nodes.join(", ")
            );
            return reject(field, message);
        }
        if middlebox.kind.needs_access_link() && at != "gateway" {
            let message = format!(
                "{at:?} is not before the access link, with which {:?} works; allowed: gateway",
                middlebox.kind.name()
            );
            return reject(field, message);
        }
        if middlebox.kind == MiddleboxKind::ResetTracker
            && scenario.radio.is_some()
            && scenario.path.queue != Queue::Droptail
        {
            let message = "a reset-tracker discards what waits with RLC alone; allowed: droptail";
            return reject("path.queue", message);
        }
        if let Some(flow) = scenario
            .flows
            .iter()
            .find(|flow| flow.from == at || flow.to == at)
        {
            let message = format!(
                "{at:?} is a host: flow {:?} ends there; allowed: nodes where no flow ends",
                flow.name
            );
            return reject(field, message);
        }
        if boxes[..number].iter().any(|other| other.node() == at) {
            let message = format!("{at:?} has a middlebox already; allowed: one at each node");
            return reject(field, message);
        }
    }
    option_kinds(boxes)
}

/// Checks that all middleboxes with AS-TCP's option use the same kind: each hears the one behind it.
fn option_kinds(boxes: &[Middlebox]) -> Result<(), FieldError> {
    let kinds = || {
        (0..)
            .zip(boxes)
            .filter_map(|(number, each)| Some((number, each.far_ack_kind()?)))
    };
    let Some((_, first)) = kinds().next() else {
        return Ok(());
    };
    kinds()
        .find(|&(_, kind)| kind != first)
        .map_or(Ok(()), |(number, kind)| {
            let field = format!("path.middleboxes.{number}.option_kind");
            reject(
                field,
                format!("{kind} differs from that of the one before; allowed: {first}"),
            )
        })
}
