//! Built-in policies.

use std::sync::OnceLock;

use super::{Policy, PolicyError};

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

/// Returns the text of the built-in policy called `name`.
///
/// # Errors
/// If there is no policy of that name.
pub fn builtin_text(name: &str) -> Result<&'static str, PolicyError> {
    let policy = BUILT_IN.iter().find(|policy| policy.0 == name);
    policy
        .map(|policy| policy.1)
        .ok_or_else(|| PolicyError::Unknown(name.to_owned()))
}

/// Returns the built-in policy called `name`.
///
/// # Errors
/// If there is no policy of that name.
pub fn builtin(name: &str) -> Result<Policy, PolicyError> {
    // A policy with measured moments is long, and every run asks for its policy.
    static READ: [OnceLock<Policy>; BUILT_IN.len()] = [const { OnceLock::new() }; BUILT_IN.len()];
    let text = builtin_text(name)?;
    let index = BUILT_IN.iter().position(|policy| policy.0 == name);
    let Some(read) = index.map(|index| &READ[index]) else {
        return Policy::from_toml(text, name);
    };
    if let Some(policy) = read.get() {
        return Ok(policy.clone());
    }
    let policy = Policy::from_toml(text, name)?;
    Ok(read.get_or_init(|| policy).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_policy_can_be_used() {
        for (name, _) in BUILT_IN {
            let policy = builtin(name).expect("a policy of ours");
            assert_eq!(policy.name, name);
            assert!(!policy.choices().is_empty());
        }
    }
}
