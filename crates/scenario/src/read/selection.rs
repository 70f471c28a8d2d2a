//! Loading of the policies and memories that flows name into the scenario.

use std::path::Path;

use select::policy::{BUILT_IN, builtin, builtin_text};
use select::{Auto, Memory, Policy, PolicyError};

use crate::model::Scenario;
use config::{ConfigError, Wrong};

impl Scenario {
    /// Reads the files of policies and memories that the flows' `auto` name; relative paths count from
    /// `directory`. Built-in policies and what is there already are left alone.
    ///
    /// # Errors
    /// If a file cannot be read, or is no policy or memory; the error names it and the field.
    pub fn load_selection(&mut self, directory: &Path) -> Result<(), ConfigError> {
        for number in 0..self.flows.len() {
            let Some(auto) = self.flows[number].cca.auto() else {
                continue;
            };
            let (source, name) = (self.source.clone(), self.name.clone());
            let wrong = |message: String| {
                let field = format!("flows.{number}.cca");
                source.error(Wrong { field, message }, &name)
            };
            if builtin_text(&auto.policy).is_err() {
                let built_in = BUILT_IN.map(|policy| policy.0).join(", ");
                let text = self.text_of(&auto.policy, directory, &format!("{built_in}, or a file"));
                self.selection
                    .insert(auto.policy.clone(), text.map_err(&wrong)?);
            }
            let policy = self.policy(&auto);
            let policy = policy.map_err(|error| wrong(error.to_string()))?;
            auto.check(&policy)
                .map_err(|error| wrong(error.to_string()))?;
            if let Some(file) = auto.memory {
                let allowed = "the file of a memory";
                let text = self.text_of(&file, directory, allowed).map_err(&wrong)?;
                let read = Memory::from_toml(&text);
                read.map_err(|error| wrong(format!("{file}: {error}")))?;
                self.selection.insert(file, text);
            }
        }
        Ok(())
    }

    /// The policy that a flow's `auto` means, if it has been loaded.
    ///
    /// # Errors
    /// If there is none of that name, or it cannot be used.
    pub fn policy(&self, auto: &Auto) -> Result<Policy, PolicyError> {
        let policy = match self.selection.get(&auto.policy) {
            Some(text) => Policy::from_toml(text, &auto.policy),
            None => builtin(&auto.policy),
        }?;
        Ok(match auto.cca {
            Some(cca) => policy.fixed_to(cca),
            None => policy,
        })
    }

    /// The policies that the flows' `auto` name, each once.
    pub fn policies(&self) -> Vec<String> {
        let mut names = Vec::new();
        for auto in self.flows.iter().filter_map(|flow| flow.cca.auto()) {
            if !names.contains(&auto.policy) {
                names.push(auto.policy);
            }
        }
        names
    }

    fn text_of(&self, file: &str, directory: &Path, allowed: &str) -> Result<String, String> {
        if let Some(text) = self.selection.get(file) {
            return Ok(text.clone());
        }
        std::fs::read_to_string(directory.join(file))
            .map_err(|error| format!("{file:?} cannot be read: {error}; allowed: {allowed}"))
    }
}
