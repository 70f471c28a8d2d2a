//! Semantics of acknowledgements in randomised runs: what senders believe to have been delivered, was.
//!
//! `CELLTCP_RUNS=100000 cargo test --release -p celltcp-middlebox --test semantics` does the whole number.

mod hazard;
mod world;

use middlebox::Kind;
use world::{Outcome, World};

/// Runs of each test, unless the environment asks for others.
const RUNS: u64 = 60;

fn seeds() -> core::ops::Range<u64> {
    let asked = std::env::var("CELLTCP_RUNS").ok();
    let runs = asked.map_or(RUNS, |text| text.parse().expect("a number of runs"));
    0..runs
}

/// ES-TCP: whatever is lost, reset or killed, no sender has everything acknowledged that has not all arrived.
#[test]
fn es_never_acknowledges_the_last_byte_early() {
    let (mut complete, mut early) = (0, 0);
    for seed in seeds() {
        let outcome = World::new(Kind::Es, seed, true).run();
        assert_eq!(outcome.early_ends, 0, "seed {seed}");
        complete += u64::from(outcome.complete);
        early += u64::from(outcome.early_bytes.contains(&true));
    }
    let runs = seeds().end;
    println!(
        "{runs} runs, {complete} complete, {early} with bytes below the reserve acknowledged early"
    );
    assert!(complete > runs / 4 && early > runs / 4);
}

/// AS-TCP: no byte of the server counts as delivered before it has arrived. The phone is no changed host: for its data
/// ES-TCP holds.
#[test]
fn as_never_tells_of_a_byte_early() {
    let mut complete = 0;
    for seed in seeds() {
        let outcome = World::new(Kind::As, seed, true).run();
        let held = !outcome.early_bytes[0] && outcome.early_ends == 0;
        assert!(held, "seed {seed}: {outcome:?}");
        complete += u64::from(outcome.complete);
    }
    let runs = seeds().end;
    println!("{runs} runs, {complete} complete");
    assert!(complete > runs / 4);
}

/// M-TCP and M-TCP+: ACKs of the receiver decide, so no byte is acknowledged before it has arrived.
#[test]
fn mtcp_never_acknowledges_a_byte_early() {
    for kind in [Kind::Mtcp, Kind::MtcpPlus] {
        let mut complete = 0;
        for seed in seeds() {
            let outcome = World::new(kind, seed, true).run();
            let held = outcome.early_bytes == [false; 2] && outcome.early_ends == 0;
            assert!(held, "{} seed {seed}: {outcome:?}", kind.name());
            complete += u64::from(outcome.complete);
        }
        let runs = seeds().end;
        println!("{}: {runs} runs, {complete} complete", kind.name());
        assert!(complete > runs / 4);
    }
}

/// I-TCP does so all the time.
#[test]
fn split_acknowledges_early() {
    let early = |seed| World::new(Kind::Split, seed, true).run().early_ends > 0;
    let runs = seeds().end.min(200);
    let found = (0..runs).filter(|seed| early(*seed)).count() as u64;
    println!("{found} of {runs} runs");
    assert!(found > runs / 2);
}

/// Without a reset or a crash, everything arrives, and both ends close.
#[test]
fn everything_arrives_in_the_end() {
    let mtcp = [Kind::Mtcp, Kind::MtcpPlus, Kind::Pam];
    for kind in [Kind::Split, Kind::Es, Kind::As].into_iter().chain(mtcp) {
        for seed in seeds() {
            let outcome: Outcome = World::new(kind, seed, false).run();
            assert!(outcome.complete, "{} seed {seed}: {outcome:?}", kind.name());
        }
    }
}
