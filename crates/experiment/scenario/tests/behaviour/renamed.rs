//! Fields and words that have been renamed, by their former names.

use scenario::Scenario;

/// All former names of a scenario without a radio.
const WIRED: &str = r#"[tcp]
loss_notices = false
[path]
queue = { kind = "threshold", mark_above = "40kB" }
cross = [{ rate = "1Mbit/s" }]
wired = [{ cross = [{ rate = "2Mbit/s" }], queue = { kind = "threshold", mark_above = "50kB" } }, {}]
middleboxes = [
    { kind = "reset-tracker", hold = "3s" },
    { kind = "as", at = "node-1", piggyback = "5ms" },
]
[[links]]
from = "gateway"
to = "beside"
cross = [{ rate = "3Mbit/s" }]
queue = { kind = "threshold", mark_above = "60kB" }
[[flows]]
switch = [{ at = "1s", to = "bbr", how = "kernel" }]
"#;

/// All former names of a radio.
const RADIO: &str = r#"[[radio.cells]]
[radio.propagation]
model = "tr38901-rma"
sight = "probable"
[radio.downlink.control_errors]
silence_as_ack = 0.02
ack_missed = 0.03
nack_as_ack = 0.04
[radio.uplink]
protocol = "thesis"
[[radio.ues]]
position = {}
cross = [{ rate = "4Mbit/s" }]
"#;

#[track_caller]
fn with(text: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    Scenario::from_toml(text, "old.toml", &overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// The hashes are those of the build that had the former names only.
#[test]
fn former_names_are_read_and_give_the_same_hash() {
    for (text, former, hash) in [
        (WIRED, 10, "45bb7d960db1f632"),
        (RADIO, 6, "cdc054ec4808d0f2"),
    ] {
        let scenario = with(text, &[]);
        assert_eq!(scenario.hash(), hash);
        let warnings = scenario.deprecations();
        assert_eq!(warnings.len(), former, "{warnings:#?}");
        let again = with(&scenario.to_toml(), &[]);
        assert_eq!(again.deprecations(), [""; 0]);
        assert_eq!(again, scenario);
    }
}

#[test]
fn a_warning_names_the_line_and_both_names() {
    let warnings = with(WIRED, &[]).deprecations();
    for warning in [
        "old.toml:2: tcp.loss_notices: deprecated; use tcp.eln",
        "old.toml:5: path.cross: deprecated; use path.cross_traffic",
        "old.toml:9: path.middleboxes.1.piggyback: deprecated; use path.middleboxes.1.max_ack_wait",
        "old.toml:17: flows.0.switch.0.how: deprecated; use flows.0.switch.0.mode",
    ] {
        assert!(warnings.iter().any(|each| each == warning), "{warnings:#?}");
    }
    let warnings = with(RADIO, &[]).deprecations();
    let warning = "old.toml:10: radio.uplink.protocol: \"thesis\" is deprecated; use \"kim2016\"";
    assert!(warnings.iter().any(|each| each == warning), "{warnings:#?}");
}

#[test]
fn overrides_may_have_former_names() {
    let overrides = [
        "path.cross.0.rate=2Mbit/s",
        "flows.0.switch=[{ at = \"1s\", to = \"bbr\", how = \"kernel\" }]",
        "path.middleboxes=[{ kind = \"reset-tracker\" }]",
        "path.middleboxes.0.hold=3s",
    ];
    let scenario = with("[path]\ncross_traffic = [{ rate = '1Mbit/s' }]", &overrides);
    assert_eq!(scenario.path.cross_traffic.len(), 1);
    let now = [
        "path.cross_traffic.0.rate=2Mbit/s",
        "flows.0.switch=[{ at = \"1s\", to = \"bbr\", mode = \"kernel\" }]",
        "path.middleboxes=[{ kind = \"reset-tracker\" }]",
        "path.middleboxes.0.discard_time=3s",
    ];
    assert_eq!(scenario.hash(), with("", &now).hash());
    assert_eq!(
        scenario.deprecations(),
        [
            "override path.cross.0.rate=2Mbit/s: path.cross: deprecated; use path.cross_traffic",
            "override flows.0.switch=[{ at = \"1s\", to = \"bbr\", how = \"kernel\" }]: flows.0.switch.0.how: \
             deprecated; use flows.0.switch.0.mode",
            "override path.middleboxes.0.hold=3s: path.middleboxes.0.hold: deprecated; use \
             path.middleboxes.0.discard_time",
        ]
    );
}

#[test]
fn a_field_by_both_names_is_refused() {
    let refused = |text: &str, overrides: &[String]| {
        let read = Scenario::from_toml(text, "old.toml", overrides);
        read.expect_err("it is given twice").to_string()
    };
    assert_eq!(
        refused("[tcp]\neln = true\nloss_notices = false", &[]),
        "old.toml:3: tcp.loss_notices: given as eln, too; allowed: eln alone"
    );
    assert_eq!(
        refused("", &["tcp={ eln = true, loss_notices = false }".to_owned()]),
        "override tcp={ eln = true, loss_notices = false }: tcp.loss_notices: given as eln, too; allowed: eln \
         alone"
    );
}
