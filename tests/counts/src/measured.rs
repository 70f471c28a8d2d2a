//! Measured run: a case as the Python module runs it. Only the simulation itself is counted.

use std::path::{Path, PathBuf};

use measurement::Options;
use native_engine::{SimError, Simulation};
use network_builder::{Files, Traces};
use results::Tables;
use scenario::Scenario;
use units::Instant;

use crate::cases::Case;
use crate::error::CountsError;
use crate::fingerprint::fingerprint;

/// Pattern of the function that callgrind counts in.
pub(crate) const COUNTED: &str = "*measured*to_the_end*";

/// Runs a case for `times` its length and returns the fingerprint of its results.
pub(crate) fn run(case: &'static Case, times: u32) -> Result<String, CountsError> {
    let simulation = set_up(case, times)?;
    let tables = to_the_end(simulation).map_err(|error| failed(case, &error))?;
    fingerprint(tables).map_err(|error| failed(case, &error))
}

/// Runs a simulation. What is called by this name is counted, so it is not inlined.
#[inline(never)]
fn to_the_end(mut simulation: Simulation) -> Result<Tables, SimError> {
    simulation.advance(Instant::NEVER);
    simulation.finish()
}

/// Creates the simulation of a case; reading and preparing its files is not counted.
fn set_up(case: &'static Case, times: u32) -> Result<Simulation, CountsError> {
    let file = library().join(format!("{}.toml", case.scenario));
    let text = std::fs::read_to_string(&file).map_err(|error| CountsError::File {
        file: file.clone(),
        error,
    })?;
    let scenario = scenario(case, times, &text)?;
    let beside = file.parent().unwrap_or(Path::new(""));
    let traces = Traces::from_files(&scenario, Files::in_directory(beside));
    let traces = traces.map_err(|error| failed(case, &error))?;
    let simulation = Simulation::new(&scenario, &traces, 1, Options::default());
    simulation.map_err(|error| failed(case, &error))
}

/// Returns the scenario of a case for `times` its length; `text` is that of its file.
fn scenario(case: &'static Case, times: u32, text: &str) -> Result<Scenario, CountsError> {
    let length = u64::from(case.seconds) * u64::from(times);
    let mut changes = vec![format!("duration={length}s")];
    changes.extend(case.changes.iter().map(ToString::to_string));
    let read = Scenario::from_toml(text, case.scenario, &changes);
    read.map_err(|error| failed(case, &error))
}

/// Returns the folder of the built-in scenarios.
fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/celltcp/library")
}

fn failed(case: &'static Case, error: &impl ToString) -> CountsError {
    CountsError::Failed {
        case: case.name,
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;
    use units::Duration;

    #[test]
    fn every_case_can_be_set_up() {
        for case in &CASES {
            assert!(set_up(case, 1).is_ok(), "{}", case.name);
        }
    }

    #[test]
    fn a_case_may_be_a_multiple_of_its_length() {
        let case = Case::called("drive").unwrap();
        let length = |times| scenario(case, times, "").unwrap().duration;
        let once = Duration::from_secs(u64::from(case.seconds));
        assert_eq!((length(1), length(2)), (once, once * 2));
    }

    #[test]
    fn a_run_leaves_the_same_results_each_time() {
        let case = Case {
            name: "short",
            scenario: "drive",
            changes: &[],
            seconds: 1,
        };
        let case: &'static Case = Box::leak(Box::new(case));
        let (first, second) = (run(case, 1).unwrap(), run(case, 1).unwrap());
        assert_eq!(first, second);
        assert_ne!(first, run(case, 2).unwrap());
    }
}
