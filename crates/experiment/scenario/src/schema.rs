//! Schema: a scenario as JSON and TOML, and the JSON schema.

use crate::model::Scenario;

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

    /// Returns the JSON schema (draft 2020-12) of scenario files.
    pub fn schema() -> String {
        format!("{:#}\n", schemars::schema_for!(Self).to_value())
    }
}
