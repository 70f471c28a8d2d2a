//! The built-in scenarios.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use scenario::Scenario;

/// The TOML files in a folder and the folders in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut result = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            result.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            result.push(path);
        }
    }
    result.sort();
    result
}

/// All scenarios with the names of their files: folders and all, without the ending.
fn library() -> Vec<(String, Scenario)> {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../python/celltcp/library");
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.with_extension("");
        let name = name.strip_prefix(&library).unwrap().to_str().unwrap();
        let scenario = Scenario::from_toml(&text, name, &[]).unwrap_or_else(|e| panic!("{e}"));
        (name.to_owned(), scenario)
    };
    files(&library).into_iter().map(read).collect()
}

#[test]
fn all_are_there_and_named_after_their_file() {
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for (file, scenario) in library() {
        assert_eq!(scenario.name, file);
        assert!(!scenario.description.is_empty(), "{file}");
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        *folders.entry(folder.to_owned()).or_default() += 1;
    }
    let expected = [
        ("", 12),
        ("buffers", 2),
        ("highway", 2),
        ("limits", 2),
        ("mobility", 12),
        ("nr", 4),
        ("short", 3),
        ("speed", 2),
        ("startup", 3),
        ("static", 4),
        ("static/testing-points", 6),
        ("stress", 47),
        ("vehicular", 3),
        ("video", 7),
    ];
    assert_eq!(folders, expected.map(|(f, n)| (f.to_owned(), n)).into());
}

/// Differences between runs, by folder or, where scenarios of a folder differ, by name.
#[test]
fn what_is_random_is_told() {
    const STILL: &[&str] = &["block errors", "start jitter"];
    const FADED: &[&str] = &["fading", "block errors", "start jitter"];
    const ON_THE_MAP: &[&str] = &[
        "fading",
        "shadowing",
        "line of sight",
        "block errors",
        "start jitter",
    ];
    const VIDEO: &[&str] = &["random loss", "block errors", "start jitter", "workload"];
    for (name, scenario) in library() {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let expected: &[&str] = match (folder, name.as_str()) {
            (_, "drive") => &["trace offset", "generated capacity", "start jitter"],
            (_, "fairness") | ("short", _) => &["start jitter"],
            (_, "m2m") => &["block errors", "workload"],
            (_, "vehicular/scenario-3") => &[
                "random loss",
                "fading",
                "block errors",
                "start jitter",
                "workload",
            ],
            (_, "nr/sub6-drive" | "nr/mmwave-drive" | "highway/drive") => ON_THE_MAP,
            (_, "highway/traffic") => &[
                "cross-traffic",
                "fading",
                "shadowing",
                "line of sight",
                "block errors",
                "start jitter",
            ],
            ("vehicular", _) => VIDEO,
            ("stress", name) => stress(name),
            ("buffers" | "static", _) | (_, "video/android-paced" | "video/netflix") => STILL,
            ("video", _) => &["block errors", "start jitter", "workload"],
            ("" | "limits", _) => &[],
            _ => FADED,
        };
        assert_eq!(scenario.randomness(), expected, "{name}");
    }
}

/// Differences between runs of a stress case: those of what it stresses.
fn stress(name: &str) -> &'static [&'static str] {
    match name.trim_start_matches("stress/") {
        "codel-wander" | "mmwave-blockage" | "outages" | "wander-fast" => {
            &["trace offset", "generated capacity", "start jitter"]
        }
        "beside-short" => &["start jitter", "workload"],
        "cross" => &["cross-traffic", "start jitter"],
        "jitter" => &["jitter", "start jitter"],
        "pie" => &["queue drops", "start jitter"],
        case if case.contains("loss") => &["random loss", "start jitter"],
        _ => &["start jitter"],
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
