//! Runs whose CCA an agent outside of the simulation changes, step by step.

use measurement::Options;
use native_engine::{RequestError, Simulation};
use network_builder::Traces;
use results::Tables;
use units::{Duration, Instant};

use crate::library::{folder, scenario};

/// Starts a run of ten seconds whose CCA is CUBIC until an agent changes it.
fn start() -> Simulation {
    let overrides = [
        "duration=10s",
        "slot=500ms",
        "flows.0.cca=auto:policy=fixed,cca=cubic",
    ];
    let scenario = scenario("steady-20-68", &overrides);
    let traces = Traces::load(&scenario, &folder()).expect("it has none");
    let options = Options {
        check: true,
        ..Options::default()
    };
    Simulation::new(&scenario, &traces, 1, options).expect("it can be run")
}

fn finish(mut run: Simulation) -> Tables {
    run.advance(Instant::NEVER);
    run.finish().expect("no invariant is broken")
}

/// Steps a run to its end, and has each CCA take over at its second.
fn stepped(changes: &[(u64, &str)]) -> Tables {
    let mut run = start();
    for half_second in 0..20 {
        run.advance(Instant::ZERO + Duration::from_millis(500 * half_second));
        for (_, cca) in changes.iter().filter(|(at, _)| 2 * at == half_second) {
            run.request(0, cca).expect("it is open");
        }
        run.selection(0);
        run.slots_from(0, 0);
    }
    finish(run)
}

/// Returns whether two runs have the same tables; a NaN is like another one.
fn alike(one: &Tables, other: &Tables) -> bool {
    format!("{one:?}") == format!("{other:?}")
}

#[test]
fn looking_at_a_run_changes_nothing() {
    assert!(alike(&stepped(&[]), &finish(start())));
}

#[test]
fn the_same_requests_give_the_same_run() {
    let changes = [(2, "vegas"), (6, "bbr")];
    let run = stepped(&changes);
    assert!(alike(&run, &stepped(&changes)));
    assert!(!alike(&run, &stepped(&[])));
    let rows = 1..run.decisions.len();
    let requests: Vec<_> = rows
        .map(|row| (&*run.decisions.cause[row], &*run.decisions.to_cca[row]))
        .collect();
    assert_eq!(requests, [("agent", "vegas"), ("agent", "bbr")]);
    let switches: Vec<_> = run
        .events
        .kind
        .iter()
        .zip(&run.events.detail)
        .filter(|(kind, _)| *kind == "switch")
        .map(|(_, detail)| detail.split(' ').next())
        .collect();
    assert_eq!(switches, [Some("vegas"), Some("bbr")]);
}

#[test]
fn slots_so_far_are_those_of_the_results() {
    let mut run = start();
    run.advance(Instant::ZERO + Duration::from_secs(4));
    let so_far = run.slots_from(0, 2);
    let tables = finish(run);
    let all = &tables.slots.goodput_mbps;
    assert_eq!(so_far.goodput_mbps, all[2..2 + so_far.len()]);
    assert_eq!(so_far.len() + 2, 8);
}

#[test]
fn estimates_are_unknown_before_the_handshake() {
    let mut run = start();
    assert!(run.selection(0).is_none(), "it is not open yet");
    assert_eq!(run.request(0, "bbr"), Err(RequestError::Connection(0)));
    run.advance(Instant::ZERO + Duration::from_secs(5));
    let (cca, features) = run.selection(0).expect("it is open");
    assert_eq!(cca, "cubic");
    let names = selection::FEATURES.iter().map(|feature| feature.name);
    let known: Vec<_> = names
        .zip(features.0)
        .filter_map(|(name, known)| known.map(|_| name))
        .collect();
    assert!(known.contains(&"base_rtt") && known.contains(&"capacity"));
    assert!(!known.contains(&"sinr") && !known.contains(&"flow_size"));
    let wrong = run.request(0, "cubik").expect_err("there is no such one");
    assert!(wrong.to_string().contains("cubic"), "{wrong}");
}
