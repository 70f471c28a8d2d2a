//! Synonyms: the field for a term of Linux, iperf3, mahimahi or ns-3, for errors about unknown fields.

use std::collections::VecDeque;

use serde_json::Value as Json;

use crate::model::Scenario;

/// Lines with fields, the usual one first, and the words that may mean them; `*` is any place in a list.
const SYNONYMS: &str = include_str!("synonyms.txt");

/// Returns the fields and the words of each line.
fn synonyms() -> impl Iterator<Item = (&'static str, &'static str)> {
    SYNONYMS.lines().filter_map(|line| line.split_once(": "))
}

/// Returns the field that an unknown one probably means, as overrides write it; `None` if no word is known.
///
/// Of several fields it is the one that shares most of its tables with the unknown one. Without a synonym it is a field
/// of another table with the same last key, or with the key without a prefix `tcp_` or `net.ipv4.tcp_`.
pub fn field_meant(unknown: &str) -> Option<String> {
    let unknown_keys: Vec<&str> = unknown.split('.').collect();
    let key = unknown_keys.last()?.to_ascii_lowercase().replace('-', "_");
    let key = key.as_str();
    let bare = key.strip_prefix("tcp_").unwrap_or(key);
    let known = fields();
    if known.iter().any(|field| matches(field, &unknown_keys)) {
        // It is a field of another kind of queue or workload.
        return None;
    }
    let is_known = |field: &&str| known.iter().any(|each| each == field);
    let line = synonyms().find(|(_, words)| words.split(' ').any(|word| word == key));
    let meant = line.map_or("", |(fields, _)| fields).split(' ');
    let same = known.iter().map(String::as_str).filter(|field| {
        let last = field.rsplit('.').next();
        last == Some(key) || last == Some(bare)
    });
    let candidates = meant.filter(is_known).chain(same);
    // Of those that share as many tables the first one is meant: `max_by_key` would take the last one.
    let best = candidates
        .map(|field| (shared(field, &unknown_keys), field))
        .reduce(|best, each| if each.0 > best.0 { each } else { best })?;
    let mut numbers = unknown_keys
        .iter()
        .filter(|key| key.parse::<usize>().is_ok());
    let keys = best.1.split('.').map(|key| match key {
        "*" => numbers.next().copied().unwrap_or("0"),
        other => other,
    });
    Some(keys.collect::<Vec<_>>().join("."))
}

/// Returns whether a field has these keys; `*` stands for any number.
fn matches(field: &str, unknown_keys: &[&str]) -> bool {
    field.split('.').count() == unknown_keys.len()
        && shared(field, unknown_keys) == unknown_keys.len()
}

/// Returns how many keys from the first one on a field has in common with unknown ones.
fn shared(field: &str, unknown_keys: &[&str]) -> usize {
    let both = field.split('.').zip(unknown_keys);
    both.take_while(|(one, other)| {
        *one == **other || (*one == "*" && other.parse::<usize>().is_ok())
    })
    .count()
}

/// Returns all fields of scenarios, those with few keys first; those within lists of tables have `*` for their places.
fn fields() -> Vec<String> {
    /// Maximum number of keys of a searched field.
    const MAX_KEYS: usize = 5;
    let schema = schemars::schema_for!(Scenario).to_value();
    let mut fields = Vec::new();
    let mut open = VecDeque::from([(String::new(), 0, &schema)]);
    while let Some((path, depth, node)) = open.pop_front() {
        for alternative in alternatives(node, &schema) {
            for (key, inner) in alternative["properties"].as_object().into_iter().flatten() {
                let field = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                if depth < MAX_KEYS {
                    open.push_back((field.clone(), depth + 1, inner));
                }
                if !fields.contains(&field) {
                    fields.push(field);
                }
            }
            if alternative["items"].is_object() && depth < MAX_KEYS {
                open.push_back((format!("{path}.*"), depth + 1, &alternative["items"]));
            }
        }
    }
    fields
}

/// Returns a node of the schema with all its alternatives and references.
fn alternatives<'a>(node: &'a Json, schema: &'a Json) -> Vec<&'a Json> {
    let mut nodes = vec![node];
    let mut at = 0;
    while let Some(each) = nodes.get(at).copied() {
        at += 1;
        let target = each["$ref"]
            .as_str()
            .and_then(|target| target.strip_prefix("#"));
        nodes.extend(target.and_then(|target| schema.pointer(target)));
        for key in ["anyOf", "oneOf", "allOf"] {
            nodes.extend(each[key].as_array().into_iter().flatten());
        }
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_synonym_means_a_field_that_there_is() {
        let known = fields();
        for (meant, words) in synonyms() {
            for field in meant.split(' ') {
                assert!(known.iter().any(|each| each == field), "{words:?}: {field}");
            }
        }
    }

    #[test]
    fn a_word_of_another_tool_means_the_field_in_the_nearest_table() {
        for (unknown, wanted) in [
            ("flows.0.size", "flows.0.workload.bytes"),
            ("flows.2.bytes", "flows.2.workload.bytes"),
            ("tcp.send_buffer", "tcp.send_buffer_max"),
            ("tcp.tcp_notsent_lowat", "tcp.notsent_lowat"),
            (
                "net.ipv4.tcp_slow_start_after_idle",
                "tcp.slow_start_after_idle",
            ),
            ("tcp.initcwnd", "tcp.initial_window"),
            ("path.jitter.sigma", "path.jitter.sd"),
            ("path.wired.1.jitter.stddev", "path.wired.1.jitter.sd"),
            ("path.bandwidth", "path.down.rate"),
            ("path.rate", "path.down.rate"),
            ("path.wired.1.bandwidth", "path.wired.1.rate"),
            ("path.wired.0.latency", "path.wired.0.delay"),
            ("path.delay", "path.rtt"),
            ("rtt", "path.rtt"),
            ("network.rtt", "path.rtt"),
            ("path.queue_size", "path.buffer"),
            ("path.qdisc", "path.queue"),
            ("cca", "flows.0.cca"),
            ("flows.0.congestion-control", "flows.0.cca"),
            ("flows.0.parallel", "flows.0.count"),
            ("flows.0.fps", "flows.0.workload.interval"),
        ] {
            assert_eq!(field_meant(unknown).as_deref(), Some(wanted), "{unknown}");
        }
        assert_eq!(field_meant("path.colour"), None);
        assert_eq!(field_meant("path.queue.target"), None);
    }
}
