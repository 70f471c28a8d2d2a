//! Hash of a scenario, which is equal for scenarios that run alike, and the same in all versions.

use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::Scenario;

/// Fields that have been renamed since hashes were first stored, each with its name of then. In tables, `*` is any place
/// in a list.
const FIRST_NAMES: [(&str, &str, &str); 15] = [
    ("tcp", "eln", "loss_notices"),
    ("path", "cross_traffic", "cross"),
    ("path.wired.*", "cross_traffic", "cross"),
    ("links.*", "cross_traffic", "cross"),
    ("radio.ues.*", "cross_traffic", "cross"),
    ("path.queue", "ecn_threshold", "mark_above"),
    ("path.wired.*.queue", "ecn_threshold", "mark_above"),
    ("links.*.queue", "ecn_threshold", "mark_above"),
    ("path.middleboxes.*", "discard_time", "hold"),
    ("path.middleboxes.*", "max_ack_wait", "piggyback"),
    ("radio.propagation", "los", "sight"),
    (
        "radio.downlink.control_errors",
        "dtx_to_ack",
        "silence_as_ack",
    ),
    ("radio.downlink.control_errors", "ack_to_nack", "ack_missed"),
    (
        "radio.downlink.control_errors",
        "nack_to_ack",
        "nack_as_ack",
    ),
    ("flows.*.switch.*", "mode", "how"),
];

impl Scenario {
    /// Returns the first 16 hexadecimal digits of the SHA-256 of the JSON without name, description and limits. A field
    /// that flows got later counts only if it has been set, and renamed fields have their first names.
    pub fn hash(&self) -> String {
        let mut value = self.to_value();
        for (table, name, first) in FIRST_NAMES {
            visit(&mut value, table, &mut |fields| rename(fields, name, first));
        }
        let protocol = value.pointer_mut("/radio/uplink/protocol");
        if let Some(name) = protocol.filter(|name| *name == "kim2016") {
            *name = Json::from("thesis");
        }
        visit(&mut value, "flows.*", &mut |flow| {
            if flow["opens"] == "to" {
                flow.shift_remove("opens");
            }
        });
        visit(&mut value, "", &mut |fields| {
            for of_no_effect in ["name", "description", "limits"] {
                fields.shift_remove(of_no_effect);
            }
        });
        let digest = Sha256::digest(value.to_string());
        digest[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

type Fields = serde_json::Map<String, Json>;

/// Calls `act` with the fields of each table that `pattern` describes.
fn visit(json: &mut Json, pattern: &str, act: &mut impl FnMut(&mut Fields)) {
    let (first, rest) = pattern.split_once('.').unwrap_or((pattern, ""));
    match json {
        Json::Object(fields) if first.is_empty() => act(fields),
        Json::Object(fields) => {
            if let Some(inner) = fields.get_mut(first) {
                visit(inner, rest, act);
            }
        }
        Json::Array(items) if first == "*" => {
            for inner in items {
                visit(inner, rest, act);
            }
        }
        _ => {}
    }
}

/// Renames a field in its place, as the order of fields is a part of the text.
fn rename(fields: &mut Fields, name: &str, first: &str) {
    let index = fields.keys().position(|key| key == name);
    if let Some((index, value)) = index.zip(fields.shift_remove(name)) {
        fields.shift_insert(index, first.to_owned(), value);
    }
}
