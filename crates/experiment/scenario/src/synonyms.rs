//! Synonyms: the field that a word of Linux, iperf3, mahimahi or ns-3 means here, for errors about unknown fields.

use std::collections::VecDeque;

use serde_json::Value as Json;

use crate::model::Scenario;

/// Words, and the fields that they may mean, the usual one first; `*` is any place in a list.
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (
        &[
            "rate",
            "bandwidth",
            "bw",
            "capacity",
            "link_rate",
            "data_rate",
            "datarate",
            "throughput",
            "speed",
            "bottleneck",
            "downlink",
            "downlink_rate",
            "down_rate",
        ],
        &["path.down.rate", "path.wired.*.rate", "links.*.rate"],
    ),
    (&["uplink", "uplink_rate", "up_rate"], &["path.up.rate"]),
    (
        &[
            "delay",
            "latency",
            "owd",
            "ping",
            "rtt",
            "base_rtt",
            "propagation_delay",
            "one_way_delay",
        ],
        &["path.rtt", "path.wired.*.delay", "links.*.delay"],
    ),
    (
        &[
            "limit",
            "queue_size",
            "queue_limit",
            "queue_length",
            "qlen",
            "txqueuelen",
            "buffer_size",
            "bottleneck_buffer",
            "max_size",
            "maxsize",
            "queue_packets",
            "queue_bytes",
        ],
        &["path.buffer", "path.wired.*.buffer", "links.*.buffer"],
    ),
    (
        &[
            "qdisc",
            "aqm",
            "discipline",
            "queue_discipline",
            "queue_type",
        ],
        &["path.queue", "path.wired.*.queue", "links.*.queue"],
    ),
    (
        &[
            "packet_loss",
            "loss_rate",
            "random_loss",
            "plr",
            "per",
            "drop",
            "drop_rate",
            "error_rate",
        ],
        &["path.loss", "path.wired.*.loss", "links.*.loss"],
    ),
    (
        &[
            "cwnd",
            "initcwnd",
            "init_cwnd",
            "initial_cwnd",
            "iw",
            "initial_congestion_window",
        ],
        &["tcp.initial_window"],
    ),
    (
        &[
            "rmem",
            "rmem_max",
            "tcp_rmem",
            "rcvbuf",
            "so_rcvbuf",
            "recv_buffer",
            "receive_buffer",
            "rcv_buf",
        ],
        &["tcp.receive_buffer_max"],
    ),
    (
        &[
            "wmem",
            "wmem_max",
            "tcp_wmem",
            "sndbuf",
            "so_sndbuf",
            "send_buffer",
            "snd_buf",
        ],
        &["tcp.send_buffer_max"],
    ),
    (
        &[
            "window",
            "rwnd",
            "receive_window",
            "window_clamp",
            "tcp_window_clamp",
        ],
        &["tcp.receive_window_max"],
    ),
    (
        &["delack", "delayed_acks", "quickack"],
        &["tcp.delayed_ack"],
    ),
    (
        &["delack_timeout", "ato", "ato_min"],
        &["tcp.delayed_ack_timeout"],
    ),
    (
        &["rto_min", "tcp_rto_min", "minrto", "tcp_rto_min_us"],
        &["tcp.min_rto"],
    ),
    (
        &["max_rto", "tcp_rto_max", "tcp_rto_max_ms"],
        &["tcp.rto_max"],
    ),
    (
        &["segment_size", "segmentsize", "packet_size"],
        &["tcp.mss"],
    ),
    (
        &["nagle", "no_delay", "tcp_nodelay"],
        &["tcp.nodelay", "flows.*.nodelay"],
    ),
    (&["retries2", "tcp_retries2"], &["tcp.user_timeout"]),
    (
        &[
            "congestion",
            "congestion_control",
            "cc",
            "algorithm",
            "tcp_congestion_control",
            "protocol",
            "variant",
        ],
        &["flows.*.cca"],
    ),
    (
        &[
            "size",
            "bytes",
            "length",
            "amount",
            "max_bytes",
            "maxbytes",
            "file_size",
            "filesize",
            "transfer_size",
            "num",
        ],
        &["flows.*.workload.bytes", "flows.*.workload.size"],
    ),
    (
        &[
            "bitrate",
            "pacing_rate",
            "so_max_pacing_rate",
            "maxrate",
            "max_rate",
            "fq_rate",
        ],
        &["flows.*.max_pacing_rate", "flows.*.workload.size"],
    ),
    (
        &["parallel", "streams", "connections", "clients"],
        &["flows.*.count"],
    ),
    (
        &["fps", "frame_rate", "period"],
        &["flows.*.workload.interval"],
    ),
    (
        &["application", "app", "traffic", "kind"],
        &["flows.*.workload.kind"],
    ),
    (
        &["time", "runtime", "sim_time", "stop", "stop_time"],
        &["duration"],
    ),
    (&["start_time", "begin", "at"], &["flows.*.start"]),
    (
        &["cross", "background", "background_traffic"],
        &["path.cross_traffic"],
    ),
    (
        &["trace", "mahimahi", "uplink_trace", "downlink_trace"],
        &["path.down.trace"],
    ),
    (&["mtu_size"], &["path.mtu"]),
];

/// Returns the field that an unknown one probably means, as overrides write it; `None` if no word is known.
///
/// Of several fields it is the one that shares most of its tables with the unknown one. Without a synonym it is a field
/// of another table with the same last key, or with the key without a prefix `tcp_` or `net.ipv4.tcp_`.
pub fn field_meant(unknown: &str) -> Option<String> {
    let asked: Vec<&str> = unknown.split('.').collect();
    let key = asked.last()?.to_ascii_lowercase().replace('-', "_");
    let key = key.as_str();
    let bare = key.strip_prefix("tcp_").unwrap_or(key);
    let known = fields();
    if known.iter().any(|field| matches(field, &asked)) {
        // It is a field of another kind of queue or workload.
        return None;
    }
    let is_known = |field: &&str| known.iter().any(|each| each == field);
    let of_table = SYNONYMS.iter().find(|(words, _)| words.contains(&key));
    let meant = of_table
        .into_iter()
        .flat_map(|(_, fields)| fields.iter().copied());
    let same = known.iter().map(String::as_str).filter(|field| {
        let last = field.rsplit('.').next();
        last == Some(key) || last == Some(bare)
    });
    let candidates = meant.filter(is_known).chain(same);
    // Of those that share as many tables the first one is meant: `max_by_key` would take the last one.
    let best = candidates
        .map(|field| (shared(field, &asked), field))
        .reduce(|best, each| if each.0 > best.0 { each } else { best })?;
    let mut numbers = asked.iter().filter(|key| key.parse::<usize>().is_ok());
    let keys = best.1.split('.').map(|key| match key {
        "*" => numbers.next().copied().unwrap_or("0"),
        other => other,
    });
    Some(keys.collect::<Vec<_>>().join("."))
}

/// Returns whether a field is the one that was asked for.
fn matches(field: &str, asked: &[&str]) -> bool {
    field.split('.').count() == asked.len() && shared(field, asked) == asked.len()
}

/// Returns how many keys from the first one on a field has in common with what was asked for.
fn shared(field: &str, asked: &[&str]) -> usize {
    let both = field.split('.').zip(asked);
    both.take_while(|(one, other)| {
        *one == **other || (*one == "*" && other.parse::<usize>().is_ok())
    })
    .count()
}

/// Returns all fields of scenarios, those with few keys first; those within lists of tables have `*` for their places.
fn fields() -> Vec<String> {
    /// Most keys of a field that is looked for.
    const MOST: usize = 5;
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
                if depth < MOST {
                    open.push_back((field.clone(), depth + 1, inner));
                }
                if !fields.contains(&field) {
                    fields.push(field);
                }
            }
            if alternative["items"].is_object() && depth < MOST {
                open.push_back((format!("{path}.*"), depth + 1, &alternative["items"]));
            }
        }
    }
    fields
}

/// Returns what a node of the schema stands for: itself, and all alternatives and references.
fn alternatives<'a>(node: &'a Json, schema: &'a Json) -> Vec<&'a Json> {
    let mut result = vec![node];
    let mut at = 0;
    while let Some(each) = result.get(at).copied() {
        at += 1;
        let target = each["$ref"]
            .as_str()
            .and_then(|target| target.strip_prefix("#"));
        result.extend(target.and_then(|target| schema.pointer(target)));
        for key in ["anyOf", "oneOf", "allOf"] {
            result.extend(each[key].as_array().into_iter().flatten());
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_synonym_means_a_field_that_there_is() {
        let known = fields();
        for (words, meant) in SYNONYMS {
            for field in *meant {
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
