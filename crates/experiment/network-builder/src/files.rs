//! Files: the texts of files that a scenario names, read once, so that it can be run where the files are missing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use config::{ConfigError, FieldError};
use scenario::Scenario;

/// Texts by file, and the folder to which relative file names refer.
#[derive(Clone, Debug, Default)]
pub struct Files {
    directory: PathBuf,
    texts: BTreeMap<PathBuf, String>,
}

impl Files {
    /// Returns files that are read from disk when they are asked for.
    pub fn in_directory(directory: &Path) -> Self {
        Self::with_texts(directory, BTreeMap::new())
    }

    /// Returns files of which these texts are known already.
    pub fn with_texts(directory: &Path, texts: BTreeMap<PathBuf, String>) -> Self {
        Self {
            directory: directory.to_owned(),
            texts,
        }
    }

    /// Returns the folder to which relative file names refer.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the texts that were read or given.
    pub fn texts(&self) -> &BTreeMap<PathBuf, String> {
        &self.texts
    }

    /// Reads the files that the workloads of `scenario` name.
    ///
    /// # Errors
    /// The first file that cannot be used, with the line of the scenario that names it.
    pub fn load_workloads(&mut self, scenario: &mut Scenario) -> Result<(), ConfigError> {
        scenario.load_workloads(|name| {
            let file = self.directory.join(name);
            let text = self.text(&file)?.to_owned();
            Ok((file.display().to_string(), text))
        })
    }

    /// Returns the text of a file, which is read unless it is known.
    pub(crate) fn text(&mut self, file: &Path) -> Result<&str, FieldError> {
        if !self.texts.contains_key(file) {
            let text = link_trace::file_text(file)
                .map_err(|error| FieldError::new("", format!("{}: {error}", file.display())))?;
            self.texts.insert(file.to_owned(), text);
        }
        Ok(&self.texts[file])
    }
}
