//! Reading traces: mahimahi, `time,Mbit/s` and the 1 Hz phone logs of 5Gdataset.

use units::{Duration, Instant, Rate};

use crate::{Trace, phone_log};

/// How a trace is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// One line per 1500-byte delivery opportunity, milliseconds.
    Mahimahi,
    /// `time,Mbit/s`: seconds and the rate from then on.
    Csv,
    /// 5Gdataset: one row per second with `DL_bitrate` and `UL_bitrate` in kbit/s.
    PhoneLog,
}

/// Which way a phone log is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Towards the phone.
    Down,
    /// From the phone.
    Up,
}

/// Why a text is not a trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TraceError {
    /// A line cannot be read.
    #[error("{origin}:{line}: {problem}")]
    Line {
        /// The file.
        origin: String,
        /// Counted from one.
        line: usize,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// The whole makes no trace.
    #[error("{origin}: {problem}")]
    Whole {
        /// The file.
        origin: String,
        /// What is wrong.
        problem: String,
    },
}

impl TraceError {
    pub(crate) fn line(origin: &str, line: usize, problem: impl Into<String>) -> Self {
        Self::Line {
            origin: origin.to_owned(),
            line,
            problem: problem.into(),
        }
    }

    pub(crate) fn whole(origin: &str, problem: impl Into<String>) -> Self {
        Self::Whole {
            origin: origin.to_owned(),
            problem: problem.into(),
        }
    }
}

impl Format {
    /// The format by its name on the command line.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "mahimahi" => Some(Self::Mahimahi),
            "csv" => Some(Self::Csv),
            "5gdataset" => Some(Self::PhoneLog),
            _ => None,
        }
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mahimahi => "mahimahi",
            Self::Csv => "csv",
            Self::PhoneLog => "5gdataset",
        }
    }

    /// The format that the first line shows.
    pub fn detect(text: &str) -> Self {
        let first = text
            .lines()
            .map(str::trim)
            .find(|l| !l.is_empty() && !l.starts_with('#'));
        match first {
            Some(line) if line.contains("DL_bitrate") => Self::PhoneLog,
            Some(line) if line.contains(',') => Self::Csv,
            _ => Self::Mahimahi,
        }
    }
}

impl Trace {
    /// Reads the `text` of the file `origin`; the format is detected if it is not given.
    ///
    /// # Errors
    /// [`TraceError`] names the file, and the line where one is to blame.
    pub fn parse(
        text: &str,
        origin: &str,
        format: Option<Format>,
        direction: Direction,
    ) -> Result<Self, TraceError> {
        match format.unwrap_or_else(|| Format::detect(text)) {
            Format::Mahimahi => parse_mahimahi(text, origin),
            Format::Csv => parse_csv(text, origin),
            Format::PhoneLog => phone_log::parse(text, origin, direction),
        }
    }
}

fn parse_mahimahi(text: &str, origin: &str) -> Result<Trace, TraceError> {
    let mut times: Vec<Instant> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let milliseconds: u64 = line
            .parse()
            .ok()
            .filter(|ms| *ms < u64::MAX / 2_000_000)
            .ok_or_else(|| {
                let problem = format!("{line:?} is not a time in whole milliseconds");
                TraceError::line(origin, line_number, problem)
            })?;
        let time = Instant::ZERO + Duration::from_millis(milliseconds);
        if let Some(last) = times.last()
            && time < *last
        {
            let before = last.since_start().as_millis();
            let problem = format!("{milliseconds} ms comes after {before} ms: times must not fall");
            return Err(TraceError::line(origin, line_number, problem));
        }
        times.push(time);
    }
    match times.last() {
        None => Err(TraceError::whole(origin, "the trace is empty")),
        Some(&Instant::ZERO) => Err(TraceError::whole(
            origin,
            "the last opportunity is at 0 ms, so the trace has no duration",
        )),
        Some(_) => Ok(Trace::of_opportunities(times)),
    }
}

fn parse_csv(text: &str, origin: &str) -> Result<Trace, TraceError> {
    let mut rates: Vec<(Instant, Rate)> = Vec::new();
    let mut header_allowed = true;
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let numbers: Vec<Option<f64>> = fields.iter().map(|f| f.parse().ok()).collect();
        if header_allowed && numbers.iter().all(Option::is_none) {
            header_allowed = false;
            continue;
        }
        header_allowed = false;
        let (Some(Some(seconds)), Some(Some(mbps)), 2) =
            (numbers.first(), numbers.get(1), fields.len())
        else {
            let problem = format!("{line:?} is not \"seconds,Mbit/s\"");
            return Err(TraceError::line(origin, line_number, problem));
        };
        if !(0.0..1e9).contains(seconds) {
            let problem = format!("the time {seconds} s is not between 0 and 1e9");
            return Err(TraceError::line(origin, line_number, problem));
        }
        if !(0.0..1e6).contains(mbps) {
            let problem = format!("the rate {mbps} Mbit/s is not between 0 and 1e6");
            return Err(TraceError::line(origin, line_number, problem));
        }
        let time = Instant::ZERO + Duration::from_secs_f64(*seconds);
        if rates.last().is_some_and(|(last, _)| time <= *last) {
            let problem = format!("the time {seconds} s does not rise");
            return Err(TraceError::line(origin, line_number, problem));
        }
        rates.push((time, Rate::from_mbps(*mbps)));
    }
    from_samples(rates, origin)
}

/// Rates at times that need not start at zero; the last holds as long as the one before it.
pub(crate) fn from_samples(
    mut rates: Vec<(Instant, Rate)>,
    origin: &str,
) -> Result<Trace, TraceError> {
    let Some(&(first, _)) = rates.first() else {
        return Err(TraceError::whole(origin, "the trace is empty"));
    };
    if rates.iter().all(|(_, rate)| *rate == Rate::ZERO) {
        return Err(TraceError::whole(origin, "the rate is zero throughout"));
    }
    for (time, _) in &mut rates {
        *time = Instant::ZERO + (*time - first);
    }
    let last = rates.last().map_or(Instant::ZERO, |(time, _)| *time);
    let hold = match rates.len() {
        1 => Duration::from_secs(1),
        n => last - rates[n - 2].0,
    };
    Ok(Trace::of_rates(rates, last.since_start() + hold))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Trace::parse(text, "t", None, Direction::Down)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn the_first_line_tells_the_format() {
        assert_eq!(Format::detect("\n12\n13"), Format::Mahimahi);
        assert_eq!(Format::detect("# c\n0,1.5\n"), Format::Csv);
        assert_eq!(Format::detect("Timestamp,DL_bitrate\n"), Format::PhoneLog);
    }

    #[test]
    fn csv_rates_hold_until_the_next_and_the_last_as_long_as_the_one_before() {
        let text = "seconds,mbps\n10,8\n10.5,0\n12,4\n";
        let trace = Trace::parse(text, "t", None, Direction::Down).unwrap();
        assert_eq!(trace.duration(), Duration::from_millis(3_500));
        let bytes = trace.bytes_between(Instant::ZERO, Instant::ZERO + trace.duration());
        assert_eq!(bytes.get(), 500_000 + 750_000);
    }

    #[test]
    fn errors_name_the_file_the_line_and_what_is_allowed() {
        assert_eq!(
            error("1\nx\n"),
            "t:2: \"x\" is not a time in whole milliseconds"
        );
        assert_eq!(
            error("5\n4\n"),
            "t:2: 4 ms comes after 5 ms: times must not fall"
        );
        assert_eq!(
            error("-3\n"),
            "t:1: \"-3\" is not a time in whole milliseconds"
        );
        assert_eq!(error(""), "t: the trace is empty");
        assert_eq!(
            error("0\n0\n"),
            "t: the last opportunity is at 0 ms, so the trace has no duration"
        );
        assert_eq!(error("0,1\n0,2\n"), "t:2: the time 0 s does not rise");
        assert_eq!(
            error("0,-1\n"),
            "t:1: the rate -1 Mbit/s is not between 0 and 1e6"
        );
        assert_eq!(
            error("0,nan\n"),
            "t:1: the rate NaN Mbit/s is not between 0 and 1e6"
        );
        assert_eq!(error("0,1,2\n"), "t:1: \"0,1,2\" is not \"seconds,Mbit/s\"");
        assert_eq!(error("0,0\n1,0\n"), "t: the rate is zero throughout");
    }
}
