//! Scenarios: mutated files and overrides are parsed, printed, parsed reparsed and built into a network.

use std::path::Path;

use network_builder::{Plan, Traces};
use scenario::Scenario;

use crate::files;

/// Parses a scenario and builds its network, as before a run.
fn read(text: &str, overrides: &[String]) {
    let Ok(scenario) = Scenario::from_toml(text, "mutant.toml", overrides) else {
        return;
    };
    let printed = scenario.to_toml();
    let reparsed = Scenario::from_toml(&printed, "mutant.toml", &[]);
    let reparsed = reparsed.unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(reparsed.hash(), scenario.hash(), "{printed}");
    if let Ok(traces) = Traces::load(&scenario, Path::new("/nowhere"))
        && let Ok(plan) = Plan::new(&scenario, &traces, 1)
    {
        let _ = net::Network::new(&plan.topology, 1);
    }
}

#[test]
fn scenarios() {
    fuzz::fuzz(
        "scenarios",
        &files::below("python/celltcp/library", ".toml"),
        |bytes| {
            read(&String::from_utf8_lossy(bytes), &[]);
        },
    );
}

#[test]
fn overrides() {
    let sources = [
        "path.buffer=2bdp",
        "path.down={ steps = [{ at = \"0s\", rate = \"5Mbit/s\" }, { at = \"2s\", rate = \"1Mbit/s\" }] }",
        "path.cross_traffic=[{ rate = \"3Mbit/s\", on = { kind = \"pareto\", shape = 1.2, scale = \"1s\" }, off = \"1s\" }]",
        "path.queue={ kind = \"pie\", target = \"20ms\", update = \"15ms\" }",
        "flows.0.cca=cubic:beta=0.8\nflows.0.count=3",
        "flows.0.workload={ kind = \"page\", object = \"5kB\", depth = 2, multiplexed = true }",
        "flows.0.switch=[{ at = \"1s\", to = \"bbr\", mode = \"context\" }]",
        "radio.ues.0.count=3\nradio.bandwidth=10MHz\nradio.drx.long_cycle=40ms",
        "duration=10s\nslot=50ms\nsamples=10ms",
        "path.middleboxes.0.kind=split-host\npath.middleboxes.0.at=gateway",
        "path.jitter={ distribution = \"normal\", mean = \"3ms\", sd = \"1ms\" }",
        "tcp.receive_buffer_max=1MiB\ntcp.pacing=fq",
    ];
    let sources: Vec<_> = sources
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .collect();
    fuzz::fuzz("overrides", &sources, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let overrides: Vec<String> = text.lines().map(str::to_owned).collect();
        read("", &overrides);
    });
}
