//! Loading of files that workloads and losses name.

use config::{ConfigError, FieldContext, FieldError};

use crate::model::{Loss, Scenario};

impl Scenario {
    /// Reads the files that the flows' workloads and the losses of links name. `read` gets the name of a
    /// file and returns its path, for error messages, and its text.
    ///
    /// # Errors
    /// The first invalid file, with the line of the scenario that names it.
    pub fn load_files(
        &mut self,
        mut read: impl FnMut(&str) -> Result<(String, String), FieldError>,
    ) -> Result<(), ConfigError> {
        for (number, flow) in self.flows.iter_mut().enumerate() {
            let loaded = flow.workload.load(&mut read);
            loaded
                .in_table(format!("flows.{number}.workload"))
                .map_err(|error| self.source.error(error, &self.name))?;
        }
        self.load_losses(&mut read)
    }

    fn load_losses(
        &mut self,
        read: &mut impl FnMut(&str) -> Result<(String, String), FieldError>,
    ) -> Result<(), ConfigError> {
        let path = &mut self.path;
        let downlink = [("path.loss".to_owned(), &mut path.loss)];
        let uplink = [("path.uplink_loss".to_owned(), &mut path.uplink_loss)];
        let hops = path.wired.iter_mut().enumerate();
        let hops = hops.map(|(index, hop)| (format!("path.wired.{index}.loss"), &mut hop.loss));
        let links = self.links.iter_mut().enumerate();
        let links = links.map(|(index, link)| (format!("links.{index}.loss"), &mut link.loss));
        for (field, loss) in downlink.into_iter().chain(uplink).chain(hops).chain(links) {
            if let Loss::Trace(trace) = loss {
                let loaded = trace.load(&mut *read).in_table(field);
                loaded.map_err(|error| self.source.error(error, &self.name))?;
            }
        }
        Ok(())
    }

    /// Returns notes on the loaded files of workloads, without repetitions.
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
