//! Loading of files that workloads name.

use config::{ConfigError, FieldContext, FieldError};

use crate::model::Scenario;

impl Scenario {
    /// Reads the files that the flows' workloads name. `read` returns the path that errors name and the text of a file.
    ///
    /// # Errors
    /// The first fault, with the line of the scenario that names the file.
    pub fn load_workloads(
        &mut self,
        mut read: impl FnMut(&str) -> Result<(String, String), FieldError>,
    ) -> Result<(), ConfigError> {
        for (number, flow) in self.flows.iter_mut().enumerate() {
            let loaded = flow.workload.load(&mut read);
            loaded
                .in_table(format!("flows.{number}.workload"))
                .map_err(|wrong| self.source.error(wrong, &self.name))?;
        }
        Ok(())
    }

    /// Returns what is to be known of the files of workloads that have been read, each once.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for note in self.flows.iter().flat_map(|flow| flow.workload.notes()) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }
}
