//! The built-in scenarios.

use std::path::{Path, PathBuf};

use scenario::Scenario;

fn library() -> Vec<(PathBuf, Scenario)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/celltcp/library");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let origin = path.file_name().unwrap().to_string_lossy().into_owned();
            let scenario =
                Scenario::from_toml(&text, &origin, &[]).unwrap_or_else(|e| panic!("{e}"));
            (path, scenario)
        })
        .collect()
}

#[test]
fn all_are_there_and_named_after_their_file() {
    let library = library();
    let names: Vec<&str> = library.iter().map(|(_, s)| s.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "drive",
            "fairness",
            "fall",
            "outage",
            "rise",
            "steady-100-18",
            "steady-100-68",
            "steady-20-18",
            "steady-20-68",
            "steady-5-18",
            "steady-5-68"
        ]
    );
    for (path, scenario) in &library {
        assert_eq!(
            path.file_stem().unwrap().to_str(),
            Some(scenario.name.as_str())
        );
        assert!(!scenario.description.is_empty(), "{}", scenario.name);
    }
}

#[test]
fn what_is_random_is_told() {
    for (_, scenario) in library() {
        let expected: &[&str] = match scenario.name.as_str() {
            "drive" => &["trace offset", "generated capacity", "start jitter"],
            "fairness" => &["start jitter"],
            _ => &[],
        };
        assert_eq!(scenario.randomness(), expected, "{}", scenario.name);
    }
}

#[test]
fn what_is_printed_reads_back_to_the_same() {
    for (_, scenario) in library() {
        let printed = scenario.to_toml();
        let again = Scenario::from_toml(&printed, "printed", &[])
            .unwrap_or_else(|e| panic!("{e}\n{printed}"));
        assert_eq!(again, scenario, "{printed}");
        assert_eq!(again.to_toml(), printed);
        assert_eq!(again.hash(), scenario.hash());
    }
}

#[test]
fn json_reads_back_to_the_same() {
    for (_, scenario) in library() {
        let again: Scenario = serde_json::from_str(&scenario.to_json()).unwrap();
        assert_eq!(again, scenario);
    }
}
