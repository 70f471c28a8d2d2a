//! Log of arrivals: the packets that the hosts of a live run sent, from which the run can be repeated in virtual time.
//!
//! A file begins with a line of JSON, the [`LogHeader`]. Records follow, in little-endian byte order: of an arrival its
//! time (ns, 8 bytes), host (4), length (4) and first bytes ([`STORED_BYTES`] at most). Other records have a number that no host has:
//! [`CHANGE`] with a scenario in JSON, [`INTERRUPTION`] with a duration (ns), and at the end [`END`] with the [`Digest`] of
//! the departures. A run that was killed has no such end.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use net::HostId;
use network_builder::{Files, Traces};
use scenario::Scenario;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;
use units::{Duration, Instant};

use crate::Departure;
use crate::background_file::BackgroundFile;
use crate::session::MAX_PACKET;

/// Version of the format.
const FORMAT: u32 = 1;
/// Stored bytes of a packet: headers with all options.
const STORED_BYTES: usize = 128;
/// Host of the record at the end.
const END: u32 = u32::MAX;
/// Host of the record of a changed scenario.
const CHANGE: u32 = u32::MAX - 1;
/// Host of the record of an interruption.
const INTERRUPTION: u32 = u32::MAX - 2;

/// A scenario with its files.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct LoggedScenario {
    /// The whole scenario, as TOML.
    pub scenario: String,
    /// Folder to which its file names refer.
    pub directory: PathBuf,
    /// Texts of its files.
    pub files: BTreeMap<PathBuf, String>,
}

impl LoggedScenario {
    /// Returns the logged form of a scenario.
    pub(crate) fn new(scenario: &Scenario, traces: &Traces) -> Self {
        let files = traces.files();
        Self {
            scenario: scenario.to_toml(),
            directory: files.directory().to_owned(),
            files: files.texts(),
        }
    }

    /// Returns the scenario and its traces.
    ///
    /// # Errors
    /// If this version does not read them.
    pub(crate) fn load(&self) -> Result<(Scenario, Traces), Box<dyn core::error::Error>> {
        let mut scenario = Scenario::from_toml(&self.scenario, "scenario", &[])?;
        let mut files = Files::with_texts(&self.directory, self.files.clone());
        files.load_named(&mut scenario)?;
        let traces = Traces::from_files(&scenario, files)?;
        Ok((scenario, traces))
    }
}

/// Run that a log belongs to.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct LogHeader {
    /// Version of the format.
    pub celltcp_live_log: u32,
    /// Version of celltcp.
    pub version: String,
    /// Seed of the path.
    pub seed: u64,
    /// Congestion control that the connections are named by.
    pub cca: String,
    /// Version of the kernel.
    pub kernel: String,
    /// Whether other addresses are behind the server.
    #[serde(default)]
    pub outside: bool,
    /// The scenario.
    #[serde(flatten)]
    pub scenario: LoggedScenario,
}

impl LogHeader {
    /// Returns the header for a run of this version.
    pub fn new(scenario: LoggedScenario, [cca, kernel]: [String; 2], seed: u64) -> Self {
        Self {
            celltcp_live_log: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed,
            cca,
            kernel,
            outside: false,
            scenario,
        }
    }
}

/// A change of the scenario.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct LoggedChange {
    /// Texts of the changes, such as `path.loss=1%`.
    pub fields: Vec<String>,
    /// The scenario from then on.
    #[serde(flatten)]
    pub scenario: LoggedScenario,
}

/// Value of a [`Digest`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DigestValue {
    /// Number of departures.
    pub departures: u64,
    /// Hash of them.
    pub hash: u128,
}

/// Digest of the departures of a run: packet, host, planned time and first bytes of each, in their order.
#[derive(Clone)]
pub struct Digest {
    departures: u64,
    hash: XxHash3_128,
}

impl Default for Digest {
    fn default() -> Self {
        Self {
            departures: 0,
            hash: XxHash3_128::new(),
        }
    }
}

impl Digest {
    /// Adds a departure.
    pub fn add(&mut self, departure: &Departure) {
        self.departures += 1;
        self.hash.write(&departure.packet.to_le_bytes());
        self.hash.write(&departure.host.0.to_le_bytes());
        self.hash.write(&departure.at.as_nanos().to_le_bytes());
        self.hash
            .write(&(departure.bytes.len() as u64).to_le_bytes());
        self.hash
            .write(&departure.bytes[..departure.bytes.len().min(STORED_BYTES)]);
    }

    /// Returns the number of departures and their hash.
    pub fn value(&self) -> DigestValue {
        DigestValue {
            departures: self.departures,
            hash: self.hash.finish_128(),
        }
    }
}

/// Writer of a log.
pub struct LogWriter(BackgroundFile);

impl LogWriter {
    /// Begins a log.
    pub fn create(file: &Path, header: &LogHeader) -> io::Result<Self> {
        let mut out = BackgroundFile::create(file)?;
        serde_json::to_writer(&mut out, header)?;
        out.write_all(b"\n")?;
        Ok(Self(out))
    }

    /// Adds a packet that a host has sent.
    pub fn arrival(&mut self, at: Instant, host: HostId, bytes: &[u8]) -> io::Result<()> {
        let captured = &bytes[..bytes.len().min(STORED_BYTES)];
        self.write_record(at, host.0, bytes.len() as u32, captured)
    }

    /// Adds a change of the scenario.
    pub fn change(&mut self, at: Instant, change: &LoggedChange) -> io::Result<()> {
        let text = serde_json::to_vec(change)?;
        let length = u32::try_from(text.len()).map_err(io::Error::other)?;
        self.write_record(at, CHANGE, length, &text)
    }

    /// Adds an interruption.
    pub fn interruption(&mut self, at: Instant, duration: Duration) -> io::Result<()> {
        let duration = duration.as_nanos().to_le_bytes();
        self.write_record(at, INTERRUPTION, duration.len() as u32, &duration)
    }

    /// Ends the log.
    pub fn finish(mut self, at: Instant, digest: &Digest) -> io::Result<()> {
        let DigestValue { departures, hash } = digest.value();
        let mut value = departures.to_le_bytes().to_vec();
        value.extend(hash.to_le_bytes());
        self.write_record(at, END, value.len() as u32, &value)?;
        self.0.finish()
    }

    fn write_record(
        &mut self,
        at: Instant,
        host: u32,
        length: u32,
        bytes: &[u8],
    ) -> io::Result<()> {
        self.0.write_all(&at.as_nanos().to_le_bytes())?;
        self.0.write_all(&host.to_le_bytes())?;
        self.0.write_all(&length.to_le_bytes())?;
        self.0.write_all(bytes)
    }
}

/// A record of a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogRecord {
    /// A host sent a packet. Bytes beyond the stored ones are zeros.
    Arrival {
        /// Time.
        at: Instant,
        /// The host.
        host: HostId,
        /// The packet.
        bytes: Vec<u8>,
    },
    /// The scenario changed.
    Change {
        /// Time.
        at: Instant,
        /// The change.
        change: LoggedChange,
    },
    /// Nothing passed the wires next to the phones.
    Interruption {
        /// Its start.
        at: Instant,
        /// Its length.
        duration: Duration,
    },
    /// The run ended.
    End {
        /// Time.
        at: Instant,
        /// Digest of the departures.
        digest: DigestValue,
    },
}

/// Reader of a log: an iterator over its records.
pub struct LogReader<R> {
    file: R,
    /// The run that it belongs to.
    pub header: LogHeader,
    /// Time of the latest record.
    now: Instant,
    has_ended: bool,
}

impl<R: BufRead> LogReader<R> {
    /// Reads the header of a log.
    ///
    /// # Errors
    /// If the file cannot be read, or is no log of this version.
    pub fn new(mut file: R) -> io::Result<Self> {
        let mut line = Vec::new();
        file.read_until(b'\n', &mut line)?;
        let header: LogHeader =
            serde_json::from_slice(&line).map_err(|error| invalid_log(&error))?;
        if header.celltcp_live_log != FORMAT {
            let found = header.celltcp_live_log;
            return Err(invalid_log(&format_args!(
                "its format is {found}; allowed: {FORMAT}"
            )));
        }
        Ok(Self {
            file,
            header,
            now: Instant::ZERO,
            has_ended: false,
        })
    }

    fn read_record(&mut self) -> io::Result<LogRecord> {
        let at = Instant::from_nanos(u64::from_le_bytes(self.read_bytes()?));
        if at < self.now || at > self.now + MAX_PAUSE {
            let (now, pause) = (self.now, MAX_PAUSE);
            return Err(invalid_log(&format_args!(
                "a record at {} ns follows one at {} ns; allowed: in order, at most {pause} apart",
                at.as_nanos(),
                now.as_nanos()
            )));
        }
        self.now = at;
        let host = u32::from_le_bytes(self.read_bytes()?);
        let length = u32::from_le_bytes(self.read_bytes()?) as usize;
        match host {
            END => {
                let digest = DigestValue {
                    departures: u64::from_le_bytes(self.read_bytes()?),
                    hash: u128::from_le_bytes(self.read_bytes()?),
                };
                self.has_ended = true;
                return Ok(LogRecord::End { at, digest });
            }
            CHANGE => {
                let mut text = Vec::new();
                (&mut self.file)
                    .take(length as u64)
                    .read_to_end(&mut text)?;
                if text.len() < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                let change = serde_json::from_slice(&text).map_err(|error| invalid_log(&error))?;
                return Ok(LogRecord::Change { at, change });
            }
            INTERRUPTION => {
                let duration = Duration::from_nanos(u64::from_le_bytes(self.read_bytes()?));
                return Ok(LogRecord::Interruption { at, duration });
            }
            _ => {}
        }
        let mut bytes = vec![0; length.min(MAX_PACKET)];
        self.file
            .read_exact(&mut bytes[..length.min(STORED_BYTES)])?;
        let host = HostId(host);
        Ok(LogRecord::Arrival { at, host, bytes })
    }

    fn read_bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Longest time without a packet.
const MAX_PAUSE: Duration = Duration::from_secs(86_400);

fn invalid_log(reason: &dyn core::fmt::Display) -> io::Error {
    let text = format!("is no log of celltcp shell --log: {reason}");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

impl<R: BufRead> Iterator for LogReader<R> {
    type Item = io::Result<LogRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        match self.read_record() {
            // A killed run ends anywhere.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            record => Some(record),
        }
    }
}
