//! Loading of policies and memories that flows name.

use std::path::Path;
use std::{fs, io};

use crate::model::Scenario;
use config::{ConfigError, FieldError};
use selection::Auto;

impl Scenario {
    /// Reads the policy and memory files that the flows' `auto` name; relative paths count from `directory`. Built-in
    /// policies and files that the scenario holds already are not read.
    ///
    /// # Errors
    /// If a file cannot be read, or is no policy or memory; the error names it and the field.
    pub fn load_selection(&mut self, directory: &Path) -> Result<(), ConfigError> {
        let read = |file: &str| read_text(&directory.join(file));
        for (number, flow) in self.flows.iter().enumerate() {
            let Some(auto) = flow.cca.auto() else {
                continue;
            };
            let loaded = auto.load(&mut self.selection, read);
            loaded.map_err(|message| {
                let field = format!("flows.{number}.cca");
                self.source.error(FieldError { field, message }, &self.name)
            })?;
        }
        Ok(())
    }

    /// Returns the flows by name, with the parameters of `auto` where the CCA is selected.
    pub fn selected(&self) -> impl Iterator<Item = (&str, Option<Auto>)> {
        let flows = self.flows.iter();
        flows.map(|flow| (flow.name.as_str(), flow.cca.auto()))
    }

    /// Returns the policies that the flows' `auto` name, each once.
    pub fn policies(&self) -> Vec<String> {
        let mut names = Vec::new();
        for auto in self.flows.iter().filter_map(|flow| flow.cca.auto()) {
            if !names.contains(&auto.policy) {
                names.push(auto.policy);
            }
        }
        names
    }
}

/// Reads a policy or memory, whose text may be damaged.
fn read_text(file: &Path) -> io::Result<String> {
    String::from_utf8(fs::read(file)?).map_err(|_| {
        let reason = "it is no text in UTF-8; if celltcp wrote it, make it again";
        io::Error::new(io::ErrorKind::InvalidData, reason)
    })
}
