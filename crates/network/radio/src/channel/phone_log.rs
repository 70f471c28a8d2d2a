//! Reader of the radio columns of phone logs.

use link_trace::ParseError;
use std::collections::BTreeMap;
use units::{Duration, Instant};

use super::SinrTrace;

/// Measurements of a phone in one second.
#[derive(Clone, PartialEq, Debug)]
pub struct PhoneSample {
    /// Time since the first line.
    pub at: Instant,
    /// Line of the file, counted from one.
    pub line: usize,
    /// Speed by the phone's satellite receiver, km/h.
    pub speed_km_per_h: f64,
    /// Identity of the cell (`RAWCELLID`).
    pub cell: u64,
    /// Network: `LTE`, `5G`, `HSPA+` and so on.
    pub network: String,
    /// Reference signal power, dBm.
    pub rsrp_dbm: Option<f64>,
    /// Reference signal quality, dB.
    pub rsrq_db: Option<f64>,
    /// Signal over noise and interference, dB: mean of the lines of this second.
    pub snr_db: Option<f64>,
    /// Channel quality indicator, 0 to 15.
    pub cqi: Option<u8>,
}

/// Log of G-NetTrack as 5Gdataset publishes it (Raca et al., "Beyond throughput, the next generation: a 5G dataset
/// with channel and context metrics", MMSys 2020).
#[derive(Clone, PartialEq, Debug)]
pub struct PhoneLog {
    file: String,
    samples: Vec<PhoneSample>,
}

/// Maximum length of a log: a year, in seconds. A log that seems longer has a wrong date.
const MAX_LOG_S: i64 = 31_622_400;

const TIME: &str = "Timestamp";
const SPEED: &str = "Speed";
const CELL: &str = "RAWCELLID";
const NETWORK: &str = "NetworkMode";
const RSRP: &str = "RSRP";
const RSRQ: &str = "RSRQ";
const SNR: &str = "SNR";
const CQI: &str = "CQI";

impl PhoneLog {
    /// Reads a log; `file` is its name in messages. Missing values are `-`. If a second has several lines, the last one
    /// counts, but the SNR is the mean over all of them.
    pub fn read(file: &str, text: &str) -> Result<Self, ParseError> {
        let mut rows = text.lines().enumerate();
        let header = rows
            .next()
            .ok_or_else(|| ParseError::for_file(file, "no line at all"))?
            .1;
        let columns: BTreeMap<&str, usize> = header
            .split(',')
            .enumerate()
            .map(|(index, name)| (name.trim(), index))
            .collect();
        for name in [TIME, SPEED, CELL, NETWORK, RSRP, RSRQ, SNR, CQI] {
            if !columns.contains_key(name) {
                return Err(ParseError::on(
                    file,
                    1,
                    format_args!("there is no column {name}"),
                ));
            }
        }
        let mut samples: Vec<PhoneSample> = Vec::new();
        let mut first_seconds = None;
        // SNR values of the latest second.
        let (mut snr_sum_db, mut snr_count) = (0.0, 0_u32);
        for (index, content) in rows {
            if content.trim().is_empty() {
                continue;
            }
            let row = Row {
                file,
                line: index + 1,
                columns: &columns,
                fields: content.split(',').map(str::trim).collect(),
            };
            let mut sample = row.sample(&mut first_seconds)?;
            if let Some(last) = samples.last()
                && sample.at < last.at
            {
                return Err(
                    row.line_error("is earlier than the line before: times must not decrease")
                );
            }
            if samples.last().is_some_and(|last| last.at == sample.at) {
                samples.pop();
            } else {
                (snr_sum_db, snr_count) = (0.0, 0);
            }
            if let Some(db) = sample.snr_db {
                (snr_sum_db, snr_count) = (snr_sum_db + db, snr_count + 1);
            }
            sample.snr_db = (snr_count > 0).then(|| snr_sum_db / f64::from(snr_count));
            samples.push(sample);
        }
        if samples.is_empty() {
            return Err(ParseError::for_file(file, "no line with a Timestamp"));
        }
        Ok(Self {
            file: file.to_owned(),
            samples,
        })
    }

    /// Returns one sample per logged second.
    pub fn samples(&self) -> &[PhoneSample] {
        &self.samples
    }

    /// Returns the SNR as a trace that begins `from` after the first line and is `length` long (to the end of the log
    /// if `None`).
    ///
    /// Phones skip a second now and then. More than `longest_gap` without a value is an error, which names the line
    /// and the network in use.
    pub fn sinr_trace(
        &self,
        from: Duration,
        length: Option<Duration>,
        longest_gap: Duration,
    ) -> Result<SinrTrace, ParseError> {
        let start = Instant::ZERO + from;
        let end = length.map_or(Instant::NEVER, |length| start + length);
        let mut points: Vec<(Instant, f64)> = Vec::new();
        let mut last = start;
        for sample in self.samples.iter().filter(|s| s.at >= start && s.at <= end) {
            let gap = sample.at - last;
            if gap > longest_gap {
                let network = &sample.network;
                return Err(ParseError::on(
                    &self.file,
                    sample.line,
                    format_args!(
                        "no SNR for {gap} (network {network}): at most {longest_gap} is allowed"
                    ),
                ));
            }
            let Some(db) = sample.snr_db else { continue };
            if points.is_empty() && sample.at > start {
                points.push((Instant::ZERO, db));
            }
            points.push((Instant::ZERO + (sample.at - start), db));
            last = sample.at;
        }
        if points.is_empty() {
            return Err(ParseError::for_file(
                &self.file,
                format_args!("no SNR from {from} on"),
            ));
        }
        SinrTrace::new(points).map_err(|error| ParseError::for_file(&self.file, error))
    }
}

/// One line of a log.
struct Row<'t> {
    file: &'t str,
    line: usize,
    columns: &'t BTreeMap<&'t str, usize>,
    fields: Vec<&'t str>,
}

impl Row<'_> {
    fn line_error(&self, message: impl core::fmt::Display) -> ParseError {
        ParseError::on(self.file, self.line, message)
    }

    fn field(&self, name: &str) -> Result<&str, ParseError> {
        self.columns
            .get(name)
            .and_then(|&index| self.fields.get(index).copied())
            .ok_or_else(|| self.line_error(format_args!("the line ends before the column {name}")))
    }

    /// Returns a number from `low` to `high`; `None` for `-`.
    fn number(&self, name: &str, low: f64, high: f64) -> Result<Option<f64>, ParseError> {
        let text = self.field(name)?;
        if text == "-" {
            return Ok(None);
        }
        let number = text
            .parse::<f64>()
            .ok()
            .filter(|n| (low..=high).contains(n));
        let message =
            format_args!("{name} {text:?} must be from {low} to {high}, or -").to_string();
        number.map(Some).ok_or_else(|| self.line_error(message))
    }

    /// Returns the sample of the row. `first_seconds` is the time of the first row, set if it is `None`.
    fn sample(&self, first_seconds: &mut Option<i64>) -> Result<PhoneSample, ParseError> {
        let text = self.field(TIME)?;
        let seconds = seconds_since_1970(text).ok_or_else(|| {
            self.line_error(format_args!(
                "{TIME} {text:?} must look like 2019.12.14_10.16.30"
            ))
        })?;
        let since = seconds - *first_seconds.get_or_insert(seconds);
        if !(0..=MAX_LOG_S).contains(&since) {
            let message =
                format_args!("{text} is not within a year after the first line").to_string();
            return Err(self.line_error(message));
        }
        let cell = self.field(CELL)?;
        let cell = cell
            .parse()
            .map_err(|_| self.line_error(format_args!("{CELL} {cell:?} must be a whole number")))?;
        Ok(PhoneSample {
            at: Instant::ZERO + Duration::from_secs(since as u64),
            line: self.line,
            speed_km_per_h: self.number(SPEED, 0.0, 1e3)?.unwrap_or(0.0),
            cell,
            network: self.field(NETWORK)?.to_owned(),
            rsrp_dbm: self.number(RSRP, -200.0, 0.0)?,
            rsrq_db: self.number(RSRQ, -100.0, 30.0)?,
            snr_db: self.number(SNR, -100.0, 100.0)?,
            cqi: self.number(CQI, 0.0, 15.0)?.map(|cqi| cqi as u8),
        })
    }
}

/// Returns the seconds since 1970 of a phone log's time such as `2019.12.14_10.16.30`; `None` for another text.
fn seconds_since_1970(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('_')?;
    let three_numbers = |text: &str| -> Option<[i64; 3]> {
        let parts: Vec<i64> = text
            .split('.')
            .map(|part| part.parse::<u16>().ok().map(i64::from))
            .collect::<Option<_>>()?;
        parts.try_into().ok()
    };
    let ([year, month, day], [hour, minute, second]) = (three_numbers(date)?, three_numbers(time)?);
    let valid = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    valid.then(|| ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

/// Returns the days since 1970-01-01 in the Gregorian calendar. Years begin in March here, so that the leap day is
/// the last one.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let before_month = (153 * month + 2) / 5;
    const DAYS_UNTIL_1970: i64 = 719_469;
    year * 365 + leap_days + before_month + day - DAYS_UNTIL_1970
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
Timestamp,Speed,RAWCELLID,NetworkMode,RSRP,RSRQ,SNR,CQI
2019.12.31_23.59.58,0,11,5G,-99,-15,6.0,12
2019.12.31_23.59.59,36,11,5G,-98,-14,8.0,11
2019.12.31_23.59.59,36,11,5G,-98,-14,10.0,10
2020.01.01_00.00.01,40,12,LTE,-97,-,13.0,9
2020.01.01_00.00.02,40,12,HSPA+,-97,-,-,-
2020.01.01_00.00.03,40,12,HSPA+,-97,-,-,-
2020.01.01_00.00.04,40,12,HSPA+,-97,-,-,-
";

    const GAP: Duration = Duration::from_secs(2);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_log_gives_one_sample_per_second() {
        let log = PhoneLog::read("log.csv", LOG).unwrap();
        assert_eq!(log.samples().len(), 6);
        let second = &log.samples()[1];
        assert_eq!(
            (second.at, second.snr_db, second.cqi),
            (at(1_000), Some(9.0), Some(10))
        );
        assert_eq!(second.speed_km_per_h, 36.0);
        assert_eq!(log.samples()[2].rsrq_db, None);
        let changes = log.samples().windows(2);
        let changes = changes.filter(|pair| pair[0].cell != pair[1].cell);
        let changes: Vec<_> = changes.map(|pair| (pair[1].at, pair[1].cell)).collect();
        assert_eq!(changes, [(at(3_000), 12)]);
    }

    #[test]
    fn the_snr_is_a_trace_across_skipped_seconds() {
        let log = PhoneLog::read("log.csv", LOG).unwrap();
        let length = Some(Duration::from_secs(3));
        let trace = log.sinr_trace(Duration::ZERO, length, GAP).unwrap();
        assert_eq!(trace.mean_db(at(500)), 7.5);
        assert_eq!(trace.mean_db(at(2_000)), 11.0);
        assert_eq!(trace.length(), Duration::from_secs(3));
        let later = log
            .sinr_trace(Duration::from_secs(1), Some(GAP), GAP)
            .unwrap();
        assert_eq!(later.mean_db(at(0)), 9.0);
    }

    #[test]
    fn a_stretch_without_snr_is_an_error() {
        let log = PhoneLog::read("log.csv", LOG).unwrap();
        let error = log.sinr_trace(Duration::ZERO, None, GAP).unwrap_err();
        assert_eq!(
            error.to_string(),
            "log.csv:8: no SNR for 3s (network HSPA+): at most 2s is allowed"
        );
        let error = log
            .sinr_trace(Duration::from_secs(9), None, GAP)
            .unwrap_err();
        assert_eq!(error.to_string(), "log.csv: no SNR from 9s on");
    }

    #[test]
    fn mistakes_name_line_and_column() {
        let error = |from: &str, to: &str| {
            let text = LOG.replacen(from, to, 1);
            PhoneLog::read("log.csv", &text).unwrap_err().to_string()
        };
        assert_eq!(error("RSRQ,", ""), "log.csv:1: there is no column RSRQ");
        assert_eq!(
            error("8.0,", "good,"),
            "log.csv:3: SNR \"good\" must be from -100 to 100, or -"
        );
        assert_eq!(
            error("13.0,9", "13.0,16"),
            "log.csv:5: CQI \"16\" must be from 0 to 15, or -"
        );
    }

    #[test]
    fn times_count_through_months_and_leap_days() {
        assert_eq!(seconds_since_1970("1970.01.01_00.00.00"), Some(0));
        assert_eq!(
            seconds_since_1970("2020.02.29_00.00.00"),
            Some(1_582_934_400)
        );
        assert_eq!(
            seconds_since_1970("2020.03.01_00.00.01"),
            Some(1_583_020_801)
        );
        assert_eq!(seconds_since_1970("2019.12.14_10.16"), None);
        assert_eq!(seconds_since_1970("2019.12.14 10.16.30"), None);
    }
}
