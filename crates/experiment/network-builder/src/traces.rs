//! The recorded traces of a scenario, read once for all runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{ConfigError, FieldContext, FieldError, each};
use link_trace::{Direction, ReadOptions, Trace};
use scenario::{Capacity, Scenario, TraceFile};
use units::Duration;

use crate::Files;
use crate::radio::RadioFiles;

/// A file, the given properties of it, and the direction of its link.
type Key = (PathBuf, ReadOptions, Direction);

/// A trace that was read from a file.
#[derive(Clone, Debug)]
pub struct LoadedTrace {
    /// The trace.
    pub trace: Arc<Trace>,
    /// Summary of how the file was read, for users.
    pub summary: String,
}

/// Traces by file and direction.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    read: BTreeMap<Key, LoadedTrace>,
    radio: Arc<RadioFiles>,
    files: Files,
}

impl Traces {
    /// Reads every trace that `scenario` names; relative paths count from `directory`.
    ///
    /// # Errors
    /// The first file that cannot be used, with the line of the scenario that names it.
    pub fn load(scenario: &Scenario, directory: &Path) -> Result<Self, ConfigError> {
        Self::from_files(scenario, Files::in_directory(directory))
    }

    /// Reads every trace that `scenario` names from `files`.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_files(scenario: &Scenario, files: Files) -> Result<Self, ConfigError> {
        let mut traces = Self {
            files,
            ..Self::default()
        };
        let path = &scenario.path;
        let wrong = |wrong| scenario.source.error(wrong, &scenario.name);
        let down = traces
            .add(&path.down, Direction::Downlink)
            .in_table("path.down");
        down.map_err(wrong)?;
        let up = traces.add(&path.up, Direction::Uplink).in_table("path.up");
        up.map_err(wrong)?;
        let hops = path.wired.iter().map(|hop| &hop.rate);
        let links = scenario.links.iter().map(|link| &link.rate);
        for (list, capacities) in [
            ("path.wired", hops.collect::<Vec<_>>()),
            ("links", links.collect()),
        ] {
            let read = each(list, capacities, |rate| {
                traces.add(rate, Direction::Downlink).in_table("rate")
            });
            read.map_err(wrong)?;
        }
        if let Some(radio) = &scenario.radio {
            let files = RadioFiles::load(radio, &mut traces.files).in_table("radio");
            traces.radio = Arc::new(files.map_err(wrong)?);
        }
        Ok(traces)
    }

    /// Returns the files of the radio.
    pub(crate) fn radio(&self) -> &RadioFiles {
        &self.radio
    }

    /// Returns the files that were read.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Returns the longest period of the traces; zero without traces.
    pub(crate) fn longest_period(&self) -> Duration {
        self.read
            .values()
            .map(|read| read.trace.period())
            .fold(Duration::ZERO, Duration::max)
    }

    /// Returns each trace with its file and the direction of its link.
    pub fn all(&self) -> impl Iterator<Item = (&Path, Direction, &LoadedTrace)> {
        self.read
            .iter()
            .map(|((file, _, direction), read)| (file.as_path(), *direction, read))
    }

    pub(crate) fn get(&self, file: &TraceFile, up: bool) -> Arc<Trace> {
        let direction = if up {
            Direction::Uplink
        } else {
            Direction::Downlink
        };
        let read = self
            .read
            .get(&self.key(file, direction))
            .expect("every trace of the scenario was loaded");
        Arc::clone(&read.trace)
    }

    fn key(&self, file: &TraceFile, direction: Direction) -> Key {
        (
            file.located(self.files.directory()),
            file.reading(),
            direction,
        )
    }

    fn add(&mut self, capacity: &Capacity, direction: Direction) -> Result<(), FieldError> {
        let Capacity::Trace(file) = capacity else {
            return Ok(());
        };
        let key = self.key(file, direction);
        if self.read.contains_key(&key) {
            return Ok(());
        }
        let text = self.files.text(&key.0).in_table("trace")?;
        let origin = key.0.display().to_string();
        let recording = link_trace::read(text, &origin, &file.reading(), direction);
        let recording = recording.map_err(|error| FieldError::new("trace", error))?;
        let summary = recording.to_string();
        let trace = Arc::new(recording.trace);
        self.read.insert(key, LoadedTrace { trace, summary });
        Ok(())
    }
}
