//! The ways in which policies choose.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::{Cost, Rules, Table, Trees, Wrong};

/// How a policy chooses.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// One for all times.
    Fixed(Fixed),
    /// By movement, speed, latency and phase.
    Table(Table),
    /// By rules, of which the first that holds counts.
    Rules(Rules),
    /// By trees that training has grown.
    Tree(Trees),
    /// By what congestion controls have cost on earlier connections to the destination.
    Cost(Cost),
}

/// One congestion control for all times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    /// Its name.
    pub cca: String,
}

/// The words of all methods.
const METHODS: [&str; 5] = ["fixed", "table", "rules", "tree", "cost"];

/// The part of a policy's file that says which method it has.
#[derive(Deserialize)]
struct Outline {
    method: BTreeMap<String, IgnoredAny>,
}

/// That a policy's file has exactly one method, so far as it can be read.
pub(super) fn check(text: &str) -> Result<(), Wrong> {
    let Ok(Outline { method }) = toml::from_str(text) else {
        return Ok(());
    };
    let given: Vec<_> = method.keys().map(String::as_str).collect();
    let wrong = match given[..] {
        [_] => return Ok(()),
        [] => "nothing is given".to_owned(),
        _ => format!("{} are given", given.join(" and ")),
    };
    let reason = format!("{wrong}; allowed: one of {}", METHODS.join(", "));
    Err(("method".to_owned(), reason))
}

#[cfg(test)]
mod tests {
    use crate::Policy;

    #[test]
    fn a_policy_has_one_method() {
        let wrong = |methods: &str| {
            let text = format!("name = \"mine\"\ndescription = \"A test.\"\n{methods}");
            let error = Policy::from_toml(&text, "mine.toml").expect_err("it is wrong");
            error.to_string()
        };
        assert_eq!(
            wrong("method.fixed.cca = \"bbr\"\nmethod.rules.rules = []"),
            "mine.toml: method: fixed and rules are given; allowed: one of fixed, table, rules, tree, cost"
        );
        assert_eq!(
            wrong("[method]"),
            "mine.toml: method: nothing is given; allowed: one of fixed, table, rules, tree, cost"
        );
        // Those that there are have to be the words that files have.
        let unknown = wrong("method.dice.cca = \"bbr\"");
        for method in super::METHODS {
            assert!(unknown.contains(&format!("`{method}`")), "{unknown}");
        }
    }
}
