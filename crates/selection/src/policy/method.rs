//! Methods by which policies choose.

use std::collections::BTreeMap;

use config::{FieldError, reject};
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

use super::{Cost, Rules, Table, Trees};

/// Method by which a policy chooses.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Method {
    /// Always the same CCA.
    Fixed(Fixed),
    /// By a table over movement, speed, latency and the phase of the movement.
    Table(Table),
    /// By rules; the first that holds decides.
    Rules(Rules),
    /// By decision trees from training.
    Tree(Trees),
    /// By the costs of CCAs on earlier connections to the destination.
    Cost(Cost),
}

/// Always the same CCA.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    /// Name of the CCA.
    pub cca: String,
}

/// Part of a policy file that names the method.
#[derive(Deserialize)]
struct MethodOutline {
    method: BTreeMap<String, IgnoredAny>,
}

/// Checks that a policy file has exactly one method; does nothing if the file cannot be parsed.
pub(super) fn check(text: &str) -> Result<(), FieldError> {
    let Ok(MethodOutline { method }) = toml::from_str(text) else {
        return Ok(());
    };
    let given: Vec<_> = method.keys().map(String::as_str).collect();
    let problem = match given[..] {
        [_] => return Ok(()),
        [] => "nothing is given".to_owned(),
        _ => format!("{} are given", given.join(" and ")),
    };
    let reason = format!("{problem}; allowed: one of {}", Method::VARIANTS.join(", "));
    reject("method", reason)
}

#[cfg(test)]
mod tests {
    use strum::VariantNames;

    use super::Method;
    use crate::Policy;

    #[test]
    fn a_policy_has_one_method() {
        let method_error = |methods: &str| {
            let text = format!("name = \"mine\"\ndescription = \"A test.\"\n{methods}");
            let error = Policy::from_toml(&text, "mine.toml").expect_err("it is wrong");
            error.to_string()
        };
        assert_eq!(
            method_error("method.fixed.cca = \"bbr\"\nmethod.rules.rules = []"),
            "mine.toml: method: fixed and rules are given; allowed: one of fixed, table, rules, tree, cost"
        );
        assert_eq!(
            method_error("[method]"),
            "mine.toml: method: nothing is given; allowed: one of fixed, table, rules, tree, cost"
        );
        // The methods listed in the error are those that files can name.
        let unknown = method_error("method.dice.cca = \"bbr\"");
        for method in Method::VARIANTS {
            assert!(unknown.contains(&format!("`{method}`")), "{unknown}");
        }
    }
}
