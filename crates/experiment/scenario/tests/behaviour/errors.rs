//! Errors of scenario files, as users see them.

use cca::registry::lookup;
use scenario::Scenario;

/// The one line that a file gets.
#[track_caller]
fn complaint(text: &str) -> String {
    let error = Scenario::from_toml(text, "bad.toml", &[]).unwrap_err();
    let line = error.to_string();
    assert!(!line.contains('\n'), "{line}");
    line
}

#[track_caller]
fn complaint_about(assignment: &str) -> String {
    let error = Scenario::from_toml("", "bad.toml", &[assignment.to_owned()]).unwrap_err();
    error.to_string()
}

#[test]
fn a_wrong_value_is_named_with_its_line_its_field_and_what_is_allowed() {
    assert_eq!(
        complaint("name = \"x\"\n\n[path]\nbuffer = \"1bdb\"\n"),
        "bad.toml:4: path.buffer: \"1bdb\" is not a buffer size; allowed: bandwidth-delay products \
         (\"1bdp\"), packets (\"150packets\"), bytes (\"300kB\"), time at the mean rate (\"90ms\")"
    );
    assert_eq!(
        complaint("duration = 60"),
        "bad.toml:1: duration: \"60\" is not a time such as \"68ms\" (units: ns, us, ms, s, min, h)"
    );
    assert_eq!(
        complaint("[path]\ndown.rate = \"-5Mbit/s\""),
        "bad.toml:2: path.down.rate: \"-5Mbit/s\" is not a rate such as \"20Mbit/s\" (units: bit/s, \
         kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s, KiB/s, MiB/s)"
    );
    assert_eq!(
        complaint("[tcp]\ntlp = 1"),
        "bad.toml:2: tcp.tlp: 1 is not true or false"
    );
    assert_eq!(
        complaint("[tcp]\nwindow_scale = 15"),
        "bad.toml:2: tcp.window_scale: 15 is not true, false or a shift from 0 to 14"
    );
    assert_eq!(
        complaint("[tcp]\ninitial_window = -1"),
        "bad.toml:2: tcp.initial_window: -1 is not a whole number from 0 to 4294967295"
    );
    assert_eq!(
        complaint("[path]\njitter = \"15ms\""),
        "bad.toml:2: path.jitter: \"15ms\" is not a table; allowed in it: distribution, mean, sd, reorder"
    );
}

/// A field is not ignored without a word because of another one.
#[test]
fn a_field_that_another_one_makes_void_is_an_error() {
    for (lines, part) in [
        (
            "keepalive_interval = '1s'",
            "tcp.keepalive_interval: has no effect without keepalive",
        ),
        (
            "keepalive_probes = 3",
            "tcp.keepalive_probes: has no effect without keepalive",
        ),
        (
            "delayed_ack = false\ndelayed_ack_timeout = '90ms'",
            "tcp.delayed_ack_timeout: has no effect without delayed_ack = true",
        ),
    ] {
        let line = complaint(&format!("[tcp]\n{lines}"));
        assert!(line.contains(part), "{line}");
    }
    let whole = "[tcp]\nkeepalive = '9s'\nkeepalive_interval = '1s'\nkeepalive_probes = 3";
    assert!(Scenario::from_toml(whole, "good.toml", &[]).is_ok());
}

#[test]
fn middleboxes_need_a_node_of_their_own_between_the_hosts() {
    let boxes = |entries: &str| complaint_about(&format!("path.middleboxes=[{entries}]"));
    for (entries, part) in [
        (
            "{ kind = 'es', at = 'phone' }",
            "path.middleboxes.0.at: \"phone\" is not a node between the hosts; allowed: gateway",
        ),
        (
            "{ kind = 'es', at = 'node-1' }",
            "path.middleboxes.0.at: \"node-1\" is not a node between the hosts; allowed: gateway",
        ),
        (
            "{ at = 'gateway' }, { kind = 'es', at = 'base-station' }",
            "path.middleboxes.1.at: \"gateway\" has a middlebox already; allowed: one at each node",
        ),
        (
            "{ kind = 'split', reserve = 3 }",
            "path.middleboxes.0.reserve: 3 is set, but this is only for \"es\" and \"as\"; leave it out",
        ),
        (
            "{ kind = 'es', reserve = 1 }",
            "path.middleboxes.0.reserve: 1 is out of range; allowed: 2 to 1000",
        ),
        (
            "{ buffer = '1kB' }",
            "path.middleboxes.0.buffer: 1kB is out of range; allowed: 3kB to",
        ),
        (
            "{ cca = 'renno' }",
            "path.middleboxes.0.cca: \"renno\" is not a congestion control; did you mean \"reno\"?; allowed: ",
        ),
    ] {
        let error = boxes(entries);
        assert!(error.contains(part), "{entries}: {error}");
    }
    let flow_there = [
        "path.middleboxes=[{ kind = 'es' }]".to_owned(),
        "flows=[{ to = 'gateway' }]".to_owned(),
    ];
    let error = Scenario::from_toml("", "bad.toml", &flow_there).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("is a host: flow \"flow-1\" ends there"),
        "{error}"
    );
}

#[test]
fn rows_that_do_not_fit_in_memory_are_rejected_with_the_estimate() {
    assert_eq!(
        complaint("slot = \"1ns\""),
        "bad.toml:1: slot: 1ns is out of range; allowed: values with which the rows of a run take up to 8.6 GB \
         (limits.memory), not 21600.0 GB"
    );
    assert!(complaint("samples = \"1ns\"").starts_with("bad.toml:1: samples: 1ns is out of range"));
    assert!(
        complaint("[[flows]]\ncount = 4000000000")
            .starts_with("bad.toml:2: flows.0.count: 4000000000")
    );
    assert!(Scenario::from_toml("slot = \"10us\"", "fine.toml", &[]).is_ok());
}

#[test]
fn a_spread_of_starts_ends_within_the_run() {
    let head = "duration = \"20s\"\n[[flows]]\nstart = \"5s\"\nstart_spread = ";
    assert_eq!(
        complaint(&format!("{head}\"16s\"")),
        "bad.toml:4: flows.0.start_spread: 16s is out of range; allowed: times of at most the duration after start, 15s"
    );
    assert!(
        complaint(&format!("{head}\"0s\"")).starts_with("bad.toml:4: flows.0.start_spread: 0s")
    );
    let fits = format!("{head}\"15s\"");
    assert!(Scenario::from_toml(&fits, "fine.toml", &[]).is_ok());
}

#[test]
fn a_number_beyond_all_numbers_is_rejected() {
    let error = complaint("[radio]\nfrequency = \"1e308MHz\"");
    assert!(
        error.starts_with("bad.toml:2: radio.frequency: \"1e308MHz\" is not"),
        "{error}"
    );
}

#[test]
fn an_unknown_field_comes_with_the_nearest() {
    assert_eq!(
        complaint("[variation]\ntrace_ofset = true"),
        "bad.toml:2: variation.trace_ofset: there is no such field; did you mean \"trace_offset\"?; \
         allowed: trace_offset, start_jitter"
    );
    assert_eq!(
        complaint("[[path.wired]]\n[[path.wired]]\nqueue.kind = \"codel\"\nqueue.tarjet = \"1ms\""),
        "bad.toml:4: path.wired.1.queue.tarjet: there is no such field; did you mean \"target\"?; \
         allowed: target, interval, ecn"
    );
    assert_eq!(
        complaint("[path.queue]\nkind = \"droptail\"\ntarget = \"1ms\""),
        "bad.toml:3: path.queue.target: there is no such field; allowed: none"
    );
    assert_eq!(
        complaint("[path.queue]\nkind = \"codel\"\nestimator = \"timestamps\""),
        "bad.toml:3: path.queue.estimator: there is no such field; allowed: target, interval, ecn"
    );
}

#[test]
fn a_direction_of_a_flow_and_a_list_of_rates_come_with_what_is_meant() {
    let error = complaint("[[flows]]\ndirection = \"upload\"");
    let expected = "flows.0.direction: there is no such field; did you mean \"flows.0.from\"?";
    assert!(error.contains(expected), "{error}");
    for (table, field) in [("path.down", "path.down.rate"), ("path.up", "path.up.rate")] {
        let text = format!("[{table}]\nrate = [{{ at = \"0s\", rate = \"9Mbit/s\" }}]");
        assert_eq!(
            complaint(&text),
            format!(
                "bad.toml:2: {field}: a list is not a text with a unit; rates over time are \
                 steps = [{{ at = \"0s\", rate = \"5Mbit/s\" }}] in place of rate"
            )
        );
    }
}

#[test]
fn an_unknown_kind_comes_with_the_nearest() {
    assert_eq!(
        complaint("[path]\nqueue = \"fqcodel\""),
        "bad.toml:2: path.queue: \"fqcodel\" is not a choice here; did you mean \"fq-codel\"?; \
         allowed: droptail, threshold, codel, fq-codel, pie, red"
    );
    assert_eq!(
        complaint("[path.queue]\ntarget = \"5ms\""),
        "bad.toml:1: path.queue: field kind is missing"
    );
    assert_eq!(
        complaint("[path.down]\ntrace = \"x.down\"\nformat = \"cvs\""),
        "bad.toml:3: path.down.format: \"cvs\" is not a choice here; did you mean \"csv\"?; allowed: \
         mahimahi, spreadsheet, json, iperf3, iperf2, mm-link, zeek, nyu-mets, phone-log, speedtest, srsran, csv"
    );
    assert_eq!(
        complaint(
            "[[flows]]\nworkload.kind = \"sequence\"\nworkload.gap = { kind = \"normal\", mean = \"1s\" }"
        ),
        "bad.toml:3: flows.0.workload.gap: \"normal\" takes mean, sd"
    );
}

#[test]
fn an_unknown_congestion_control_comes_with_the_nearest() {
    let mut all = cca::CCAS.map(|cca| cca.name);
    all.sort_unstable();
    let all = all.join(", ");
    assert_eq!(
        complaint("[[flows]]\ncca = \"cubik\""),
        format!(
            "bad.toml:2: flows.0.cca: \"cubik\" is not a congestion control; did you mean \
             \"cubic\"?; allowed: auto, {all}"
        )
    );
    let unknown = complaint("[[flows]]\ncca = { name = \"cubic\", betta = 0.5 }");
    let expected = "bad.toml:2: flows.0.cca: cubic has no parameter \"betta\"; did you mean \"beta\"?; \
                    allowed: c, beta, fast_convergence, tcp_friendliness, ";
    assert!(unknown.starts_with(expected), "{unknown}");
    assert_eq!(
        complaint("[[flows]]\ncca = { name = \"cubic\", beta = 2 }"),
        "bad.toml:2: flows.0.cca: cubic: \"2\" is not a value of beta; allowed: numbers from 0.01 to 0.99"
    );
    assert_eq!(lookup("NewReno", &[]).unwrap().name, "reno");
    assert_eq!(lookup("BBRv1", &[]).unwrap().name, "bbr");
    assert_eq!(
        complaint(
            "[[flows]]\ncca = { name = \"cubic\", slow_start = \"standard\", hystart = true }"
        ),
        "bad.toml:2: flows.0.cca: cubic: give slow_start or hystart, not both"
    );
}

#[test]
fn values_must_make_sense() {
    for (text, complained) in [
        (
            "duration = \"0s\"",
            "1: duration: 0s is out of range; allowed: more than zero",
        ),
        (
            "slot = \"7s\"",
            "1: slot: 7s is out of range; allowed: divisors of the duration, 60s, such as slot=100ms",
        ),
        (
            "[path]\nloss = 1.5",
            "2: path.loss: 1.5 is out of range; allowed: 0 to 1",
        ),
        (
            "[path]\nloss = nan",
            "2: path.loss: NaN is out of range; allowed: 0 to 1",
        ),
        (
            "[path]\nmtu = \"100B\"",
            "2: path.mtu: 100B is out of range; allowed: 128B to 9kB",
        ),
        (
            "[path]\ndown = \"0bit/s\"",
            "2: path.down.rate: 0bit/s is out of range; allowed: more than zero",
        ),
        (
            "[path]\nbuffer = \"0bdp\"",
            "2: path.buffer: 0bdp is out of range; allowed: more than 0bdp",
        ),
        (
            "[path]\ndown.steps = [\n{ at = \"1s\", rate = \"1Mbit/s\" },\n]",
            "3: path.down.steps.0.at: 1s is out of range; allowed: 0s for the first step",
        ),
        (
            "[path]\ndown.steps = [\n{ at = \"0s\", rate = \"1Mbit/s\" },\n{ at = \"0s\", rate = \"1Mbit/s\" }]",
            "4: path.down.steps.1.at: 0s is out of range; allowed: times after the step before, 0s",
        ),
        (
            "[path]\ndown.steps = [{ at = \"0s\" }]",
            "2: path.down.steps.0: field rate is missing",
        ),
        (
            "[path]\n[path.down]\nrate = \"1Mbit/s\"\ntrace = \"x\"",
            "2: path.down: give exactly one of rate, steps, trace (with an optional format), generate",
        ),
        (
            "[path]\nrtt = \"40ms\"\n[[path.wired]]\ndelay = \"30ms\"",
            "4: path.wired.0.delay: 30ms is out of range; allowed: delays that add up to half of path.rtt, 20ms, at most",
        ),
        (
            "[path]\nrtt = \"40ms\"\n[[path.wired]]\ndelay = \"10ms\"",
            "4: path.wired.0.delay: the delays add up to 10ms, but half of path.rtt is 20ms; leave one out",
        ),
        (
            "[[flows]]\nto = \"fone\"",
            "2: flows.0.to: \"fone\" is not a node; allowed: gateway, phone, server",
        ),
        (
            "[[flows]]\nname = \"a\"\n[[flows]]\nname = \"a\"",
            "4: flows.1.name: \"a\" is already the value of flows.0.name",
        ),
        (
            "[[links]]\nfrom = \"server\"\nto = \"phone\"",
            "3: links.0.to: \"server\" and \"phone\" are already connected; allowed: links that make a tree with the path",
        ),
        (
            "[[links]]\nfrom = \"server\"\nto = \"node-1\"\n[[path.wired]]\n[[path.wired]]",
            "3: links.0.to: \"server\" and \"node-1\" are already connected; allowed: links that make a tree with the path",
        ),
        (
            "[[path.wired]]\nname = \"access\"",
            "2: path.wired.0.name: \"access\" is the name of an access link; choose another",
        ),
        (
            "[[links]]\nname = \"access\"\nfrom = \"gateway\"\nto = \"a\"",
            "2: links.0.name: \"access\" is the name of an access link; choose another",
        ),
        (
            "[[path.wired]]\nname = \"lan\"\n[[path.wired]]\nname = \"lan\"",
            "4: path.wired.1.name: \"lan\" is already the value of path.wired.0.name",
        ),
        (
            "[path]\nuplink_queue = { kind = \"codel\", target = \"0s\" }",
            "2: path.uplink_queue.target: 0s is out of range; allowed: more than zero",
        ),
        (
            "[path]\nuplink_buffer = \"0ms\"",
            "2: path.uplink_buffer: 0s is out of range; allowed: more than 0s",
        ),
        (
            "[[links]]\nfrom = \"a\"\nto = \"b\"",
            "2: links.0.from: \"a\" is not connected to the path",
        ),
        (
            "[[path.cross_traffic]]\non = \"1s\"",
            "2: path.cross_traffic.0.on: is given without off; allowed: both or none",
        ),
        (
            "[[flows]]\nworkload = { kind = \"on-off\", on = \"0s\" }",
            "2: flows.0.workload.on: 0s is out of range; allowed: more than zero",
        ),
    ] {
        assert_eq!(complaint(text), format!("bad.toml:{complained}"));
    }
}

#[test]
fn what_is_not_even_toml_has_its_line() {
    let line = complaint("name = \"x\"\nduration = = 3\n");
    assert!(line.starts_with("bad.toml:2: "), "{line}");
    let line = complaint("name = \"x\"\nname = \"y\"\n");
    assert!(line.starts_with("bad.toml:2: duplicate key"), "{line}");
}

#[test]
fn an_override_is_blamed_by_what_it_says() {
    assert_eq!(
        complaint_about("path.rtt=60"),
        "override path.rtt=60: path.rtt: \"60\" is not a time such as \"68ms\" (units: ns, us, ms, s, \
         min, h)"
    );
    assert_eq!(
        complaint_about("path.bufer=1bdp"),
        "override path.bufer=1bdp: path.bufer: there is no such field; did you mean \"buffer\"?; \
         allowed: rtt, down, up, buffer, uplink_buffer, queue, uplink_queue, mtu, loss, uplink_loss, blackouts, \
         policer, jitter, cross_traffic, wired, middleboxes"
    );
    assert_eq!(
        complaint_about("path.buffer"),
        "override path.buffer: not of the form field=value"
    );
    assert_eq!(
        complaint_about("kernel.sysctl.vm.swappiness=1"),
        "override kernel.sysctl.vm.swappiness=1: kernel.sysctl.vm.swappiness: is not the name of a sysctl \
         of a host's network; allowed: names such as net.ipv4.tcp_notsent_lowat"
    );
    assert_eq!(
        complaint_about("kernel.queue=true"),
        "override kernel.queue=true: kernel.queue: takes an access link of constant rate, whose path.buffer is in \
         packets"
    );
    assert_eq!(
        complaint_about("flows.0.switch=[{at=\"90s\",to=\"bbr\"}]"),
        "override flows.0.switch=[{at=\"90s\",to=\"bbr\"}]: flows.0.switch.0.at: 90s is out of range; \
         allowed: times after that of the switch before, 0s, and below the duration, 60s"
    );
    assert_eq!(
        complaint_about("path..buffer=1bdp"),
        "override path..buffer=1bdp: the field is empty or has an empty part"
    );
    assert_eq!(
        complaint_about("flows.7.cca=bbr"),
        "override flows.7.cca=bbr: flows.7: \"7\" is not a place in the list; allowed: 0 to 1"
    );
    assert_eq!(
        complaint_about("path.mtu=100B"),
        "override path.mtu=100B: path.mtu: 100B is out of range; allowed: 128B to 9kB"
    );
}

/// A scenario that can be read can be run: no later validator rejects it without a line.
#[test]
fn cross_traffic_and_generated_capacity_are_rejected_where_they_are_written() {
    assert_eq!(
        complaint("[[path.cross_traffic]]\nrate = \"1Mbit/s\"\npacket = \"27B\""),
        "bad.toml:3: path.cross_traffic.0.packet: 27B is out of range; allowed: 28B to 1500B"
    );
    assert_eq!(
        complaint("[path.down.generate]\nvariability = 6.0"),
        "bad.toml:2: path.down.generate.variability: 6 is out of range; allowed: 0 to 5"
    );
    let never_off = "[[path.cross_traffic]]\non = \"1s\"\noff = \"0s\"";
    assert!(Scenario::from_toml(never_off, "good.toml", &[]).is_ok());
}

#[test]
fn a_policy_that_is_not_there_is_named_with_its_line() {
    let text = "duration = \"1s\"\n[[flows]]\ncca = \"auto:policy=none.toml\"";
    let mut scenario = Scenario::from_toml(text, "bad.toml", &[]).unwrap();
    let error = scenario
        .load_selection("/nowhere".as_ref())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("bad.toml:3: flows.0.cca: \"none.toml\" cannot be read"),
        "{error}"
    );
}
