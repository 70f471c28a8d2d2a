//! Applications with two ends, on our TCP over a path that the checker watches.

use results::Tables;

use crate::library::{first, run, scenario};

/// The times of all responses, s.
fn response_times(tables: &Tables) -> Vec<f64> {
    let events = (0..tables.events.len()).map(|index| tables.events.row(index));
    let responses = events.filter(|event| event.kind == "response_s");
    responses
        .map(|event| event.detail.parse().expect("a number"))
        .collect()
}

/// Returns the latest figure of a kind.
fn figure(tables: &Tables, kind: &str) -> Option<f64> {
    let mut events = (0..tables.events.len()).map(|index| tables.events.row(index));
    let result = events.rfind(|event| event.kind == kind)?;
    Some(result.detail.parse().expect("a number"))
}

const REQUESTS: &str = "{ kind = 'request-response', request = '2kB', response = '50kB', think = '30ms', \
                        gap = '200ms', jitter = 0, count = 5 }";

#[test]
fn each_request_has_a_response_and_its_time() {
    let workload = format!("flows.0.workload={REQUESTS}");
    let tables = run(&scenario("steady-20-68", &[&workload, "duration=10s"]), 1);
    let row = first(&tables.flows);
    // Requests are not among the bytes of the flow.
    assert_eq!(row.bytes, 5 * 50_000);
    let times = response_times(&tables);
    assert_eq!(times.len(), 5);
    // A round trip, the time to think, and 50 kB at 20 Mbit/s.
    assert!(
        times.iter().all(|time| *time > 0.068 + 0.030 + 0.020),
        "{times:?}"
    );
    // The first one has the handshake, too.
    assert!(times[0] > times[4] + 0.068, "{times:?}");
    let gaps = 4.0 * 0.2;
    let together: f64 = times.iter().sum();
    assert!(
        (row.completion_s - together - gaps).abs() < 1e-6,
        "{}",
        row.completion_s
    );
}

/// Independent users do not act in the same instant, unless the scenario says so; the CCA has no part in the draws.
#[test]
fn sessions_of_a_flow_start_within_its_spread() {
    let starts = |cca: &str, spread: &[&str], seed| {
        let flow = format!("flows.0.workload={REQUESTS}");
        let cca = format!("flows.0.cca={cca}");
        let mut changes = vec![flow.as_str(), &cca, "flows.0.count=8", "duration=12s"];
        changes.extend(spread);
        changes.push("variation.start_jitter=0s");
        let tables = run(&scenario("steady-20-68", &changes), seed);
        let rows = (0..tables.flows.len()).map(|index| tables.flows.row(index));
        rows.map(|row| row.start_s).collect::<Vec<f64>>()
    };
    assert_eq!(starts("cubic", &[], 1), [0.0; 8]);
    let spread = ["flows.0.start=1s", "flows.0.start_spread=2s"];
    let of_cubic = starts("cubic", &spread, 1);
    assert!(of_cubic.iter().all(|start| (1.0..3.0).contains(start)));
    let range = |starts: &[f64]| {
        let latest = starts.iter().copied().fold(0.0, f64::max);
        latest - starts.iter().copied().fold(9.0, f64::min)
    };
    assert!(range(&of_cubic) > 0.5, "{of_cubic:?}");
    assert_eq!(of_cubic, starts("bbr", &spread, 1));
    assert_ne!(of_cubic, starts("cubic", &spread, 2));
}

#[test]
fn the_phone_can_be_asked_and_requests_can_be_larger_than_responses() {
    let flows = "flows=[{ from = 'phone', to = 'server', workload = { kind = 'request-response', request = '1MB', \
                 response = '1kB', think = '0s', count = 1 } }]";
    let tables = run(&scenario("steady-20-68", &[flows, "duration=10s"]), 1);
    let row = first(&tables.flows);
    assert_eq!(row.bytes, 1_000);
    let times = response_times(&tables);
    // A megabyte at 20 Mbit/s takes 0.4 s.
    assert!(times.len() == 1 && times[0] > 0.4, "{times:?}");
    assert!((row.completion_s - times[0]).abs() < 1e-6);
}

/// Losses hold back what was written, and nothing of it is counted twice or left out.
#[test]
fn applications_get_all_their_bytes_over_a_lossy_path() {
    let lossy = [
        "duration=60s",
        "path.loss=0.02",
        "path.uplink_loss=0.02",
        "path.jitter={ mean = '3ms', sd = '2ms', reorder = true }",
    ];
    for (workload, bytes) in [
        (REQUESTS, 250_000),
        ("{ kind = 'bulk', bytes = '2MB' }", 2_000_000),
        (
            "{ kind = 'sequence', size = '300kB', count = 3, gap = '100ms' }",
            900_000,
        ),
    ] {
        let workload = format!("flows.0.workload={workload}");
        let mut changes = lossy.to_vec();
        changes.push(&workload);
        let tables = run(&scenario("steady-20-68", &changes), 2);
        let rows = (0..tables.flows.len()).map(|index| tables.flows.row(index));
        let (mut carried, mut completed) = (0, true);
        for row in rows {
            carried += row.bytes;
            completed &= row.completion_s.is_finite();
        }
        assert!(completed && carried == bytes, "{workload}: {carried}");
    }
}

#[test]
fn a_bulk_transfer_that_stops_is_complete_when_its_last_byte_has_arrived() {
    let workload = "flows.0.workload={ kind = 'bulk', stop = '2s' }";
    let row = first(&run(&scenario("steady-20-68", &[workload, "duration=10s"]), 1).flows);
    assert!(
        (2.0..6.0).contains(&row.completion_s),
        "{}",
        row.completion_s
    );
    // Data in the send buffer was not discarded.
    assert!(row.goodput_mbps > 15.0, "{}", row.goodput_mbps);
}

/// A sender that opens need not be asked first, which saves half a round trip.
#[test]
fn either_end_can_open_the_connection() {
    let upload = |opens: &str| {
        let flow = format!("from = 'phone', to = 'server', opens = '{opens}'");
        let flows = format!("flows=[{{ {flow}, workload = {{ kind = 'bulk', bytes = '1MB' }} }}]");
        first(&run(&scenario("steady-20-68", &[&flows, "duration=10s"]), 1).flows)
    };
    let (asked, unasked) = (upload("to"), upload("from"));
    assert_eq!((asked.bytes, unasked.bytes), (1_000_000, 1_000_000));
    let saved = asked.completion_s - unasked.completion_s;
    assert!((saved - 0.034).abs() < 0.002, "{saved}");
}

#[test]
fn a_video_is_played_at_the_quality_of_the_link_until_the_end_of_the_run() {
    let watch = |rate: &str, abr: &str, duration: &str| {
        let workload = format!("flows.0.workload={{ kind = 'video', abr = '{abr}' }}");
        let rate = format!("path.down={rate}");
        let duration = format!("duration={duration}");
        run(&scenario("steady-20-68", &[&workload, &rate, &duration]), 1)
    };
    for abr in ["bola-e", "robust-mpc", "bba-2"] {
        let tables = watch("'20Mbit/s'", abr, "60s");
        let [startup, stalls, watched] =
            ["startup_s", "stalls", "watched_s"].map(|kind| figure(&tables, kind).unwrap());
        assert_eq!(stalls, 0.0, "{abr}");
        assert!(
            (startup + watched - 60.0).abs() < 1e-6,
            "{abr}: {startup} {watched}"
        );
        assert!(startup > 0.136 + 0.010 && startup < 1.0, "{abr}: {startup}");
        let (good, bad) = (figure(&tables, "qoe").unwrap(), {
            let slow = watch("'600kbit/s'", abr, "60s");
            figure(&slow, "qoe").unwrap()
        });
        // The start of bba-2 raises the quality by one with each segment, and takes half of this session.
        assert!(good > 3.2 && bad < good - 1.0, "{abr}: {good} {bad}");
    }
}

#[test]
fn a_viewer_who_sees_nothing_leaves() {
    let workload = "flows.0.workload={ kind = 'video', patience = '5s' }";
    let tables = run(
        &scenario(
            "steady-20-68",
            &[workload, "path.down='2kbit/s'", "duration=20s"],
        ),
        1,
    );
    assert_eq!(figure(&tables, "qoe"), Some(1.0));
    assert_eq!(figure(&tables, "watched_s"), Some(0.0));
    assert_eq!(figure(&tables, "startup_s"), None);
}

/// Loads one page over HTTP/1.1 or HTTP/2; returns its time, and the number of connections.
fn page_load(multiplexed: bool, rtt: &str) -> (f64, usize) {
    let page = format!(
        "flows.0.workload={{ kind = 'page', object = '5kB', objects = 24, depth = 1, count = 1, \
         multiplexed = {multiplexed} }}"
    );
    let rtt = format!("path.rtt={rtt}");
    let tables = run(&scenario("steady-20-68", &[&page, &rtt, "duration=20s"]), 1);
    let load = figure(&tables, "page_load_s").expect("the page was loaded");
    (load, tables.flows.len())
}

#[test]
fn a_page_over_one_multiplexed_connection_needs_fewer_round_trips() {
    let ((one, single), (six, several)) = (page_load(true, "'200ms'"), page_load(false, "'200ms'"));
    assert_eq!((single, several), (1, 6));
    // Handshake and document take three round trips. Five more connections need another one to open, then each carries
    // an object per round trip. Over one connection the objects follow the document at once.
    assert!(six > 7.0 * 0.2 && six < 9.0 * 0.2, "{six}");
    assert!(one > 3.0 * 0.2 && one < 6.0 * 0.2, "{one}");
}

#[test]
fn frames_are_late_when_the_link_is_slower_than_the_camera() {
    let call = |rate: &str| {
        let rate = format!("path.down={rate}");
        let workload = "flows.0.workload={ kind = 'frames', jitter = 0 }";
        run(
            &scenario("steady-20-68", &[workload, &rate, "duration=20s"]),
            1,
        )
    };
    let fast = call("'20Mbit/s'");
    // Only the first frame is late, which waits for the handshake.
    let late = figure(&fast, "late_share").unwrap() * figure(&fast, "frames").unwrap();
    assert!((late - 1.0).abs() < 1e-6, "{late}");
    // Half of the round trip, and 10 kB at 20 Mbit/s; the window is smaller than a few frames at first.
    let delay = figure(&fast, "frame_delay_ms").unwrap();
    assert!(delay > 38.0 && delay < 70.0, "{delay}");
    // 2.4 Mbit/s into 2 Mbit/s.
    let slow = call("'2Mbit/s'");
    assert!(figure(&slow, "late_share").unwrap() > 0.5);
    assert!(figure(&slow, "frames").unwrap() > 590.0);
}

#[test]
fn every_segment_and_stall_of_a_video_is_recorded_over_any_number_of_connections() {
    for connections in [1, 3] {
        let workload = format!(
            "flows.0.workload={{ kind = 'video', length = '60s', connections = {connections} }}"
        );
        let link = "path.down='1Mbit/s'";
        let tables = run(
            &scenario("steady-20-68", &[&workload, link, "duration=120s"]),
            1,
        );
        let rows = || (0..tables.events.len()).map(|index| tables.events.row(index));
        let count = |kind: &str| rows().filter(|event| event.kind == kind).count();
        // Twenty segments of three seconds.
        let segments = ["segment_mbps", "fetch_s", "buffer_s"].map(count);
        assert_eq!(segments, [20; 3], "{connections}");
        assert_eq!(count("stall_s") as f64, figure(&tables, "stalls").unwrap());
        assert!((figure(&tables, "watched_s").unwrap() - 60.0).abs() < 1e-6);
        // An abandoned segment is requested again on a new connection.
        let abandoned = figure(&tables, "abandoned").unwrap();
        assert_eq!(tables.flows.len() as f64, connections as f64 + abandoned);
    }
}

/// Returns the times from the end of each connection of a run to the start of the next, s.
fn pauses(tables: &Tables) -> Vec<f64> {
    let rows = (0..tables.flows.len()).map(|index| tables.flows.row(index));
    let rows: Vec<_> = rows.filter(|row| row.completion_s.is_finite()).collect();
    let pairs = rows.windows(2);
    pairs
        .map(|two| two[1].start_s - two[0].start_s - two[0].completion_s)
        .collect()
}

#[test]
fn constant_gaps_vary_by_a_tenth_and_alike_for_all_ccas() {
    let fetches = |cca: &str, more: &str, seed| {
        let flows = format!(
            "flows=[{{ cca = '{cca}', workload = {{ kind = 'sequence', gap = '400ms', count = 12{more} }} }}]"
        );
        let changes = ["duration=15s", "path.loss=0.005", &flows];
        pauses(&run(&scenario("steady-20-68", &changes), seed))
    };
    let reno = fetches("reno", "", 1);
    assert_eq!(reno.len(), 11);
    assert!(
        reno.iter().all(|pause| (0.36..=0.44).contains(pause)),
        "{reno:?}"
    );
    let (low, high) = reno.iter().fold((1.0_f64, 0.0_f64), |(low, high), pause| {
        (low.min(*pause), high.max(*pause))
    });
    assert!(high - low > 0.02, "{reno:?}");
    let near = |others: &[f64]| {
        let mut pairs = reno.iter().zip(others);
        pairs.all(|(one, other)| (one - other).abs() < 1e-6)
    };
    assert!(near(&fetches("bbr", "", 1)));
    assert!(!near(&fetches("reno", "", 2)));
    let equal = fetches("reno", ", jitter = 0", 1);
    assert!(
        equal.iter().all(|pause| (pause - 0.4).abs() < 1e-6),
        "{equal:?}"
    );
}

/// Fetches during a bulk transfer whose queue is short: with equal gaps, fetch after fetch comes to a full queue.
#[test]
fn fetches_beside_a_bulk_transfer_do_not_stay_in_phase_with_its_queue() {
    let lost = |jitter: &str| {
        let flow = |workload: &str| format!("{{ cca = 'reno', workload = {workload} }}");
        let flows = [
            flow("'bulk'"),
            flow(&format!(
                "{{ kind = 'request-response', request = '64B', response = '64B', think = '0s', gap = '100ms'{jitter} }}"
            )),
            flow(&format!(
                "{{ kind = 'sequence', size = '177kB', gap = '1666ms'{jitter} }}"
            )),
        ];
        let flows = format!("flows=[{}]", flows.join(", "));
        let changes = [
            "duration=60s",
            "path.rtt=4ms",
            "path.down.rate=10Mbit/s",
            "path.buffer=20packets",
            "samples=off",
            &flows,
        ];
        let seeds = 1..=4;
        let lost = seeds.map(|seed| {
            let tables = run(&scenario("steady-20-68", &changes), seed);
            let rows = (2..tables.flows.len()).map(|index| tables.flows.row(index));
            let waited = rows.filter(|row| row.completion_s > 0.95);
            waited.count()
        });
        lost.sum::<usize>()
    };
    let (equal, jittered) = (lost(", jitter = 0"), lost(""));
    println!("{equal} fetches wait for a second with equal gaps, {jittered} with jitter");
    assert!(2 * jittered < equal, "{jittered} of {equal}");
}
