//! Hashes of scenarios, and the error about a field by the name that it had before version 0.2.

use scenario::Scenario;

/// All renamed fields of a scenario without a radio.
const WIRED: &str = r#"[tcp]
eln = false
[path]
queue = { kind = "threshold", ecn_threshold = "40kB" }
cross_traffic = [{ rate = "1Mbit/s" }]
wired = [{ cross_traffic = [{ rate = "2Mbit/s" }], queue = { kind = "threshold", ecn_threshold = "50kB" } }, {}]
middleboxes = [
    { kind = "reset-tracker", discard_time = "3s" },
    { kind = "as", at = "node-1", max_ack_wait = "5ms" },
]
[[links]]
from = "gateway"
to = "beside"
cross_traffic = [{ rate = "3Mbit/s" }]
queue = { kind = "threshold", ecn_threshold = "60kB" }
[[flows]]
switch = [{ at = "1s", to = "bbr", mode = "kernel" }]
"#;

/// All renamed fields of a radio, and the renamed word.
const RADIO: &str = r#"[[radio.cells]]
[radio.propagation]
model = "tr38901-rma"
los = "probable"
[radio.downlink.control_errors]
dtx_to_ack = 0.02
ack_to_nack = 0.03
nack_to_ack = 0.04
[radio.uplink]
protocol = "kim2016"
[[radio.ues]]
position = {}
cross_traffic = [{ rate = "4Mbit/s" }]
"#;

/// The hashes are those of the build in which these fields had their first names.
#[test]
fn the_hash_is_the_same_in_all_versions() {
    for (text, hash) in [(WIRED, "45bb7d960db1f632"), (RADIO, "cdc054ec4808d0f2")] {
        let read = Scenario::from_toml(text, "scenario.toml", &[]);
        assert_eq!(read.expect("a scenario").hash(), hash);
    }
}

#[test]
fn the_error_about_a_former_name_has_the_present_one() {
    for (former, meant) in [
        ("tcp.loss_notices", "tcp.eln"),
        ("path.cross", "path.cross_traffic"),
        ("path.wired.1.cross", "path.wired.1.cross_traffic"),
        ("path.queue.mark_above", "path.queue.ecn_threshold"),
        ("path.middleboxes.0.hold", "path.middleboxes.0.discard_time"),
        (
            "path.middleboxes.0.piggyback",
            "path.middleboxes.0.max_ack_wait",
        ),
        ("radio.propagation.sight", "radio.propagation.los"),
        ("flows.0.switch.0.how", "flows.0.switch.0.mode"),
    ] {
        let meaning = scenario::field_meant(former);
        assert_eq!(meaning.as_deref(), Some(meant), "{former}");
    }
    let old = WIRED.replace("ecn_threshold = \"50kB\"", "mark_above = \"50kB\"");
    let error = Scenario::from_toml(&old, "old.toml", &[]).expect_err("a field of before");
    let text = "old.toml:6: path.wired.0.queue.mark_above: there is no such field; did you mean \
                \"path.wired.0.queue.ecn_threshold\"?";
    assert!(error.to_string().starts_with(text), "{error}");
    let whole = "path={ cross = [{ rate = '3Mbit/s' }] }".to_owned();
    let error = Scenario::from_toml("", "old.toml", &[whole]).expect_err("a field of before");
    let text = error.to_string();
    assert!(
        text.contains("path.cross: there is no such field; did you mean \"path.cross_traffic\"?"),
        "{text}"
    );
}
