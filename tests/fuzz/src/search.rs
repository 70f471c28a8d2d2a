//! Search: tries mutants of a target for a while, and shrinks the first that fails.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use crate::limits::Watch;
use crate::mutation::{mutants, mutated};

/// Time of a search unless the environment gives another: parsers take turns, and tests should end soon.
const SHORT: Duration = Duration::from_millis(100);

/// Options of a search: its time, its seed, and a mutant that is tried alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Time.
    pub time: Duration,
    /// Seed of the mutants.
    pub seed: u64,
    /// The only mutant to try, by its number; `None`: from the first on.
    pub only: Option<u64>,
}

impl Options {
    /// Reads the options from the environment: `CELLTCP_FUZZ_SECONDS` (default 0.1), `CELLTCP_FUZZ_SEED` (default 1), and
    /// `CELLTCP_FUZZ_CASE`, the seed and the number of the only mutant, as a failure prints them.
    ///
    /// # Panics
    /// If a variable is no number.
    pub fn from_environment() -> Self {
        let number = |name: &str, text: &str| -> u64 {
            let number = text.trim().parse();
            number.unwrap_or_else(|_| panic!("{name}: {text:?} is not a whole number"))
        };
        let variable =
            |name: &str, default| std::env::var(name).map_or(default, |text| number(name, &text));
        let time = std::env::var("CELLTCP_FUZZ_SECONDS").map_or(SHORT, |text| {
            let seconds = text.trim().parse().ok();
            let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            time.unwrap_or_else(|| {
                panic!("CELLTCP_FUZZ_SECONDS: {text:?} is not a number of seconds")
            })
        });
        match std::env::var("CELLTCP_FUZZ_CASE") {
            Err(_) => Self {
                time,
                seed: variable("CELLTCP_FUZZ_SEED", 1),
                only: None,
            },
            Ok(case) => {
                let name = "CELLTCP_FUZZ_CASE";
                let (seed, only) = case.split_once(':').unwrap_or((&case, "0"));
                Self {
                    time,
                    seed: number(name, seed),
                    only: Some(number(name, only)),
                }
            }
        }
    }
}

/// Mutant that a parser failed on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Its number, counted from zero.
    pub number: u64,
    /// The input, with as few mutations as fail.
    pub input: Vec<u8>,
    /// Message of the panic.
    pub reason: String,
}

/// Tries mutants of `sources` with `parse` and returns how many there were.
///
/// # Errors
/// The first mutant for which `parse` panics.
///
/// # Panics
/// If the file that notes the current mutant cannot be written, below the folder of cargo's target.
pub fn search(
    target: &str,
    sources: &[Vec<u8>],
    options: Options,
    parse: impl Fn(&[u8]),
) -> Result<u64, Failure> {
    let note = folder().join(format!("{target}.case"));
    let watch = Watch::start(&note, target, options.seed).expect("the note can be written");
    let begun = Instant::now();
    let first = options.only.unwrap_or(0);
    let mut number = first;
    loop {
        let mut runner = runner(target, options.seed, number);
        let tree = mutants().new_tree(&mut runner);
        let tree = tree.expect("a strategy without a filter rejects nothing");
        let input = RefCell::new(Vec::new());
        let outcome = runner.run_one(tree, |(source, mutations)| {
            *input.borrow_mut() = mutated(sources, source, &mutations);
            watch.limited(options.seed, number, || parse(&input.borrow()));
            Ok(())
        });
        watch.rest();
        if let Err(TestError::Fail(reason, (source, mutations))) = outcome {
            return Err(Failure {
                number,
                input: mutated(sources, source, &mutations),
                reason: reason.message().to_owned(),
            });
        }
        number += 1;
        if options.only.is_some() || begun.elapsed() >= options.time {
            return Ok(number - first);
        }
    }
}

/// Tries mutants of `sources` with `parse`, as the environment says. Targets of one process take turns, because they share
/// its memory.
///
/// # Panics
/// If `parse` panics for a mutant, which is then kept as a file.
pub fn fuzz(target: &str, sources: &[Vec<u8>], parse: impl Fn(&[u8])) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for source in sources {
        parse(source);
    }
    let options = Options::from_environment();
    match search(target, sources, options, parse) {
        Ok(count) => println!("{target}: {count} mutants of seed {}", options.seed),
        Err(failure) => {
            let file = folder().join(format!("{target}-{}-{}", options.seed, failure.number));
            std::fs::write(&file, &failure.input).expect("the mutant can be written");
            panic!(
                "{target}: {}\nThe mutant is in {}; CELLTCP_FUZZ_CASE={}:{} tries it again.",
                failure.reason,
                file.display(),
                options.seed,
                failure.number
            );
        }
    }
}

/// Returns the runner of one mutant, whose draws depend on target, seed and number only.
fn runner(target: &str, seed: u64, number: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    for (place, letter) in bytes[16..].iter_mut().zip(target.bytes()) {
        *place = letter;
    }
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: 2_000,
        max_shrink_time: 60_000,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Returns the folder of mutants that failed, below that of cargo's target.
fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")),
        PathBuf::from,
    );
    let folder = target.join("fuzz");
    std::fs::create_dir_all(&folder).expect("the folder of the target can be written");
    folder
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: Options = Options {
        time: Duration::from_secs(60),
        seed: 1,
        only: None,
    };

    /// Panics for a table whose second number has more than nine digits.
    fn fragile(input: &[u8]) {
        let text = String::from_utf8_lossy(input);
        let second = text.split(',').nth(1).unwrap_or_default();
        assert!(!second.trim().parse::<u64>().is_ok_and(|n| n > 999_999_999));
    }

    #[test]
    fn a_planted_panic_is_found_and_shrunk_to_the_mutation_that_causes_it() {
        let sources = [b"1,2,3\n4,5,6\n".to_vec()];
        let failure = search("planted", &sources, OPTIONS, fragile).unwrap_err();
        assert!(
            failure.reason.contains("assertion failed"),
            "{}",
            failure.reason
        );
        let again = Options {
            only: Some(failure.number),
            ..OPTIONS
        };
        let same = search("planted", &sources, again, fragile).unwrap_err();
        assert_eq!(same, failure);
        assert!(failure.input.len() < 60, "{:?}", failure.input);
    }

    #[test]
    fn mutants_of_a_seed_are_the_same_every_time() {
        let sources = [b"a = 1\nb = \"2s\"\n".to_vec(), vec![0; 64]];
        let all = || {
            let tried = RefCell::new(Vec::new());
            for number in 0..50 {
                let only = Options {
                    only: Some(number),
                    ..OPTIONS
                };
                let note = |input: &[u8]| tried.borrow_mut().push(input.to_vec());
                search("same", &sources, only, note).unwrap();
            }
            tried.into_inner()
        };
        let (first, second) = (all(), all());
        assert_eq!(first, second);
        let distinct: std::collections::BTreeSet<_> = first.iter().collect();
        assert!(distinct.len() > 25, "{}", distinct.len());
    }
}
