//! Fields of a scenario that people set: sockets' options, policers, blackouts, and answers in several writes.

use results::Tables;

use crate::library::{first, run, scenario};

/// Figures of a kind, from the events of a run.
fn figures(tables: &Tables, kind: &str) -> Vec<f64> {
    let events = tables.events.kind.iter().zip(&tables.events.detail);
    events
        .filter(|(result, _)| *result == kind)
        .map(|(_, detail)| detail.parse().expect("a number"))
        .collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Median figure of a flow on a path with a round trip of 100 ms; `more` are fields of the flow, `all` of all sockets.
fn waits(workload: &str, figure: &str, more: &str, all: &str) -> f64 {
    let flow = format!("flows=[{{ {more} workload = {{ {workload} }} }}]");
    let changes = ["duration=15s", "path.rtt=100ms", &flow, all];
    let changes = if all.is_empty() {
        &changes[..3]
    } else {
        &changes
    };
    median(figures(&run(&scenario("steady-20-18", changes), 1), figure))
}

/// RFC 896: a short segment waits for the acknowledgement of the one before, a round trip later. Applications for which
/// that matters set `TCP_NODELAY`. What the scenario says of the flow wins over what it says of all, and that over the
/// application.
#[test]
fn the_application_decides_on_nagle_unless_the_scenario_does() {
    for (workload, figure, at_once, held) in [
        (
            "kind = 'frames', size = '200B'",
            "frame_delay_ms",
            49.0..53.0,
            105.0..125.0,
        ),
        (
            "kind = 'request-response', response = '1200B', writes = 2, think = '0s', gap = '200ms'",
            "response_s",
            0.100..0.106,
            0.200..0.206,
        ),
        // Requests wait for the first one, and the last response for the ones before.
        (
            "kind = 'page', multiplexed = true, document = '1kB', object = '500B', objects = 6, depth = 1, gap = '100ms'",
            "page_load_s",
            0.330..0.335,
            0.46..0.48,
        ),
    ] {
        for (more, all, expected) in [
            ("", "", &at_once),
            ("", "tcp.nodelay=true", &at_once),
            ("nodelay = true,", "tcp.nodelay=false", &at_once),
            ("", "tcp.nodelay=false", &held),
            ("nodelay = false,", "", &held),
            ("nodelay = false,", "tcp.nodelay=true", &held),
        ] {
            let result = waits(workload, figure, more, all);
            assert!(
                expected.contains(&result),
                "{workload} {more} {all}: {result}"
            );
        }
    }
}

/// Linux's BBR recognises a policer and sends at its rate (`lt_use_bw`); without that it would lose a share of what it
/// probes with for good. CUBIC finds the rate by losses.
#[test]
fn a_policer_bounds_the_goodput_without_delay() {
    for cca in ["cubic", "bbr", "bbr3"] {
        let cca = format!("flows.0.cca={cca}");
        let policer = "path.policer={ rate = '8Mbit/s', burst = '60kB' }";
        let changes = ["duration=30s", policer, &cca];
        let row = first(&run(&scenario("steady-100-68", &changes), 1).flows);
        assert!(
            (6.0..7.9).contains(&row.goodput_mbps),
            "{cca}: {}",
            row.goodput_mbps
        );
        assert!(row.rtt_mean_ms < 71.0, "{cca}: {}", row.rtt_mean_ms);
    }
}

/// socket(7), `SO_MAX_PACING_RATE`: a sender behind a fast device sends at the cap, so that a shallow buffer before a slower
/// link loses nothing.
#[test]
fn a_cap_of_the_pacing_rate_is_the_goodput_and_spares_a_shallow_buffer() {
    for cca in ["cubic", "reno", "bbr"] {
        let cca = format!("flows.0.cca={cca}");
        let shallow = ["duration=20s", "path.buffer=20packets", &cca];
        let free = first(&run(&scenario("steady-20-68", &shallow), 1).flows);
        assert!(free.retransmissions > 20, "{cca}: {}", free.retransmissions);
        let capped = [&shallow[..], &["flows.0.max_pacing_rate=10Mbit/s"]].concat();
        let row = first(&run(&scenario("steady-20-68", &capped), 1).flows);
        // The rate is that of packets with their headers.
        assert!(
            (9.3..10.0).contains(&row.goodput_mbps),
            "{cca}: {}",
            row.goodput_mbps
        );
        assert_eq!(row.retransmissions, 0, "{cca}");
    }
}

/// A blackout empties the path: the connection repeats what was lost and goes on.
#[test]
fn a_connection_survives_a_blackout_and_ends_by_its_user_timeout() {
    let after = |more: &str| {
        let blackout = "path.blackouts=[{ at = '10s', duration = '6s' }]";
        let tables = run(
            &scenario("steady-20-68", &["duration=40s", blackout, more]),
            1,
        );
        let slots = tables.slots.t_s.iter().zip(&tables.slots.goodput_mbps);
        let late = slots.filter(|(t, _)| **t >= 20.0).map(|(_, rate)| rate);
        (late.sum::<f64>() / 200.0, first(&tables.flows).timeouts)
    };
    let (rate, timeouts) = after("tcp.f_rto=true");
    assert!(rate > 18.0 && timeouts >= 3.0, "{rate} Mbit/s, {timeouts}");
    let (rate, timeouts) = after("tcp.user_timeout=3s");
    assert!(rate == 0.0 && timeouts < 5.0, "{rate} Mbit/s, {timeouts}");
}

/// A connection that times out at its sender leaves a request without an answer: events say both.
#[test]
fn a_connection_that_is_given_up_and_its_open_request_are_events() {
    let requests =
        "flows=[{ workload = { kind = 'request-response', response = '20B', gap = '1s' } }]";
    let changes = [
        "duration=60s",
        "path.blackouts=[{ at = '10s', duration = '6s' }]",
        requests,
    ];
    let after = |more: &str| {
        let mut changes = changes.to_vec();
        changes.push(more);
        let tables = run(&scenario("steady-20-68", &changes), 1);
        let kinds = tables.events.kind.iter().zip(&tables.events.detail);
        let ends: Vec<_> = kinds
            .filter(|(kind, _)| *kind == "timed_out")
            .map(|(_, end)| end.clone())
            .collect();
        (ends, figures(&tables, "response_age_s"))
    };
    let (ends, ages) = after("tcp.user_timeout=3s");
    assert_eq!((ends.len(), ages.len()), (1, 1), "{ends:?}");
    assert!((45.0..52.0).contains(&ages[0]), "{ages:?}");
    assert_eq!(after("tcp.rto_max=1s"), (vec![], vec![]));
}

/// Less unsent data waits in the sender than its buffer holds, at the same goodput.
#[test]
fn an_application_writes_only_what_is_sent_soon() {
    let row =
        |lowat: &str| first(&run(&scenario("steady-20-68", &["duration=20s", lowat]), 1).flows);
    let (all, few) = (row("tcp.notsent_lowat=4MB"), row("tcp.notsent_lowat=16kB"));
    assert!((few.goodput_mbps / all.goodput_mbps - 1.0).abs() < 0.01);
}

/// A first flight of 145 kB does not fit into the first window of Linux, 64 KiB, but into that of a larger buffer.
#[test]
fn a_larger_receive_buffer_at_the_start_saves_a_round_trip() {
    let time = |change: &str| {
        let request =
            "flows=[{ workload = { kind = 'request-response', response = '140kB', gap = '9s' } }]";
        let changes = ["duration=5s", "tcp.initial_window=100", request, change];
        figures(&run(&scenario("steady-20-68", &changes), 1), "response_s")[0]
    };
    let (linux, larger) = (
        time("tcp.receive_buffer_initial=128KiB"),
        time("tcp.receive_buffer_initial=1MiB"),
    );
    assert_eq!(time("tcp.receive_buffer_max=6MiB"), linux, "the default");
    assert!(linux - larger > 0.02, "{linux} s, {larger} s");
}

/// RFC 2018 off: each loss beyond the first of a window costs a round trip, so that random loss costs more.
#[test]
fn without_sack_losses_cost_more() {
    let goodput = |sack: &str| {
        let changes = ["duration=30s", "path.loss=0.005", "flows.0.cca=bbr", sack];
        first(&run(&scenario("steady-20-68", &changes), 1).flows).goodput_mbps
    };
    let (with, without) = (goodput("tcp.sack=true"), goodput("tcp.sack=false"));
    assert!(without < 0.8 * with, "{without} {with}");
}

/// Median time of the responses of a segment that a loss in one direction delays, s, over a round trip of 100 ms.
fn repaired_s(loss: &str, min_rto: &str) -> f64 {
    let work = "kind = 'request-response', request = '100B', response = '100B', gap = '300ms'";
    let flow = format!("flows=[{{ workload = {{ {work} }} }}]");
    let all = ["duration=200s", "path.rtt=100ms", &flow, loss, min_rto];
    let times = figures(&run(&scenario("steady-20-18", &all), 3), "response_s");
    median(times.into_iter().filter(|time| *time > 0.15).collect())
}

/// RFC 8985 §7.2 and RFC 6298: the probe of a lone segment comes no later than its RTO, an RTT and the minimum after it,
/// and the host that lost it waits: the server for responses, and the phone for requests.
#[test]
fn a_lost_segment_is_repeated_by_the_minimum_rto_of_its_own_sender() {
    for (loss, own, other) in [
        ("path.loss=0.03", "server", "phone"),
        ("path.uplink_loss=0.03", "phone", "server"),
    ] {
        for (min_rto, min_s) in [
            (format!("tcp.{own}.min_rto=20ms"), 0.02),
            (format!("tcp.{own}.min_rto=80ms"), 0.08),
            (format!("tcp.{other}.min_rto=20ms"), 0.2),
            ("tcp.min_rto=20ms".to_owned(), 0.02),
            ("tcp.tlp=true".to_owned(), 0.2),
        ] {
            let result = repaired_s(loss, &min_rto);
            let expected = 2.0 * 0.1 + min_s;
            // Ticks of 4 ms, links and the variation of the RTT add to it.
            assert!(
                (expected..expected + 0.04).contains(&result),
                "{loss} {min_rto}: {result} s"
            );
        }
    }
}
