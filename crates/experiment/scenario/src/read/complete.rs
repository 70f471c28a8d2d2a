//! Default names of scenarios, hops, links and flows, and nodes that flows go to.

use crate::model::Scenario;

/// Names the scenario after its file, and unnamed parts by number.
pub(super) fn names(scenario: &mut Scenario, stem: &str) {
    let name_if_empty = |name: &mut String, default: &dyn Fn() -> String| {
        if name.is_empty() {
            *name = default();
        }
    };
    name_if_empty(&mut scenario.name, &|| stem.to_owned());
    for (index, hop) in scenario.path.wired.iter_mut().enumerate() {
        name_if_empty(&mut hop.name, &|| match index {
            0 => "wan".to_owned(),
            _ => format!("hop-{}", index + 1),
        });
    }
    for (index, link) in scenario.links.iter_mut().enumerate() {
        name_if_empty(&mut link.name, &|| format!("link-{}", index + 1));
    }
    if let Some(radio) = &mut scenario.radio {
        for (index, cell) in radio.cells.iter_mut().enumerate() {
            name_if_empty(&mut cell.name, &|| format!("cell-{}", index + 1));
        }
        for (index, ue) in radio.ues.iter_mut().enumerate() {
            name_if_empty(&mut ue.name, &|| match index {
                0 => "phone".to_owned(),
                _ => format!("ue-{}", index + 1),
            });
        }
    }
    for (index, flow) in scenario.flows.iter_mut().enumerate() {
        name_if_empty(&mut flow.name, &|| format!("flow-{}", index + 1));
        let is_from_phone = flow.from == "phone";
        let receiver = if is_from_phone { "server" } else { "phone" };
        name_if_empty(&mut flow.to, &|| receiver.to_owned());
    }
}
