//! Built-in policies.

use std::sync::OnceLock;

use super::Policy;

/// Name and text of each built-in policy.
pub const BUILT_IN: [(&str, &str); 6] = [
    ("default", include_str!("../../policies/default.toml")),
    ("fixed", include_str!("../../policies/fixed.toml")),
    (
        "thesis-establishment",
        include_str!("../../policies/thesis-establishment.toml"),
    ),
    (
        "thesis-inflight",
        include_str!("../../policies/thesis-inflight.toml"),
    ),
    ("rules", include_str!("../../policies/rules.toml")),
    ("bpftune", include_str!("../../policies/bpftune.toml")),
];

fn index(name: &str) -> Result<usize, String> {
    let names = BUILT_IN.map(|(name, _)| name);
    let index = names.iter().position(|built_in| *built_in == name);
    index.ok_or_else(|| {
        let names = names.join(", ");
        format!("{name:?} is not a policy; allowed: {names}, or the file of one")
    })
}

/// Returns the text of the built-in policy called `name`.
pub fn builtin_text(name: &str) -> Result<&'static str, String> {
    let (_, text) = BUILT_IN[index(name)?];
    Ok(text)
}

/// Returns the built-in policy called `name`.
pub fn builtin(name: &str) -> Result<Policy, String> {
    // A kNN policy is long, and every run asks for its policy.
    static PARSED: [OnceLock<Policy>; BUILT_IN.len()] = [const { OnceLock::new() }; BUILT_IN.len()];
    let parsed = &PARSED[index(name)?];
    if let Some(policy) = parsed.get() {
        return Ok(policy.clone());
    }
    let policy = Policy::from_toml(builtin_text(name)?, name)?;
    Ok(parsed.get_or_init(|| policy).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_policy_can_be_used() {
        for (name, _) in BUILT_IN {
            let policy = builtin(name).expect("a policy of ours");
            assert_eq!(policy.name, name);
            assert!(!policy.candidates().is_empty());
        }
    }
}
