//! Program that runs a scenario file with a CCA of one's own:
//! `cargo run --release -p own-cca -- python/celltcp/library/steady-20-68.toml gentle:keep=0.7`

use std::error::Error;
use std::path::Path;

use path::Traces;
use recorder::Options;
use scenario::{Lineup, Scenario};
use sim::Simulation;
use units::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    own_cca::register()?;
    let mut arguments = std::env::args().skip(1);
    let file = arguments
        .next()
        .ok_or("give a scenario file, and a congestion control if not gentle")?;
    let lineup: Lineup = arguments.next().as_deref().unwrap_or("gentle").parse()?;
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let mut scenario = Scenario::from_toml(&text, &file, &[])?;
    lineup.apply(&mut scenario);
    let folder = Path::new(&file).parent().unwrap_or(Path::new("."));
    let traces = Traces::load(&scenario, folder)?;
    let mut run = Simulation::new(&scenario, &traces, 1, Options::default())?;
    run.advance(Instant::NEVER);
    let flows = run.finish()?.flows;
    for number in 0..flows.name.len() {
        let flow = flows.row(number);
        println!(
            "{} ({}): {:.2} Mbit/s, mean RTT {:.1} ms, {} retransmissions",
            flow.name, flow.cca, flow.goodput_mbps, flow.rtt_mean_ms, flow.retransmissions
        );
    }
    Ok(())
}
