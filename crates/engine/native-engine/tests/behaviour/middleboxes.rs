//! Split hosts between server and phone, on whole paths and verified by the checker.

use proptest::prelude::*;
use results::Tables;

use crate::library::{first, run, scenario};

/// A server 30 ms and a phone 30 ms from the split host, one way, and a transfer of 2 MB.
fn halves(middleboxes: &str, more: &[&str]) -> Tables {
    let middleboxes = format!("path.middleboxes=[{middleboxes}]");
    let mut changes = vec![
        "path.rtt=120ms",
        "path.wired=[{ name = 'wan', delay = '30ms' }, { name = 'ran' }]",
        "path.down.rate=50Mbit/s",
        "flows=[{ cca = 'reno', workload = { kind = 'bulk', bytes = '2MB' } }]",
        "duration=20s",
        &middleboxes,
    ];
    changes.extend(more);
    run(&scenario("steady-20-68", &changes), 1)
}

#[test]
fn a_transfer_through_a_split_host_is_complete_and_faster() {
    let plain = first(&halves("", &[]).flows);
    for kind in ["split", "es"] {
        let middlebox = format!("{{ kind = '{kind}', at = 'node-1' }}");
        let tables = halves(&middlebox, &["slot=50ms"]);
        let row = first(&tables.flows);
        println!(
            "{kind}: {} s, without {} s",
            row.completion_s, plain.completion_s
        );
        assert_eq!(row.acked_early_ends > 0, kind == "split");
        assert_eq!(row.bytes, 2_000_000);
        assert!(row.completion_s < 0.8 * plain.completion_s);
        assert!((row.rtt_min_ms - 60.0).abs() < 5.0, "{}", row.rtt_min_ms);
        assert!((row.owd_min_ms - 60.0).abs() < 5.0, "{}", row.owd_min_ms);
        assert!(tables.legs.len() > 20);
    }
    assert_eq!((plain.acked_early_bytes, plain.acked_early_ends), (0, 0));
}

/// Loss behind the middlebox: a snooping one repairs it, and the sender learns of none.
#[test]
fn snoop_hides_losses_of_the_wireless_link() {
    let loss = [
        "path.loss=0.005",
        "path.rtt=40ms",
        "path.wired=[{ name = 'wan', delay = '20ms' }]",
    ];
    let lossy = |boxes: &str| {
        let mut changes = loss.to_vec();
        changes.push("flows=[{ cca = 'reno', workload = { kind = 'bulk', bytes = '4MB' } }]");
        first(&halves(boxes, &changes).flows)
    };
    let (plain, snoop) = (lossy(""), lossy("{ kind = 'snoop' }"));
    println!(
        "without: {} s, {} recoveries; snoop: {} s, {} recoveries, {} time-outs",
        plain.completion_s, plain.recoveries, snoop.completion_s, snoop.recoveries, snoop.timeouts
    );
    assert!(plain.recoveries > 5.0);
    assert!(
        snoop.recoveries < 0.4 * plain.recoveries,
        "{}",
        snoop.recoveries
    );
    assert!(snoop.completion_s < plain.completion_s);
    assert_eq!(snoop.acked_early_bytes, 0);
}

/// At the base station a snooping middlebox sees the queue of the access link. It repairs what the radio loses however
/// long packets wait there, and leaves to the sender what the queue drops.
#[test]
fn snoop_at_the_base_station_tells_the_radio_from_the_queue() {
    let of = |boxes: &str, loss: &str, buffer: &str| {
        let (loss, buffer) = (format!("path.loss={loss}"), format!("path.buffer={buffer}"));
        let flow = "flows=[{ cca = 'reno', workload = { kind = 'bulk', bytes = '8MB' } }]";
        first(&halves(boxes, &[&loss, &buffer, flow, "duration=60s"]).flows)
    };
    let snoop = "{ kind = 'snoop' }";
    let (plain, repaired) = (of("", "0.003", "500kB"), of(snoop, "0.003", "500kB"));
    println!(
        "radio: {} and {} recoveries, {} and {} s",
        plain.recoveries, repaired.recoveries, plain.completion_s, repaired.completion_s
    );
    assert!(repaired.recoveries < 0.4 * plain.recoveries);
    assert!(repaired.completion_s < plain.completion_s);
    let (plain, overflowing) = (of("", "0", "60kB"), of(snoop, "0", "60kB"));
    println!(
        "queue: {} and {} recoveries, {} and {} s, {} and {} repeated",
        plain.recoveries,
        overflowing.recoveries,
        plain.completion_s,
        overflowing.completion_s,
        plain.retransmissions,
        overflowing.retransmissions
    );
    assert!(overflowing.recoveries > 0.6 * plain.recoveries);
    assert!(overflowing.completion_s < 1.1 * plain.completion_s);
}

/// The room of a split host's buffer is offered as soon as it is empty, so that a window near the bandwidth-delay product
/// does not make the sender stop and go.
#[test]
fn a_buffer_of_little_more_than_the_path_fills_it() {
    for kind in ["split", "es", "as", "pam"] {
        let boxes = format!("path.middleboxes=[{{ kind = '{kind}' }}]");
        let row = first(&run(&scenario("steady-100-68", &["duration=10s", &boxes]), 1).flows);
        println!("{kind}: {} Mbit/s", row.goodput_mbps);
        assert!(row.goodput_mbps > 90.0, "{kind}: {}", row.goodput_mbps);
    }
}

/// Two split hosts in a row, and many short connections through one with memory for few.
#[test]
fn split_hosts_stand_in_a_row_and_pass_what_they_have_no_memory_for() {
    let chain = "{ kind = 'es', at = 'node-1' }, { kind = 'es', at = 'gateway' }";
    let tables = halves(chain, &[]);
    let row = first(&tables.flows);
    assert_eq!((row.bytes, row.acked_early_ends), (2_000_000, 0));
    let nodes: std::collections::BTreeSet<&str> =
        tables.legs.node.iter().map(String::as_str).collect();
    assert_eq!(nodes.into_iter().collect::<Vec<_>>(), ["gateway", "node-1"]);

    let few = "{ kind = 'split', at = 'node-1', buffer = '1MB', memory = '4MB' }";
    let flows =
        "flows=[{ cca = 'reno', count = 4, workload = { kind = 'bulk', bytes = '200kB' } }]";
    let tables = halves(few, &[flows]);
    let of_kind = |kind: &str| {
        tables
            .events
            .kind
            .iter()
            .filter(|each| *each == kind)
            .count()
    };
    assert_eq!((of_kind("split"), of_kind("unsplit")), (2, 2));
    assert!(tables.flows.bytes.iter().all(|bytes| *bytes == 200_000));
}

/// The rows of the legs end with the connection, not with the minute that a closed end waits for late segments.
#[test]
fn legs_end_with_the_connection() {
    let tables = halves("{ kind = 'es', at = 'node-1' }", &[]);
    let row = first(&tables.flows);
    let last = tables.legs.t_s.iter().copied().fold(0.0, f64::max);
    println!(
        "completed after {} s, last row at {last} s",
        row.completion_s
    );
    assert!((row.completion_s - 0.2..row.completion_s + 0.5).contains(&last));
}

/// The CCA of the split host is its own.
#[test]
fn each_leg_has_its_cca() {
    let with = |cca: &str| {
        let boxes = format!("{{ kind = 'es', at = 'node-1'{cca} }}");
        halves(&boxes, &["path.loss=0.002"])
    };
    let (of_flow, bbr) = (with(""), with(", cca = 'bbr'"));
    assert_ne!(of_flow.legs.cwnd, bbr.legs.cwnd);
    assert!(first(&bbr.flows).completion_s < first(&of_flow.flows).completion_s);
}

/// Every kind keeps its promise on a lossy path with an interruption, and all data arrives.
#[test]
fn every_kind_delivers_across_an_interruption() {
    for &kind in scenario::MiddleboxKind::ALL {
        let interrupted = [
            "path.loss=0.002",
            "path.down={ steps = [{ at = '0s', rate = '10Mbit/s' }, { at = '700ms', rate = '0bit/s' }, \
             { at = '2s', rate = '10Mbit/s' }] }",
        ];
        let tables = halves(&format!("{{ kind = '{}' }}", kind.name()), &interrupted);
        let row = first(&tables.flows);
        assert_eq!(row.bytes, 2_000_000, "{}", kind.name());
        let ack_semantics = kind.ack_semantics();
        let early = (row.acked_early_bytes > 0, row.acked_early_ends > 0);
        println!("{}: {} s, {early:?}", kind.name(), row.completion_s);
        assert!(ack_semantics < scenario::AckSemantics::EndToEnd || early == (false, false));
    }
}

/// A sender with a window of zero waits for no ACK in a blackout, and goes on at its end.
#[test]
fn freeze_spares_the_sender_time_outs_in_a_blackout() {
    let row = |boxes: &str| {
        let blackout = "path.blackouts=[{ at = '500ms', duration = '1s' }]";
        let flow = "flows=[{ cca = 'reno', workload = { kind = 'bulk', bytes = '8MB' } }]";
        first(
            &halves(
                boxes,
                &[
                    "path.down.rate=20Mbit/s",
                    "path.buffer=4bdp",
                    blackout,
                    flow,
                ],
            )
            .flows,
        )
    };
    let (plain, frozen) = (row(""), row("{ kind = 'freeze', warning = '130ms' }"));
    println!("{} and {} s", plain.completion_s, frozen.completion_s);
    assert!(plain.timeouts > 0.0);
    assert_eq!(frozen.timeouts, 0.0);
    assert!(frozen.completion_s < plain.completion_s);
}

/// Checks that data arrives again after each blackout, s, and that no data is repeated over and over.
fn check_progress(kind: &str, blackouts: &[(f64, f64)], [loss, buffer, cca]: [&str; 3]) {
    let entries = blackouts
        .iter()
        .map(|(start, end)| format!("{{ at = '{start:.3}s', duration = '{:.3}s' }}", end - start));
    let entries: Vec<String> = entries.collect();
    let changes = [
        format!("path.blackouts=[{}]", entries.join(", ")),
        format!("path.loss={loss}"),
        format!("path.buffer={buffer}"),
        format!("path.middleboxes=[{{ kind = '{kind}' }}]"),
        format!("flows=[{{ cca = '{cca}', workload = {{ kind = 'bulk', bytes = '5MB' }} }}]"),
        "slot=50ms".to_owned(),
        "duration=40s".to_owned(),
    ];
    let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
    let tables = run(&scenario("steady-20-68", &changes), 1);
    let row = first(&tables.flows);
    let slots = &tables.slots;
    let over = if row.completion_s > 0.0 {
        row.start_s + row.completion_s
    } else {
        40.0
    };
    let arrivals = slots.t_s.iter().zip(&slots.rate_mbps);
    let arrivals = arrivals.filter(|&(_, &rate_mbps)| rate_mbps > 0.0);
    let mut times: Vec<f64> = arrivals.clone().map(|(&t_s, _)| t_s).collect();
    times.push(over);
    for silence in times.windows(2) {
        let (last, next) = (silence[0], silence[1]);
        let mut ends = blackouts.iter().map(|(_, end)| *end);
        if let Some(end) = ends.rfind(|end| (last..next).contains(end)) {
            let latest = end + 3.0 * (end - last) + 2.0;
            assert!(next <= latest, "{kind} {last} {end} {next} {changes:?}");
        }
    }
    let arrived_mb: f64 = arrivals.map(|(_, rate_mbps)| rate_mbps * 0.05 / 8.0).sum();
    println!(
        "{kind}: {} bytes in {} s, {arrived_mb} MB arrived",
        row.bytes, row.completion_s
    );
    assert!(
        arrived_mb < 2.0 * row.bytes as f64 / 1e6,
        "{kind} {changes:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// When a blackout ends, the sender's time-out has at most doubled to its length, and doubles once more if the repair
    /// is lost by chance. So data arrives again in that time.
    #[test]
    fn every_kind_makes_progress_after_each_blackout(
        gaps in prop::collection::vec((0.1..1.5, 0.2..3.0), 1..4),
        loss in prop::sample::select(vec!["0", "0.001", "0.02"]),
        buffer in prop::sample::select(vec!["30packets", "1bdp", "750packets"]),
        cca in prop::sample::select(vec!["reno", "cubic", "bbr"]),
    ) {
        let mut end = 0.0;
        let blackouts: Vec<(f64, f64)> = gaps
            .iter()
            .map(|(pause, length)| {
                let start = end + pause;
                end = start + length;
                (start, end)
            })
            .collect();
        for &kind in scenario::MiddleboxKind::ALL {
            check_progress(kind.name(), &blackouts, [loss, buffer, cca]);
        }
    }
}
