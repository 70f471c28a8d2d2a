//! Reading: the properties of a trace file that a user gives, and the result of reading it.

use core::fmt;

use super::{Direction, LineError, ParseError, csv, mahimahi, nyu_mets, phone_log};
use crate::{Trace, TraceFormat};

/// Properties of a trace file that a user gives; the others are found from its name and contents.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct ReadOptions {
    /// The format.
    pub format: Option<TraceFormat>,
    /// The columns of a table, `RATE` or `TIME,RATE`, by names or numbers from one.
    pub column: Option<String>,
    /// The units of a table, `RATE`, `TIME` or `TIME,RATE`, such as `kbit/s` or `ms,kbit/s`.
    pub unit: Option<String>,
    /// The direction whose rates are read, of a file that has both.
    pub direction: Option<Direction>,
}

/// A trace and how its file was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recording {
    /// The trace.
    pub trace: Trace,
    /// Format, columns and units, as text for the user.
    pub summary: String,
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (length, mean) = (self.trace.period(), self.trace.mean_rate());
        let (seconds, mbps) = (length.as_secs_f64(), mean.as_mbps());
        write!(f, "{}: {seconds:.1} s, mean {mbps:.3} Mbit/s", self.summary)
    }
}

/// Reads the trace in the `text` of a file named `origin`. `side` is the direction of the link that it is for.
///
/// # Errors
/// If the file is no trace, or leaves open what its columns and units are and `reading` does not say it.
pub fn read(
    text: &str,
    origin: &str,
    reading: &ReadOptions,
    side: Direction,
) -> Result<Recording, ParseError> {
    let direction = reading.direction.unwrap_or(side);
    let format = match reading.format {
        Some(format) => format,
        None if reading.column.is_some() || reading.unit.is_some() => TraceFormat::Csv,
        None => TraceFormat::detect(origin, text),
    };
    let rows = |trace: Trace, how: &str| Recording {
        trace,
        summary: how.to_owned(),
    };
    let result = only_of_tables(format, reading).and_then(|()| match format {
        TraceFormat::Mahimahi => mahimahi::read(text).map(|opportunities| {
            let how = "mahimahi, 1500 bytes per line, times in ms";
            rows(opportunities.into(), how)
        }),
        TraceFormat::Csv => csv::read(text, reading, side).map(|(steps, how)| Recording {
            trace: steps.into(),
            summary: how,
        }),
        TraceFormat::PhoneLog => phone_log::read(text, direction).map(|steps| {
            let column = phone_log::rate_column(direction);
            rows(steps.into(), &format!("phone log, {column} in kbit/s"))
        }),
        TraceFormat::NyuMets => {
            nyu_mets::read(text).map(|steps| rows(steps.into(), "NYU-METS, a line per second"))
        }
    });
    result.map_err(|mistake| mistake.of(origin))
}

/// Refuses what only tables have for files that are none.
fn only_of_tables(format: TraceFormat, reading: &ReadOptions) -> Result<(), LineError> {
    let given = [
        ("column", reading.column.is_some()),
        ("unit", reading.unit.is_some()),
        ("direction", reading.direction.is_some()),
    ];
    let (has, name) = match format {
        TraceFormat::Csv => return Ok(()),
        TraceFormat::PhoneLog => (&["direction"][..], "phone logs"),
        TraceFormat::Mahimahi => (&[][..], "files of mahimahi"),
        TraceFormat::NyuMets => (&[][..], "logs of NYU-METS"),
    };
    let wrong = given.iter().find(|(field, is)| *is && !has.contains(field));
    match wrong {
        Some((field, _)) => Err(LineError::without_line(format_args!(
            "{field}: {name} have none to choose: leave it out"
        ))),
        None => Ok(()),
    }
}
