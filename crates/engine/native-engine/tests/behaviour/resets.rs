//! Connections that a phone aborts, and the tracker that keeps their data off the air.

use results::Tables;
use scenario::Scenario;

use crate::library::run;

/// A phone that aborts four connections in a cell of about 3 Mbit/s, during a download to the same phone.
fn downloads(tracker: &str) -> Tables {
    let text = format!(
        r#"
        duration = "20s"
        variation.start_jitter = "0s"
        tcp.receive_buffer_max = "262kB"
        [path]
        rtt = "60ms"
        middleboxes = [{tracker}]
        [radio]
        prbs = 6
        [radio.rlc]
        buffer = "500packets"
        [[radio.ues]]
        sinr = "12dB"
        [[flows]]
        name = "video"
        workload = {{ kind = "abandoning", video = "2MB", keep = "400kB" }}
        [[flows]]
        name = "beside"
        workload = {{ kind = "bulk", bytes = "300kB" }}
        "#
    );
    let scenario = Scenario::from_toml(&text, "resets", &[]).expect("valid");
    run(&scenario, 1)
}

fn sum(tables: &Tables, column: &[u64], name: &str) -> u64 {
    let named = tables.flows.name.iter().zip(column);
    named
        .filter(|(flow, _)| *flow == name)
        .map(|(_, value)| value)
        .sum()
}

#[test]
fn late_data_is_discarded_and_each_segment_of_it_is_reset() {
    let tables = downloads("");
    let (discarded, resets) = (
        sum(&tables, &tables.flows.discarded_bytes, "video"),
        sum(&tables, &tables.flows.resets, "video"),
    );
    println!("{discarded} bytes discarded, {resets} resets");
    assert_eq!(sum(&tables, &tables.flows.bytes, "video"), 2_000_000);
    assert!(discarded > 40_000 && resets >= discarded / 1_448);
    assert_eq!(sum(&tables, &tables.flows.spared_bytes, "video"), 0);
}

#[test]
fn a_tracker_keeps_late_data_off_the_air_and_touches_no_other_connection() {
    let plain = downloads("");
    let tracked = downloads("{ kind = 'reset-tracker' }");
    let of = |tables: &Tables, column: &[u64]| sum(tables, column, "video");
    let spared = of(&tracked, &tracked.flows.spared_bytes);
    let discarded = of(&tracked, &tracked.flows.discarded_bytes);
    let before = of(&plain, &plain.flows.discarded_bytes);
    println!("{before} bytes discarded, with the tracker {discarded}, {spared} spared");
    assert!(spared > before / 3 && discarded < before);
    assert!(of(&tracked, &tracked.flows.resets) < of(&plain, &plain.flows.resets));
    for tables in [&plain, &tracked] {
        assert_eq!(sum(tables, &tables.flows.bytes, "video"), 2_000_000);
        assert_eq!(sum(tables, &tables.flows.bytes, "beside"), 300_000);
        assert_eq!(sum(tables, &tables.flows.spared_bytes, "beside"), 0);
        assert_eq!(sum(tables, &tables.flows.resets, "beside"), 0);
    }
}

/// With a short time, data that is still on the wire passes.
#[test]
fn the_tracker_forgets_a_connection_after_its_time() {
    let long = downloads("{ kind = 'reset-tracker', discard_time = '5s' }");
    let short = downloads("{ kind = 'reset-tracker', discard_time = '1us' }");
    let spared = |tables: &Tables| sum(tables, &tables.flows.spared_bytes, "video");
    assert!(spared(&short) < spared(&long));
}

/// Kim 2016, section 4.3.1: the window closes between bursts, and the server probes it.
#[test]
fn a_window_paced_client_holds_the_server_back() {
    let text = r#"
        duration = "60s"
        tcp.receive_buffer_max = "82kB"
        path.rtt = "50ms"
        [[flows]]
        workload = { kind = "window-paced", burst = "2MB", period = "20s", jitter = 0, video = "50MB" }
    "#;
    let tables = run(&Scenario::from_toml(text, "paced", &[]).expect("valid"), 1);
    let row = tables.flows.row(0);
    println!(
        "{} bytes, {} s limited by the window",
        row.bytes, row.receive_window_limited_s
    );
    // Three bursts, small reads between them, and a full buffer.
    assert!((6_000_000..7_500_000).contains(&row.bytes), "{}", row.bytes);
    assert!(row.receive_window_limited_s > 30.0);
}

/// Kim 2016, section 4.3.2: a piece every ten seconds on one connection.
#[test]
fn a_chunked_client_asks_every_ten_seconds() {
    let text = r#"
        duration = "35s"
        [[flows]]
        workload = { kind = "chunked", piece = "1MB", jitter = 0 }
    "#;
    let tables = run(
        &Scenario::from_toml(text, "chunked", &[]).expect("valid"),
        1,
    );
    assert_eq!((tables.flows.len(), tables.flows.bytes[0]), (1, 4_000_000));
}
