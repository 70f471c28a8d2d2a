//! The built-in scenarios in folders, with the checker on.

use std::collections::BTreeSet;
use std::path::Path;

use crate::library::{first, folder, run, scenario};

/// Names of all scenarios below `at`, with their folders.
fn names_below(at: &Path, names: &mut BTreeSet<String>) {
    for path in std::fs::read_dir(at)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if path.is_dir() {
            names_below(&path, names);
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            let name = path.with_extension("");
            let name = name.strip_prefix(folder()).unwrap();
            names.insert(name.to_str().unwrap().to_owned());
        }
    }
}

/// No invariant is broken in a sample of the scenarios, and the first flow gets going: the least of them is a video of
/// 0.9 Mbit/s.
fn scenarios_in_folders_run(every: usize) {
    let mut names = BTreeSet::new();
    names_below(&folder(), &mut names);
    names.retain(|name| name.contains('/') && !name.starts_with("stress/"));
    assert!(!names.is_empty());
    let ccas = ["cubic", "reno", "bbr", "westwood", "illinois"];
    for (name, cca) in names.iter().zip(ccas.iter().cycle()).step_by(every) {
        let cca = format!("flows.0.cca={cca}");
        let tables = run(&scenario(name, &["duration=2s", &cca]), 5);
        let row = first(&tables.flows);
        println!("{name} {cca}: {:.2} Mbit/s", row.goodput_mbps);
        assert!(row.goodput_mbps > 0.3, "{name} {cca}: {}", row.goodput_mbps);
    }
}

#[test]
#[ignore = "slow, make test-all"]
fn every_scenario_in_a_folder_runs() {
    scenarios_in_folders_run(1);
}

#[test]
fn every_fourth_scenario_in_a_folder_runs() {
    scenarios_in_folders_run(4);
}

/// No invariant is broken in the first 16 s of a sample of the stress cases and scenarios of short flows, and the first
/// flow delivers: competitors start at 15 s, and the slowest link has 100 kbit/s.
fn stress_cases_and_short_flows_run(every: usize) {
    let mut names = BTreeSet::new();
    names_below(&folder(), &mut names);
    names.retain(|name| name.starts_with("stress/") || name.starts_with("short/"));
    assert!(!names.is_empty());
    for (name, cca) in names
        .iter()
        .zip(["cubic", "bbr"].iter().cycle())
        .step_by(every)
    {
        let whole = scenario(name, &[]);
        let duration = format!("duration={}s", whole.duration.as_secs_f64().min(16.0));
        let cca = format!("flows.0.cca={cca}");
        let row = first(&run(&scenario(name, &[&duration, &cca]), 5).flows);
        println!("{name} {cca}: {:.2} Mbit/s", row.goodput_mbps);
        assert!(
            row.goodput_mbps > 0.02,
            "{name} {cca}: {}",
            row.goodput_mbps
        );
    }
}

#[test]
#[ignore = "slow, make test-all"]
fn every_stress_case_and_short_flow_runs() {
    stress_cases_and_short_flows_run(1);
}

#[test]
fn every_seventeenth_stress_case_and_short_flow_runs() {
    stress_cases_and_short_flows_run(17);
}

/// Half of the cell's maximum, and half of that with a competing flow (atxutegi2018 section 5.2).
#[test]
fn mid_cell_carries_half_of_what_the_cell_can() {
    let goodput = |name, sinr: &str| {
        let changes = ["duration=20s", "flows.0.cca=bbr", sinr];
        first(&run(&scenario(name, &changes), 1).flows).goodput_mbps
    };
    let here = "radio.ues.0.sinr=11dB";
    let best = goodput("static/mid-cell", "radio.ues.0.sinr=30dB");
    let alone = goodput("static/mid-cell", here);
    let beside = goodput("static/mid-cell-loaded", here);
    println!("{best:.1}, {alone:.1}, {beside:.1} Mbit/s");
    assert!((62.0..75.0).contains(&best), "{best}");
    assert!((0.45..0.55).contains(&(alone / best)), "{alone}");
    assert!((0.45..0.6).contains(&(beside / alone)), "{beside}");
}

/// A window of 64 KiB per round trip, and 29 of them for 100 Mbit/s and 150 ms (atxutegi2018 section 5.1.1).
#[test]
fn twenty_nine_unscaled_windows_fill_the_pipe() {
    let goodput = |count: u32| {
        let count_of = format!("flows.0.count={count}");
        let tables = run(
            &scenario("limits/parallel", &[&count_of, "duration=10s"]),
            1,
        );
        let rows = (0..tables.flows.len()).map(|index| tables.flows.row(index));
        rows.map(|row| row.goodput_mbps).sum::<f64>()
    };
    let one = goodput(1);
    let window = 65_535.0 * 8e-6 / 0.150;
    assert!(one > 0.9 * window && one < window, "{one} of {window}");
    assert!(goodput(20) < 70.0);
    assert!(goodput(29) > 90.0);
}
