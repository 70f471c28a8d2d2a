//! Program that compares a CCA of one's own with those of celltcp, in one table:
//!
//! ```text
//! cargo run --release -- ../../python/celltcp/library/steady-20-68.toml gentle,gentle:keep=0.5,reno,cubic 3
//! ```
//!
//! The arguments are a scenario file, CCAs as for `celltcp compare --cca`, and the number of runs of each.

use std::error::Error;
use std::path::Path;

use path::Traces;
use recorder::Options;
use scenario::{Lineup, Scenario};
use sim::Simulation;
use units::Instant;

/// Sums over the runs of one CCA.
#[derive(Default)]
struct Sums {
    goodput_mbps: f64,
    rtt_mean_ms: f64,
    retransmissions: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    own_cca::register()?;
    let mut arguments = std::env::args().skip(1);
    let file = arguments
        .next()
        .ok_or("give a scenario file, a list of CCAs, and the number of runs")?;
    let ccas = arguments.next();
    let lineups = Lineup::list(ccas.as_deref().unwrap_or("gentle,reno,cubic"))?;
    let runs: u32 = arguments.next().as_deref().unwrap_or("3").parse()?;
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let folder = Path::new(&file).parent().unwrap_or(Path::new("."));
    println!("{file}: means of the first flow over {runs} runs");
    println!(
        "{:<24}{:>16}{:>14}{:>17}",
        "CCA", "goodput, Mbit/s", "mean RTT, ms", "retransmissions"
    );
    for lineup in &lineups {
        let mut scenario = Scenario::from_toml(&text, &file, &[])?;
        lineup.apply(&mut scenario);
        let traces = Traces::load(&scenario, folder)?;
        let mut sums = Sums::default();
        for seed in 1..=u64::from(runs) {
            let mut run = Simulation::new(&scenario, &traces, seed, Options::default())?;
            run.advance(Instant::NEVER);
            let flows = run.finish()?.flows;
            let flow = flows.row(0);
            sums.goodput_mbps += flow.goodput_mbps;
            sums.rtt_mean_ms += flow.rtt_mean_ms;
            sums.retransmissions += flow.retransmissions as f64;
        }
        let mean = |sum: f64| sum / f64::from(runs);
        println!(
            "{:<24}{:>16.2}{:>14.1}{:>17.1}",
            lineup.to_string(),
            mean(sums.goodput_mbps),
            mean(sums.rtt_mean_ms),
            mean(sums.retransmissions)
        );
    }
    Ok(())
}
