//! Semantics of acknowledgements in randomised runs: what senders believe to have been delivered, was.
//!
//! `CELLTCP_RUNS=100000 cargo test --release -p celltcp-middlebox --test behaviour semantics -- --nocapture` does the
//! whole number, on all cores, and prints its progress. `CELLTCP_SEED` is the first seed.

mod hazard;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use middlebox::Kind;
use world::{Outcome, Testbed};

/// Runs of each test, unless the environment asks for others.
const RUNS: u64 = 60;

/// Returns the number that an environment variable asks for.
fn asked(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}

fn runs() -> u64 {
    asked("CELLTCP_RUNS").unwrap_or(RUNS)
}

/// Does `runs` runs on all cores, each with a seed of its own, and returns what `run` says of each.
fn each_seed<T: Send>(name: &str, runs: u64, run: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let first = asked("CELLTCP_SEED").unwrap_or(0);
    let next = AtomicU64::new(0);
    let work = || {
        let mut result = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= runs {
                return result;
            }
            if runs >= 1_000 && number > 0 && number.is_multiple_of(runs / 10) {
                println!("{name}: {number} of {runs} runs");
            }
            result.push(run(first + number));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined
            .flat_map(|result| result.expect("no run fails"))
            .collect()
    })
}

fn count<T>(result: &[T], is: impl Fn(&T) -> bool) -> u64 {
    result.iter().filter(|each| is(each)).count() as u64
}

/// ES-TCP: whatever is lost, reset or killed, no sender has everything acknowledged that has not all arrived.
#[test]
fn es_never_acknowledges_the_last_byte_early() {
    let result = each_seed("es", runs(), |seed| {
        let outcome = Testbed::new(Kind::Es, seed, true).run();
        assert_eq!(outcome.early_ends, 0, "seed {seed}");
        outcome
    });
    let complete = count(&result, |outcome| outcome.complete);
    let early = count(&result, |outcome| outcome.early_bytes.contains(&true));
    let runs = runs();
    println!(
        "es: {runs} runs, {complete} complete, {early} with bytes below the reserve acknowledged early"
    );
    assert!(complete > runs / 4 && early > runs / 4);
}

/// AS-TCP: no byte of the server counts as delivered before it has arrived. The phone is no changed host: for its data
/// ES-TCP holds.
#[test]
fn as_never_tells_of_a_byte_early() {
    let result = each_seed("as", runs(), |seed| {
        let outcome = Testbed::new(Kind::As, seed, true).run();
        let held = !outcome.early_bytes[0] && outcome.early_ends == 0;
        assert!(held, "seed {seed}: {outcome:?}");
        outcome
    });
    let (runs, complete) = (runs(), count(&result, |outcome| outcome.complete));
    println!("as: {runs} runs, {complete} complete");
    assert!(complete > runs / 4);
}

/// M-TCP and M-TCP+: ACKs of the receiver decide, so no byte is acknowledged before it has arrived.
#[test]
fn mtcp_never_acknowledges_a_byte_early() {
    for kind in [Kind::Mtcp, Kind::MtcpPlus] {
        let result = each_seed(kind.name(), runs(), |seed| {
            let outcome = Testbed::new(kind, seed, true).run();
            let held = outcome.early_bytes == [false; 2] && outcome.early_ends == 0;
            assert!(held, "{} seed {seed}: {outcome:?}", kind.name());
            outcome
        });
        let (runs, complete) = (runs(), count(&result, |outcome| outcome.complete));
        println!("{}: {runs} runs, {complete} complete", kind.name());
        assert!(complete > runs / 4);
    }
}

/// I-TCP does so all the time.
#[test]
fn split_acknowledges_early() {
    let runs = runs().min(200);
    let result = each_seed("split", runs, |seed| {
        Testbed::new(Kind::Split, seed, true).run().early_ends > 0
    });
    let result = count(&result, |early| *early);
    println!("split: early in {result} of {runs} runs");
    assert!(result > runs / 2);
}

/// Without a reset or a crash, everything arrives, and both ends close.
#[test]
fn everything_arrives_in_the_end() {
    let mtcp = [Kind::Mtcp, Kind::MtcpPlus, Kind::Pam];
    for kind in [Kind::Split, Kind::Es, Kind::As].into_iter().chain(mtcp) {
        each_seed(kind.name(), runs(), |seed| {
            let outcome: Outcome = Testbed::new(kind, seed, false).run();
            assert!(outcome.complete, "{} seed {seed}: {outcome:?}", kind.name());
        });
    }
}
