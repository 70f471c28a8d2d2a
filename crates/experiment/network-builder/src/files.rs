//! Files: the texts of files that a scenario names, read once, so that it can be run where the files are missing.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{ConfigError, FieldError};
use link_trace::{Direction, ReadOptions, TraceFormat};
use scenario::Scenario;
use sha2::{Digest, Sha256};

use crate::LoadedTrace;

/// Function that reads a log of measurements, by its file, the given options and the direction of the link.
type ReadLog = dyn Fn(&Path, &ReadOptions, Direction) -> Result<LoadedTrace, String> + Send + Sync;

/// Reader of logs of measurements, which the engine has none of.
#[derive(Clone)]
pub struct LogReader(Arc<ReadLog>);

impl LogReader {
    /// Returns the reader that calls `read`.
    pub fn new(
        read: impl Fn(&Path, &ReadOptions, Direction) -> Result<LoadedTrace, String>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self(Arc::new(read))
    }
}

impl fmt::Debug for LogReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogReader")
    }
}

/// Texts by file, and the folder to which relative file names refer.
#[derive(Clone, Debug, Default)]
pub struct Files {
    directory: PathBuf,
    /// Texts by file.
    texts: BTreeMap<PathBuf, String>,
    /// Logs that were read, by the names that their options and directions make.
    logs: BTreeMap<PathBuf, LoadedTrace>,
    log_reader: Option<LogReader>,
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
            ..Self::default()
        }
    }

    /// Returns these files with a reader of logs.
    pub fn with_log_reader(self, reader: LogReader) -> Self {
        Self {
            log_reader: Some(reader),
            ..self
        }
    }

    /// Returns the folder to which relative file names refer.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the texts of all files, from which they can be restored without the disk. The text of a log is a line with
    /// its summary, a line of JSON, and the trace.
    pub fn texts(&self) -> BTreeMap<PathBuf, String> {
        let logs = self.logs.iter().map(|(name, log)| {
            let (facts, trace) = (log.facts.as_deref().unwrap_or_default(), log.trace.text());
            (name.clone(), format!("{}\n{facts}\n{trace}", log.summary))
        });
        self.texts.clone().into_iter().chain(logs).collect()
    }

    /// Returns the first 16 hexadecimal digits of the SHA-256 of the texts, whatever the files are called; empty without
    /// any.
    pub fn digest(&self) -> String {
        let texts = self.texts();
        if texts.is_empty() {
            return String::new();
        }
        let mut digests: Vec<_> = texts.values().map(Sha256::digest).collect();
        digests.sort_unstable();
        let digest = Sha256::digest(digests.concat());
        digest[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Reads the files that workloads and losses of `scenario` name.
    ///
    /// # Errors
    /// The first file that cannot be used, with the line of the scenario that names it.
    pub fn load_named(&mut self, scenario: &mut Scenario) -> Result<(), ConfigError> {
        scenario.load_files(|name| {
            let file = self.directory.join(name);
            let text = self.text(&file)?.to_owned();
            Ok((file.display().to_string(), text))
        })
    }

    /// Returns the trace of a file for a link of a direction, and how it was read.
    ///
    /// # Errors
    /// If the file cannot be used as it is.
    pub fn trace(
        &mut self,
        file: &Path,
        options: &ReadOptions,
        direction: Direction,
    ) -> Result<LoadedTrace, FieldError> {
        let file_error = |message: &dyn fmt::Display| FieldError::new("", message);
        let log = log_name(file, options, direction);
        if !self.texts.contains_key(&log) && self.is_own_format(file, options) {
            let text = self.text(file)?;
            let trace = link_trace::read(text, &file.display().to_string());
            return Ok(LoadedTrace {
                trace: Arc::new(trace.map_err(|error| file_error(&error))?),
                summary: "mahimahi, 1500 bytes per line, times in ms".to_owned(),
                facts: None,
            });
        }
        if let Some(text) = self.texts.get(&log) {
            let (summary, rest) = text.split_once('\n').unwrap_or((text, ""));
            let (facts, trace) = rest.split_once('\n').unwrap_or((rest, ""));
            let trace = link_trace::read(trace, &file.display().to_string());
            return Ok(LoadedTrace {
                trace: Arc::new(trace.map_err(|error| file_error(&error))?),
                summary: summary.to_owned(),
                facts: Some(facts.to_owned()),
            });
        }
        if let Some(read) = self.logs.get(&log) {
            return Ok(read.clone());
        }
        let reader = self.log_reader.as_ref().ok_or_else(|| {
            file_error(&format_args!(
                "{}: is no trace of mahimahi; this program reads no other logs",
                file.display()
            ))
        })?;
        let read = reader.0(file, options, direction).map_err(|error| file_error(&error))?;
        self.logs.insert(log, read.clone());
        Ok(read)
    }

    /// Returns whether a file needs no reader of logs: one of mahimahi, or one that is missing.
    fn is_own_format(&self, file: &Path, options: &ReadOptions) -> bool {
        options.are_of_own_formats()
            && (self.texts.contains_key(file)
                || options.format == Some(TraceFormat::Mahimahi)
                || link_trace::is_own_format(&file.to_string_lossy(), &link_trace::file_head(file)))
            || !self.texts.contains_key(file) && !file.is_file()
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

/// Returns the name under which the trace of a log stands among the texts.
fn log_name(file: &Path, options: &ReadOptions, direction: Direction) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!("?{}{}", direction.name(), options.to_json()));
    PathBuf::from(name)
}
