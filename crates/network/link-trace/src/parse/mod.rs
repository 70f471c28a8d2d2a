//! Readers of trace files, by format.

mod column_unit;
mod columns;
mod csv;
mod fields;
mod mahimahi;
mod nyu_mets;
mod phone_log;
mod read_options;
#[cfg(test)]
mod reading_tests;
mod timestamp;

pub use phone_log::seconds_of as phone_log_seconds;
pub use read_options::{ReadOptions, Recording, read};

use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TraceFormat;

/// Direction of a link, seen from the phone.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
pub enum Direction {
    /// Towards the phone.
    #[serde(rename = "down")]
    Downlink,
    /// From the phone.
    #[serde(rename = "up")]
    Uplink,
}

impl TraceFormat {
    /// Detects the format of a file from its name (`.down`, `.up`) or else from its first line that is neither empty
    /// nor a comment.
    pub fn detect(origin: &str, text: &str) -> Self {
        let origin = origin.strip_suffix(".gz").unwrap_or(origin);
        if origin.ends_with(".down") || origin.ends_with(".up") {
            return Self::Mahimahi;
        }
        let first = lines(text).next().map_or("", |(_, line)| line);
        if first
            .split(',')
            .any(|name| name.trim() == phone_log::TIMESTAMP)
        {
            Self::PhoneLog
        } else if nyu_mets::is_one(text) {
            Self::NyuMets
        } else if first.contains([',', ';', '\t', ' '])
            || origin.ends_with(".csv")
            || origin.ends_with(".tsv")
        {
            Self::Csv
        } else {
            Self::Mahimahi
        }
    }
}

/// Error about a text that is no trace: `FILE:LINE: what is wrong`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct ParseError {
    origin: String,
    line: Option<usize>,
    message: String,
}

impl ParseError {
    /// Returns the error about a line of the file called `origin`, counted from one.
    pub fn on(origin: &str, line: usize, message: impl fmt::Display) -> Self {
        LineError::on(line, message).of(origin)
    }

    /// Returns the error about a file called `origin` as a whole.
    pub fn for_file(origin: &str, message: impl fmt::Display) -> Self {
        LineError::without_line(message).of(origin)
    }

    /// Returns the line with the mistake, counted from one; `None` if the file as a whole is wrong.
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.origin, self.message),
            None => write!(f, "{}: {}", self.origin, self.message),
        }
    }
}

/// Mistake and its line, before the name of the file is known.
struct LineError {
    line: Option<usize>,
    message: String,
}

impl LineError {
    fn on(line: usize, message: impl fmt::Display) -> Self {
        Self {
            line: Some(line),
            message: message.to_string(),
        }
    }

    fn without_line(message: impl fmt::Display) -> Self {
        Self {
            line: None,
            message: message.to_string(),
        }
    }

    fn of(self, origin: &str) -> ParseError {
        ParseError {
            origin: origin.to_owned(),
            line: self.line,
            message: self.message,
        }
    }
}

/// Returns the lines that are neither empty nor comments, trimmed, with their numbers from one.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.trim_start_matches('\u{feff}').lines().enumerate();
    numbered
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// Parses a finite number that is not negative.
fn number(text: &str) -> Option<f64> {
    text.trim()
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trace;
    use units::{Bytes, Duration, Instant, Rate};

    fn parse(text: &str, format: TraceFormat, side: Direction) -> Result<Trace, ParseError> {
        let reading = ReadOptions {
            format: Some(format),
            ..ReadOptions::default()
        };
        read(text, "f", &reading, side).map(|recording| recording.trace)
    }

    fn message(text: &str, format: TraceFormat) -> String {
        let error = parse(text, format, Direction::Downlink).unwrap_err();
        error.to_string()
    }

    #[test]
    fn formats_are_told_by_name_or_content() {
        let detect = |name, text| TraceFormat::detect(name, text);
        assert_eq!(detect("a.down", "0\n"), TraceFormat::Mahimahi);
        assert_eq!(detect("a", "# saturated\n12\n12\n"), TraceFormat::Mahimahi);
        assert_eq!(detect("a.csv", "time,Mbit/s\n0,1\n"), TraceFormat::Csv);
        assert_eq!(detect("a", "0,1\n"), TraceFormat::Csv);
        let log = "Timestamp,Longitude,DL_bitrate\n";
        assert_eq!(detect("a.csv", log), TraceFormat::PhoneLog);
    }

    #[test]
    fn mistakes_are_named_with_file_and_line() {
        let mahimahi = |text| message(text, TraceFormat::Mahimahi);
        assert_eq!(
            mahimahi(""),
            "f: no delivery opportunity: at least one is needed"
        );
        assert_eq!(
            mahimahi("1\n2.5\n"),
            "f:2: \"2.5\" is not a time in whole milliseconds from 0 to 4294967295"
        );
        assert_eq!(
            mahimahi("1\n\n7\n3\n"),
            "f:4: 3 ms comes after 7 ms: times must not decrease"
        );
        assert_eq!(
            mahimahi("0\n0\n"),
            "f: the last opportunity is at 0 ms: a trace must last at least 1 ms"
        );
        let csv = |text| message(text, TraceFormat::Csv);
        assert_eq!(csv("time,Mbit/s\n"), "f: no line with a time and a rate");
        assert_eq!(
            csv("time,Mbit/s\n0,5\n1\n"),
            "f:3: \"1\" is not \"time,rate\" (seconds, Mbit/s)"
        );
        assert_eq!(
            csv("0,5\n1,-2\n"),
            "f:2: rate \"-2\" must be a number of Mbit/s from 0 to 1000000"
        );
        assert_eq!(
            csv("0,5\n1,NaN\n"),
            "f:2: rate \"NaN\" must be a number of Mbit/s from 0 to 1000000"
        );
        assert_eq!(
            csv("0,5\n2,5\n1,5\n"),
            "f:3: time 1s does not come after 2s: times must increase"
        );
        assert_eq!(
            csv("0,0\n1,0\n"),
            "f: the rate is zero all the time: nothing would ever pass"
        );
    }

    #[test]
    fn csv_rates_hold_until_the_next_line_and_the_last_as_long_as_the_one_before() {
        let text = "# made by hand\ntime,Mbit/s\n10,8\n10.5,0\n12.5,16\n";
        let Trace::Steps(steps) = parse(text, TraceFormat::Csv, Direction::Downlink).unwrap()
        else {
            panic!()
        };
        let half = |halves: u64| Duration::from_millis(500 * halves);
        let result: Vec<_> = steps.iter().collect();
        let mbps = Rate::from_mbps;
        assert_eq!(
            result,
            [
                (half(0), half(1), mbps(8.0)),
                (half(1), half(5), mbps(0.0)),
                (half(5), half(9), mbps(16.0))
            ]
        );
    }

    #[test]
    fn a_phone_log_holds_what_is_missing_and_averages_what_is_doubled() {
        let log = "\
Timestamp,DL_bitrate,UL_bitrate
2019.12.31_23.59.57,-,1
2019.12.31_23.59.58,1000,1
2019.12.31_23.59.59,3000,1
2019.12.31_23.59.59,5000,1
2020.01.01_00.00.00,-,1
2020.01.01_00.00.03,8000,1
";
        let trace = parse(log, TraceFormat::PhoneLog, Direction::Downlink).unwrap();
        let seconds = |n| Instant::ZERO + Duration::from_secs(n);
        let kilobytes: Vec<_> = (0..6)
            .map(|n| trace.bytes_between(seconds(n), seconds(n + 1), Duration::ZERO))
            .collect();
        assert_eq!(
            kilobytes,
            [125, 500, 625, 625, 625, 1000].map(|kb| Bytes::new(kb * 1000))
        );
        assert_eq!(trace.period(), Duration::from_secs(6));
    }

    #[test]
    fn mistakes_in_a_phone_log_name_the_field() {
        let log = |text: &str| {
            let text = format!("Timestamp,DL_bitrate\n{text}");
            message(&text, TraceFormat::PhoneLog)
        };
        assert_eq!(
            log("2019.13.14_10.16.30,5\n"),
            "f:2: Timestamp \"2019.13.14_10.16.30\" must look like 2019.12.14_10.16.30"
        );
        assert_eq!(
            log("2019.12.14_10.16.30,-5\n"),
            "f:2: DL_bitrate \"-5\" must be a number of kbit/s from 0 to 1000000000, or -"
        );
        assert_eq!(
            log("2019.12.14_10.16.30,5\n2019.12.14_10.16.29,5\n"),
            "f:3: 2019.12.14_10.16.29 is earlier than the line before: times must not decrease"
        );
        assert_eq!(
            log("2019.12.14_10.16.30,-\n"),
            "f: no line with a DL_bitrate"
        );
        let up = parse(
            "Timestamp,DL_bitrate\n",
            TraceFormat::PhoneLog,
            Direction::Uplink,
        );
        assert_eq!(
            up.unwrap_err().to_string(),
            "f:1: there is no column UL_bitrate"
        );
    }
}
