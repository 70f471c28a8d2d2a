//! Fields changed from outside, and what is printed of the result.

use proptest::prelude::*;
use scenario::{
    Buffer, Capacity, Distribution, Loss, Parameter, Queue, Samples, Scenario, Tso, WindowScale,
};
use units::{Bytes, Duration, Rate};
use workload::Workload;

#[track_caller]
fn with(text: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    Scenario::from_toml(text, "test.toml", &overrides).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_field_that_the_file_lacks_is_set() {
    let scenario = with("", &["path.buffer=2bdp", "samples=every-ack", "tcp.tso=2"]);
    assert_eq!(scenario.path.buffer, Buffer::Bdp(2.0));
    assert_eq!(scenario.samples, Samples::EveryAck);
    assert_eq!(scenario.tcp.tso, Tso::Segments(2));
    assert_eq!(scenario.name, "test");
}

#[test]
fn an_unset_field_is_as_if_the_file_lacked_it() {
    let text = "[path]\nrtt = \"30ms\"\nbuffer = \"2bdp\"\n[path.policer]\nrate = \"5Mbit/s\"\n\
                burst = \"20kB\"\n[[flows]]\nmax_pacing_rate = \"3Mbit/s\"\n";
    let unset = ["path.policer=unset", "flows.0.max_pacing_rate= unset"];
    let rest = "[path]\nrtt = \"30ms\"\nbuffer = \"2bdp\"\n[[flows]]\n";
    assert_eq!(with(text, &unset), with(rest, &[]));
    // Where nothing is set, nothing changes, and later overrides set the field again.
    assert_eq!(with(rest, &unset), with(rest, &[]));
    let again = with(
        text,
        &[
            "path.policer=unset",
            "path.policer.rate=9Mbit/s",
            "path.policer.burst=30kB",
        ],
    );
    assert_eq!(again.path.policer.unwrap().rate, Rate::from_mbps(9.0));
    for (wrong, message) in [
        ("flows.0=unset", "an element of a list cannot be unset"),
        ("path.rttt=unset", "did you mean \"rtt\"?"),
        ("flows.0.pace=unset", "there is no such field"),
        ("=unset", "the field is empty"),
    ] {
        let error = Scenario::from_toml(rest, "x.toml", &[wrong.to_owned()]).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

/// Names of sysctls have dots themselves.
#[test]
fn settings_of_the_kernel_are_named_in_full() {
    let scenario = with(
        "[kernel.sysctl]\n\"net.ipv4.tcp_ecn\" = 1\n",
        &[
            "kernel.sysctl.net.ipv4.tcp_notsent_lowat=131072",
            "kernel.sysctl.\"net.ipv4.tcp_rmem\"=4096 65536 65536",
            "kernel.module.tcp_cubic.hystart=false",
        ],
    );
    let sysctl = &scenario.kernel.sysctl;
    assert_eq!(sysctl["net.ipv4.tcp_ecn"], Parameter::Number(1.0));
    assert_eq!(
        sysctl["net.ipv4.tcp_notsent_lowat"],
        Parameter::Number(131_072.0)
    );
    let buffers = Parameter::Text("4096 65536 65536".to_owned());
    assert_eq!(sysctl["net.ipv4.tcp_rmem"], buffers);
    assert_eq!(
        scenario.kernel.module["tcp_cubic.hystart"],
        Parameter::Switch(false)
    );
    assert_eq!(with(&scenario.to_toml(), &[]), scenario);
}

#[test]
fn an_element_of_a_default_list_is_changed_and_the_next_is_new() {
    let scenario = with(
        "",
        &[
            "path.wired.0.rate=100Mbit/s",
            "flows.0.cca=newreno",
            "flows.1.cca=bbr",
        ],
    );
    let wired = &scenario.path.wired;
    assert_eq!((wired.len(), wired[0].name.as_str()), (1, "wan"));
    assert_eq!(wired[0].rate, Capacity::constant(Rate::from_mbps(100.0)));
    let flows: Vec<_> = scenario
        .flows
        .iter()
        .map(|f| (f.name.as_str(), f.cca.name()))
        .collect();
    assert_eq!(flows, [("flow-1", "reno"), ("flow-2", "bbr")]);
}

#[test]
fn a_flow_from_the_phone_goes_to_the_server() {
    let ends = |changes: &[&str]| {
        let flow = with("", changes).flows.swap_remove(0);
        (flow.from, flow.to)
    };
    let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    assert_eq!(ends(&[]), pair("server", "phone"));
    assert_eq!(ends(&["flows.0.from=phone"]), pair("phone", "server"));
    assert_eq!(ends(&["flows.0.from=gateway"]), pair("gateway", "phone"));
}

#[test]
fn one_capacity_replaces_the_other() {
    let recorded = "[path.down]\ntrace = \"a.down\"\nformat = \"mahimahi\"";
    let constant = Capacity::constant(Rate::from_mbps(5.0));
    assert_eq!(
        with(recorded, &["path.down.rate=5Mbit/s"]).path.down,
        constant
    );
    assert_eq!(with(recorded, &["path.down=5Mbit/s"]).path.down, constant);
    let other = with(recorded, &["path.down.trace=b.down"]).path.down;
    assert!(
        matches!(other, Capacity::Trace(file) if file.trace == "b.down" && file.format.is_some())
    );
    let generated = with("", &["path.down.generate.mean=7Mbit/s"]).path.down;
    assert_eq!(
        generated.mean_rate(Duration::from_secs(1)),
        Some(Rate::from_mbps(7.0))
    );
}

#[test]
fn one_kind_replaces_the_other_and_a_word_grows_parameters() {
    let pie = "[path.queue]\nkind = \"pie\"\nalpha = 1";
    assert!(matches!(
        with(pie, &["path.queue.kind=codel"]).path.queue,
        Queue::Codel(_)
    ));
    assert!(
        matches!(with(pie, &["path.queue.kind=pie"]).path.queue, Queue::Pie(p) if p.alpha == 1.0)
    );
    let codel = with("[path]\nqueue = \"codel\"", &["path.queue.target=9ms"])
        .path
        .queue;
    assert!(matches!(codel, Queue::Codel(c) if c.target == Duration::from_millis(9)));
    let bursts = with(
        "[path]\nloss = 0.1",
        &[
            "path.loss.kind=gilbert-elliott",
            "path.loss.to_bad=0.01",
            "path.loss.to_good=0.5",
        ],
    );
    assert!(matches!(bursts.path.loss, Loss::GilbertElliott(m) if m.loss_bad == 1.0));
}

#[test]
fn a_congestion_control_grows_parameters() {
    let cca = &with("", &["flows.0.cca.hystart=off", "flows.0.cca.beta=0.5"]).flows[0].cca;
    assert_eq!(cca.name(), "cubic");
    assert_eq!(cca.settings()["hystart"], "off");
    assert_eq!(cca.settings()["beta"], "0.5");
}

#[test]
fn a_default_workload_is_limited() {
    let scenario = with("", &["flows.0.workload.bytes=10MB"]);
    assert!(
        matches!(&scenario.flows[0].workload, Workload::Bulk(b) if b.bytes == Some(Bytes::new(10_000_000)))
    );
}

#[test]
fn a_trace_alone_is_a_scenario() {
    let overrides = ["path.rtt=68ms".to_owned()];
    let scenario = Scenario::from_trace("a/TMobile-LTE.down", Some("a/b.up"), &overrides).unwrap();
    assert_eq!(scenario.name, "TMobile-LTE");
    assert_eq!(scenario.path.buffer, Buffer::Packets(750));
    assert_eq!(scenario.path.rtt, Duration::from_millis(68));
    assert!(matches!(&scenario.path.up, Capacity::Trace(file) if file.trace == "a/b.up"));
    assert_eq!(scenario.randomness(), ["trace offset", "start jitter"]);
}

#[test]
fn names_do_not_change_the_hash_but_all_else_does() {
    let plain = with("", &[]).hash();
    assert_eq!(plain.len(), 16);
    assert_eq!(with("name = \"other\"", &[]).hash(), plain);
    assert_eq!(with("[path]\nrtt = \"40ms\"", &[]).hash(), plain);
    assert_ne!(with("", &["path.rtt=41ms"]).hash(), plain);
}

#[test]
fn every_field_is_explained_and_every_default_is_there() {
    let printed = with("", &[]).to_toml();
    let lines: Vec<&str> = printed.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let field = line
            .split(" =")
            .next()
            .filter(|_| line.contains('=') || line.starts_with('['));
        if let Some(field) = field.filter(|_| !line.starts_with("# ") && *line != "kind = \"bulk\"")
        {
            assert!(
                index > 0 && lines[index - 1].starts_with("# "),
                "{field} is not explained"
            );
        }
    }
    for default in [
        "duration = \"60s\"",
        "rtt = \"40ms\"",
        "buffer = \"1bdp\"",
        "down = { rate = \"50Mbit/s\" }",
        "rate = \"1Gbit/s\"",
        "# mss =",
        "receive_buffer_max = \"6MiB\"",
        "start_jitter = \"100ms\"",
        "[[flows]]",
        "cca = \"cubic\"",
    ] {
        assert!(
            lines.contains(&default),
            "{default} is missing in\n{printed}"
        );
    }
}

#[test]
fn named_delays_leave_the_rest_to_the_first_hop_without() {
    let scenario = with(
        "[path]\nrtt = \"50ms\"\n[[path.wired]]\ndelay = \"5ms\"\n[[path.wired]]\n[[path.wired]]",
        &[],
    );
    let delays = scenario.path.wired_delays();
    assert_eq!(delays, [5, 20, 0].map(Duration::from_millis));
}

#[test]
fn the_mean_of_steps_is_weighted_by_time() {
    let steps = "[path]\ndown.steps = [{ at = \"0s\", rate = \"10Mbit/s\" }, { at = \"20s\", rate = \"40Mbit/s\" }]";
    let mean = with(steps, &[])
        .path
        .down
        .mean_rate(Duration::from_secs(60));
    assert_eq!(mean, Some(Rate::from_mbps(30.0)));
    assert_eq!(
        Buffer::Bdp(1.0).resolve(Rate::from_mbps(30.0), Duration::from_millis(40)),
        Buffer::Bytes(Bytes::new(150_000))
    );
}

/// One field of a scenario and values for it.
fn assignment() -> impl Strategy<Value = String> {
    let time = (1_u64..2_000_000_000).prop_map(|ns| format!("{ns}ns"));
    let rate = (1_u64..1_000_000_000).prop_map(|bits| format!("{bits}bit/s"));
    let size = (10_000_u64..100_000_000).prop_map(|bytes| format!("{bytes}B"));
    let distribution = prop_oneof![
        time.clone(),
        time.clone()
            .prop_map(|t| format!("{{ kind = 'exponential', mean = '{t}' }}")),
        (time.clone(), 0.1..9.0)
            .prop_map(|(t, s)| format!("{{ kind = 'gamma', scale = '{t}', shape = {s:?} }}")),
        time.clone()
            .prop_map(|t| format!("{{ kind = 'normal', mean = '{t}', sd = '{t}' }}")),
    ];
    let field = |name: &'static str| move |value: String| format!("{name}={value}");
    prop_oneof![
        time.clone().prop_map(field("path.rtt")),
        time.clone().prop_map(field("path.queue.target")),
        time.clone().prop_map(field("path.jitter.mean")),
        time.clone()
            .prop_map(field("path.down.generate.correlation")),
        rate.clone().prop_map(field("path.up.rate")),
        rate.clone().prop_map(field("path.cross_traffic.0.rate")),
        distribution
            .clone()
            .prop_map(|d| format!("path.cross_traffic=[{{ on = {0}, off = {0} }}]", quoted(&d))),
        distribution.prop_map(|d| format!(
            "flows.0.workload={{ kind = 'on-off', off = {} }}",
            quoted(&d)
        )),
        size.prop_map(field("path.buffer")),
        (0.001_f64..9.0).prop_map(|b| format!("path.uplink_buffer={b}bdp")),
        (1_u64..9000).prop_map(|b| format!("path.wired.0.buffer={b}ms")),
        (0.0_f64..=1.0).prop_map(|p| format!("path.loss={p:?}")),
        prop::sample::select(vec!["droptail", "codel", "fq-codel", "pie"])
            .prop_map(|q| format!("path.wired.0.queue={q}")),
        "[a-z\"\\\\ é\u{7f}\n]{1,12}".prop_map(|s| format!(
            "description={}",
            serde_json::Value::from(s).to_string().replace('\u{7f}', "")
        )),
        Just("links=[{ from = 'gateway', to = 'rival' }]".to_owned()),
        Just("tcp.window_scale=7".to_owned()),
        Just("flows.0.cca=reno:slow_start=hystart".to_owned()),
    ]
}

fn quoted(value: &str) -> String {
    if value.starts_with('{') {
        value.to_owned()
    } else {
        format!("'{value}'")
    }
}

proptest! {
    #[test]
    fn any_scenario_is_printed_and_read_back(assignments in prop::collection::vec(assignment(), 0..8)) {
        let mut overrides = vec!["path.queue=codel".to_owned()];
        overrides.extend(assignments);
        let scenario = Scenario::from_toml("", "random.toml", &overrides).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let printed = scenario.to_toml();
        let again = Scenario::from_toml(&printed, "printed", &[])
            .map_err(|e| TestCaseError::fail(format!("{e}\n{printed}")))?;
        prop_assert_eq!(&again, &scenario);
        let from_json: Scenario = serde_json::from_str(&scenario.to_json()).unwrap();
        prop_assert_eq!(&from_json, &scenario);
    }
}

#[test]
fn words_and_numbers_mean_the_same_as_tables() {
    let scenario = with(
        "[tcp]\nwindow_scale = false\n[[flows]]\ncca = \"reno:slow_start=hystart\"\nworkload = \"sequence\"",
        &["flows.0.workload.size=30kB"],
    );
    assert_eq!(scenario.tcp.window_scale, WindowScale::Off);
    assert_eq!(scenario.flows[0].cca.to_string(), "reno:slow_start=hystart");
    let Workload::ShortDownloads(flows) = &scenario.flows[0].workload else {
        panic!("not a sequence");
    };
    assert_eq!(
        flows.size,
        Distribution::Constant {
            value: Bytes::new(30_000)
        }
    );
}
