//! Replay: repeats a live run in virtual time, from the log of its arrivals.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use units::Instant;

use crate::Session;
use crate::host::in_step;
use crate::log::{Digest, DigestValue, LogHeader, LogReader, LogRecord, LoggedScenario};
use crate::run::SERVER;

/// A run that was repeated.
pub struct Replay {
    /// The run.
    pub header: LogHeader,
    /// The path at the end.
    pub session: Session,
    /// Digest of the departures.
    pub digest: DigestValue,
    /// That of the live run; `None` if it was killed.
    pub recorded: Option<DigestValue>,
    /// Changes of the path, such as `path.loss=1%`, with their times.
    pub changes: Vec<(Instant, String)>,
}

/// Repeats the run of a log.
///
/// # Errors
/// If the log cannot be read, or its scenario makes no path.
pub fn replay(file: &Path) -> Result<Replay, String> {
    let name = file.display().to_string();
    let opened = File::open(file).map_err(in_step(&name))?;
    replay_from(BufReader::new(opened), name)
}

/// Repeats the run of a log from its bytes; errors call it `name`.
pub fn replay_from(log: impl BufRead, name: String) -> Result<Replay, String> {
    let log = LogReader::new(log).map_err(in_step(&name))?;
    let header = log.header.clone();
    let load = |logged: &LoggedScenario| {
        let loaded = logged.load();
        loaded.map_err(|error| format!("{name}: its scenario: {error}"))
    };
    let (scenario, traces) = load(&header.scenario)?;
    let mut session = Session::new(&scenario, &traces, header.seed, &header.cca, &header.kernel)?;
    if let Some(gateway) = session.host(SERVER).filter(|_| header.outside) {
        session.set_outside(gateway);
    }
    let mut digest = Digest::default();
    let (mut recorded, mut changes) = (None, Vec::new());
    let mut advance = |session: &mut Session, at| -> Result<(), String> {
        let advanced = session.advance(at).map_err(io::Error::other);
        advanced.map_err(in_step(&name))?;
        while let Some(departure) = session.next_departure() {
            digest.add(&departure);
            session.recycle(departure.bytes);
        }
        Ok(())
    };
    for record in log {
        match record.map_err(in_step(&name))? {
            LogRecord::Arrival { at, host, bytes } => {
                advance(&mut session, at)?;
                session.arrive(at, host, &bytes);
            }
            LogRecord::Change { at, change } => {
                advance(&mut session, at)?;
                let (scenario, traces) = load(&change.scenario)?;
                session.change(&[(&scenario, &traces)])?;
                changes.extend(change.fields.into_iter().map(|field| (at, field)));
            }
            LogRecord::Interruption { at, duration } => {
                advance(&mut session, at)?;
                session.interrupt(duration)?;
                changes.push((at, format!("outage={duration}")));
            }
            LogRecord::End { at, digest } => {
                advance(&mut session, at)?;
                recorded = Some(digest);
            }
        }
    }
    Ok(Replay {
        header,
        session,
        digest: digest.value(),
        recorded,
        changes,
    })
}
