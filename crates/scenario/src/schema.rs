//! Output: a scenario as JSON and TOML, its hash, and the JSON schema.

use sha2::{Digest, Sha256};

use crate::model::Scenario;

impl Scenario {
    /// All fields as a JSON value, in the order of their definition.
    ///
    /// # Panics
    /// If a number is not finite, which no scenario that was read holds.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("scenarios are made of tables with text keys")
    }

    /// All fields as JSON on one line, in the order of their definition; serde reads it back.
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// A scenario file with every field, defaults too, and above each what it means. What is unset is
    /// there as a comment. [`Scenario::from_toml`] reads it back to the same scenario.
    pub fn to_toml(&self) -> String {
        config::to_toml(&schemars::schema_for!(Self).to_value(), &self.to_value())
    }

    /// The first 16 hexadecimal digits of the SHA-256 of the JSON without name and description: equal
    /// for scenarios that run alike.
    pub fn hash(&self) -> String {
        let mut value = self.to_value();
        if let Some(fields) = value.as_object_mut() {
            fields.shift_remove("name");
            fields.shift_remove("description");
        }
        let digest = Sha256::digest(value.to_string());
        digest[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// The JSON schema (draft 2020-12) of scenario files.
    pub fn schema() -> String {
        format!("{:#}\n", schemars::schema_for!(Self).to_value())
    }
}
