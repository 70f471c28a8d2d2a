//! The recorded traces of a scenario, read once for all runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{ConfigError, FieldContext, FieldError, check_each};
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
    /// Further columns of a log, as JSON; `None` for files of mahimahi.
    pub facts: Option<String>,
}

impl LoadedTrace {
    /// Returns the summary with the length and the mean.
    pub fn describe(&self) -> String {
        let (length, mean) = (self.trace.period(), self.trace.mean_rate());
        let (seconds, mbps) = (length.as_secs_f64(), mean.as_mbps());
        format!("{}: {seconds:.1} s, mean {mbps:.3} Mbit/s", self.summary)
    }
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
        let located = |error| scenario.source.error(error, &scenario.name);
        let down = traces
            .add(&path.down, Direction::Downlink)
            .in_table("path.down");
        down.map_err(located)?;
        let up = traces.add(&path.up, Direction::Uplink).in_table("path.up");
        up.map_err(located)?;
        let hops = path.wired.iter().map(|hop| &hop.rate);
        let links = scenario.links.iter().map(|link| &link.rate);
        for (list, capacities) in [
            ("path.wired", hops.collect::<Vec<_>>()),
            ("links", links.collect()),
        ] {
            let read = check_each(list, capacities, |rate| {
                traces.add(rate, Direction::Downlink).in_table("rate")
            });
            read.map_err(located)?;
        }
        if let Some(radio) = &scenario.radio {
            let files = RadioFiles::load(radio, &mut traces.files).in_table("radio");
            traces.radio = Arc::new(files.map_err(located)?);
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

    /// Returns the moment of the traces at which a run begins. `draw` draws a time below its bound. A run begins
    /// inside a piece of the longest trace, and ends in it if a piece is long enough.
    pub(crate) fn offset(
        &self,
        run: Duration,
        draw: impl FnOnce(Duration) -> Duration,
    ) -> Duration {
        let traces = self.read.values().map(|read| &read.trace);
        let Some(longest) = traces.max_by_key(|trace| trace.period()) else {
            return draw(Duration::ZERO);
        };
        let starts = longest.pieces();
        if starts.len() == 1 {
            return draw(longest.period());
        }
        let ends = starts.iter().skip(1).copied().chain([longest.period()]);
        let pieces: Vec<_> = starts.iter().copied().zip(ends).collect();
        let room = |(start, end): (Duration, Duration)| (end - start).saturating_sub(run);
        let total = pieces
            .iter()
            .fold(Duration::ZERO, |sum, &piece| sum + room(piece));
        if total.is_zero() {
            let at = draw(longest.period());
            let before = pieces.iter().rev().find(|piece| piece.0 <= at);
            return before.map_or(Duration::ZERO, |piece| piece.0);
        }
        let mut left = draw(total);
        for &piece in &pieces {
            if left < room(piece) {
                return piece.0 + left;
            }
            left = left - room(piece);
        }
        Duration::ZERO
    }

    /// Returns each trace with its file and the direction of its link.
    pub fn all(&self) -> impl Iterator<Item = (&Path, Direction, &LoadedTrace)> {
        self.read
            .iter()
            .map(|((file, _, direction), read)| (file.as_path(), *direction, read))
    }

    pub(crate) fn get(&self, file: &TraceFile, is_uplink: bool) -> Arc<Trace> {
        let direction = if is_uplink {
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
            file.path_in(self.files.directory()),
            file.read_options(),
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
        let loaded = self
            .files
            .trace(&key.0, &key.1, direction)
            .in_table("trace")?;
        self.read.insert(key, loaded);
        Ok(())
    }
}
