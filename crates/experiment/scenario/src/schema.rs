//! Output: a scenario as JSON and TOML, its hash, and the JSON schema.

use sha2::{Digest, Sha256};

use crate::model::Scenario;
use crate::renamed::RENAMED;

impl Scenario {
    /// Returns all fields as a JSON value, in the order of their definition.
    ///
    /// # Panics
    /// If a number is not finite. No scenario that was read holds such a number.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("scenarios are made of tables with text keys")
    }

    /// Returns all fields as JSON on one line, in the order of their definition; serde reads it back.
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// Returns a scenario file with every field, defaults included, and the meaning above each. Unset fields are
    /// comments. [`Scenario::from_toml`] reads it back to the same scenario.
    pub fn to_toml(&self) -> String {
        config::to_toml(&schemars::schema_for!(Self).to_value(), &self.to_value())
    }

    /// Returns the first 16 hexadecimal digits of the SHA-256 of the JSON without name, description and limits. It is equal
    /// for scenarios that run alike. A field that flows got later counts only if it has been set, and renamed ones by their
    /// former names, so that hashes from before still hold.
    pub fn hash(&self) -> String {
        let mut value = self.to_value();
        RENAMED.revert(&mut value);
        let flows = value["flows"].as_array_mut().into_iter().flatten();
        for flow in flows.filter_map(|flow| flow.as_object_mut()) {
            if flow["opens"] == "to" {
                flow.shift_remove("opens");
            }
        }
        if let Some(fields) = value.as_object_mut() {
            fields.shift_remove("name");
            fields.shift_remove("description");
            fields.shift_remove("limits");
        }
        let digest = Sha256::digest(value.to_string());
        digest[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Returns the JSON schema (draft 2020-12) of scenario files.
    pub fn schema() -> String {
        format!("{:#}\n", schemars::schema_for!(Self).to_value())
    }
}
