//! Licences: everything that is loaded into the kernel's process, and the program that it runs, is built only from what
//! GPL-2.0 can be combined with.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Licences that GPL-2.0 can be combined with, by the list of the Free Software Foundation
/// (<https://www.gnu.org/licenses/license-list.html>). Apache-2.0 alone is not among them.
const COMPATIBLE: [&str; 8] = [
    "MIT",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "BSL-1.0",
    "Unlicense",
];

/// Returns whether one of the alternatives that an SPDX expression offers is compatible.
fn offers_compatible(licence: &str) -> bool {
    let bare = |word: &str| COMPATIBLE.contains(&word.trim_matches(['(', ')', ' ']));
    licence
        .split(" OR ")
        .flat_map(|part| part.split('/'))
        .any(|part| part.split(" AND ").all(bare))
}

#[test]
fn an_alternative_is_enough_but_all_of_a_conjunction_are_needed() {
    assert!(offers_compatible("MIT OR Apache-2.0"));
    assert!(offers_compatible("MIT/Apache-2.0"));
    assert!(!offers_compatible("Apache-2.0"));
    assert!(!offers_compatible("MIT AND Apache-2.0"));
}

#[test]
fn path_and_guest_are_built_from_what_gpl_can_be_combined_with() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--offline"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages: BTreeMap<String, Value> = list(&metadata["packages"])
        .into_iter()
        .map(|package| (text(&package["id"]), package))
        .collect();
    let mut needs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        // Dependencies with a kind are needed by tests or builds only.
        let linked = |dep: &Value| list(&dep["dep_kinds"]).iter().any(|k| k["kind"].is_null());
        let deps = list(&node["deps"]);
        let linked = deps.iter().filter(|dep| linked(dep));
        needs.insert(
            text(&node["id"]),
            linked.map(|dep| text(&dep["pkg"])).collect(),
        );
    }
    let ours = ["celltcp-kernel-network", "celltcp-kernel-guest"];
    let of_ours = |package: &Value| ours.contains(&package["name"].as_str().unwrap_or_default());
    let mut open: Vec<String> = packages
        .iter()
        .filter(|(_, package)| of_ours(package))
        .map(|(id, _)| id.clone())
        .collect();
    assert_eq!(open.len(), 2);
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let licence = text(&packages[&id]["license"]);
        assert!(offers_compatible(&licence), "{id}: {licence:?}");
        open.extend(needs.get(&id).cloned().unwrap_or_default());
    }
    assert!(seen.len() > 20, "{seen:?}");
}
