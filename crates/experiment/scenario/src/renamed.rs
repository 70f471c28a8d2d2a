//! Renamed fields and words. Files of earlier builds have the former names, and hashes are computed with them.

use config::{Renamed, RenamedKey};
use middlebox::Middlebox;

const CROSS_TRAFFIC: &[RenamedKey] = &[("cross", "cross_traffic")];
const ECN_THRESHOLD: &[RenamedKey] = &[("mark_above", "ecn_threshold")];

/// Former and present names in scenarios.
pub(crate) const RENAMED: Renamed = Renamed {
    keys: &[
        ("tcp", &[("loss_notices", "eln")]),
        ("path", CROSS_TRAFFIC),
        ("path.wired.*", CROSS_TRAFFIC),
        ("links.*", CROSS_TRAFFIC),
        ("radio.ues.*", CROSS_TRAFFIC),
        ("path.queue", ECN_THRESHOLD),
        ("path.wired.*.queue", ECN_THRESHOLD),
        ("links.*.queue", ECN_THRESHOLD),
        ("path.middleboxes.*", Middlebox::RENAMED),
        ("radio.propagation", &[("sight", "los")]),
        (
            "radio.downlink.control_errors",
            &[
                ("silence_as_ack", "dtx_to_ack"),
                ("ack_missed", "ack_to_nack"),
                ("nack_as_ack", "nack_to_ack"),
            ],
        ),
        ("flows.*.switch.*", &[("how", "mode")]),
    ],
    words: &[("radio.uplink.protocol", &[("thesis", "kim2016")])],
};
