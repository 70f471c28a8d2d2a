//! The recorded traces of a scenario, read once for all runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{At, ConfigError, Wrong, each};
use scenario::{Capacity, Scenario, TraceFile, TraceFormat};
use trace::{Direction, Format, Trace};
use units::Duration;

use crate::Files;
use crate::radio::RadioFiles;

/// Traces by file and direction.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    read: BTreeMap<(PathBuf, bool), Arc<Trace>>,
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
        let down = traces.add(&path.down, Direction::Downlink).at("path.down");
        down.map_err(wrong)?;
        let up = traces.add(&path.up, Direction::Uplink).at("path.up");
        up.map_err(wrong)?;
        let hops = path.wired.iter().map(|hop| &hop.rate);
        let links = scenario.links.iter().map(|link| &link.rate);
        for (list, capacities) in [
            ("path.wired", hops.collect::<Vec<_>>()),
            ("links", links.collect()),
        ] {
            let read = each(list, capacities, |rate| {
                traces.add(rate, Direction::Downlink).at("rate")
            });
            read.map_err(wrong)?;
        }
        if let Some(radio) = &scenario.radio {
            let files = RadioFiles::load(radio, &mut traces.files).at("radio");
            traces.radio = Arc::new(files.map_err(wrong)?);
        }
        Ok(traces)
    }

    /// Those of the radio.
    pub(crate) fn radio(&self) -> &RadioFiles {
        &self.radio
    }

    /// The files that were read.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The longest period of them; zero without traces.
    pub(crate) fn longest_period(&self) -> Duration {
        self.read
            .values()
            .map(|trace| trace.period())
            .fold(Duration::ZERO, Duration::max)
    }

    pub(crate) fn get(&self, file: &TraceFile, up: bool) -> Arc<Trace> {
        let key = (file.located(self.files.directory()), up);
        Arc::clone(
            self.read
                .get(&key)
                .expect("every trace of the scenario was loaded"),
        )
    }

    fn add(&mut self, capacity: &Capacity, direction: Direction) -> Result<(), Wrong> {
        let Capacity::Trace(file) = capacity else {
            return Ok(());
        };
        let location = file.located(self.files.directory());
        let key = (location.clone(), direction == Direction::Uplink);
        if self.read.contains_key(&key) {
            return Ok(());
        }
        let text = self.files.text(&location).at("trace")?;
        let origin = location.display().to_string();
        let format = match file.format {
            Some(TraceFormat::Mahimahi) => Format::Mahimahi,
            Some(TraceFormat::Csv) => Format::Csv,
            Some(TraceFormat::PhoneLog) => Format::PhoneLog(direction),
            None => Format::detect(&origin, text, direction),
        };
        let trace = trace::parse(text, &origin, format);
        let trace = trace.map_err(|error| Wrong::new("trace", error))?;
        self.read.insert(key, Arc::new(trace));
        Ok(())
    }
}
