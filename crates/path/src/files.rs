//! Files: the texts of files that a scenario names, read once, so that it can be run where the files are missing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use config::Wrong;

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

    /// Returns the text of a file, which is read unless it is known.
    pub(crate) fn text(&mut self, file: &Path) -> Result<&str, Wrong> {
        if !self.texts.contains_key(file) {
            let text = trace::file_text(file)
                .map_err(|error| Wrong::new("", format!("{}: {error}", file.display())))?;
            self.texts.insert(file.to_owned(), text);
        }
        Ok(&self.texts[file])
    }
}
