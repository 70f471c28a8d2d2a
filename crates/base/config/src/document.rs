//! Document: a configuration as a tree of values, with file and line of each field.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::{FieldError, Location, Node};

/// Error of a configuration, on one line: place, field, and what is allowed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {}{message}", if field.is_empty() { String::new() } else { format!("{field}: ") })]
pub struct ConfigError {
    /// `FILE:LINE`, `FILE`, or the override.
    pub place: String,
    /// The field, as overrides write it (`flows.0.cca`); empty where the text is not even TOML.
    pub field: String,
    /// The value and what is allowed.
    pub message: String,
}

/// Error of a field, with the location of its value.
#[derive(Debug)]
pub(crate) struct LocatedError {
    pub(crate) location: Location,
    pub(crate) error: FieldError,
}

/// A configuration as a tree of values, with the name of its file and its overrides.
#[derive(Clone, Debug)]
pub struct Document {
    /// Name of the file in errors.
    file: String,
    /// Overrides, counted by [`Location::Override`].
    overrides: Vec<String>,
    /// The values.
    tree: Node,
}

impl Document {
    /// Parses a TOML text; `file` is its name in errors.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, ConfigError> {
        let empty = Self::new(Node::empty(Location::Whole), file);
        match Node::from_toml(text) {
            Ok(tree) => Ok(Self { tree, ..empty }),
            Err(LocatedError { location, error }) => Err(empty.error_at(location, error)),
        }
    }

    /// Creates a document without line numbers; `file` is its name in errors.
    pub fn new(tree: Node, file: &str) -> Self {
        Self {
            file: file.to_owned(),
            overrides: Vec::new(),
            tree,
        }
    }

    /// Applies the override `assignment` to the tree by `change`, which gets the location of the new values.
    ///
    /// # Errors
    /// The error that `change` returns, with the override as its place.
    pub fn change(
        &mut self,
        assignment: &str,
        change: impl FnOnce(&mut Node, Location) -> Result<(), FieldError>,
    ) -> Result<(), ConfigError> {
        let location = Location::Override(self.overrides.len());
        self.overrides.push(assignment.to_owned());
        change(&mut self.tree, location).map_err(|error| self.error_at(location, error))
    }

    /// Reads the configuration.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        T::deserialize(&self.tree).map_err(|error| {
            let LocatedError { location, error } = error.into();
            self.error_at(location, error)
        })
    }

    /// Returns the error for a rejected value, with its line.
    pub fn error(&self, error: FieldError) -> ConfigError {
        self.error_at(self.tree.location_of(&error.field), error)
    }

    fn error_at(
        &self,
        location: Location,
        FieldError { field, message }: FieldError,
    ) -> ConfigError {
        let place = match location {
            Location::Whole => self.file.clone(),
            Location::Line(line) => format!("{}:{line}", self.file),
            Location::Override(number) => format!("override {}", self.overrides[number]),
        };
        ConfigError {
            place,
            field,
            message,
        }
    }
}

/// Document that a configuration was read from, for errors that are detected after reading.
///
/// It is not part of the configuration: any two sources are equal, and serde skips it.
#[derive(Clone, Debug, Default)]
pub struct Source(Option<Arc<Document>>);

impl Source {
    /// Returns the error for a rejected value. A configuration that was not read from a document is called `name` in it.
    pub fn error(&self, error: FieldError, name: &str) -> ConfigError {
        match &self.0 {
            Some(document) => document.error(error),
            None => Document::new(Node::empty(Location::Whole), name).error(error),
        }
    }
}

impl From<Document> for Source {
    fn from(document: Document) -> Self {
        Self(Some(Arc::new(document)))
    }
}

impl PartialEq for Source {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
