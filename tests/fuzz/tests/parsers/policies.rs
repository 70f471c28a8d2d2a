//! Policies and memories of the selection.

use selection::{DestinationCache, Policy};

use crate::files;

const MEMORY: &str = r#"
[destinations.phone]
connections = 3
min_rtt_ms = 50.0
max_rate_mbps = 20.5
[destinations.phone.ccas.cubic]
connections = 3
cost = 2.0
[destinations."far away".ccas.bbr]
connections = 1
cost = 0.25
"#;

#[test]
fn policies() {
    fuzz::fuzz(
        "policies",
        &files::below("crates/selection/policies", ".toml"),
        |bytes| {
            let _ = Policy::from_toml(&String::from_utf8_lossy(bytes), "mutant.toml");
        },
    );
}

#[test]
fn memories() {
    fuzz::fuzz("memories", &[MEMORY.as_bytes().to_vec()], |bytes| {
        if let Ok(memory) =
            DestinationCache::from_toml(&String::from_utf8_lossy(bytes), "mutant.toml")
        {
            let text = memory.to_toml();
            assert_eq!(
                DestinationCache::from_toml(&text, "mutant.toml").as_ref(),
                Ok(&memory),
                "{text}"
            );
        }
    });
}
