//! The phone logs of 5Gdataset (Raca et al., "Beyond throughput, the next generation: a 5G dataset with
//! channel and context metrics", MMSys 2020): one row per second of a bulk download.
//!
//! Rows of the same second are averaged; through missing seconds and missing values (`-`) the last rate
//! holds. What a phone logs is the rate that its download reached, so the capacity is what that download
//! used of the cell.

use units::{Duration, Instant, Rate};

use crate::Trace;
use crate::read::{Direction, TraceError, from_samples};

pub(crate) fn parse(text: &str, origin: &str, direction: Direction) -> Result<Trace, TraceError> {
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines
        .next()
        .ok_or_else(|| TraceError::whole(origin, "the trace is empty"))?;
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    let find = |name: &str| {
        columns
            .iter()
            .position(|column| *column == name)
            .ok_or_else(|| TraceError::line(origin, 1, format!("there is no column {name}")))
    };
    let time_column = find("Timestamp")?;
    let rate_column = find(match direction {
        Direction::Down => "DL_bitrate",
        Direction::Up => "UL_bitrate",
    })?;

    let mut rows: Vec<(u64, f64)> = Vec::new();
    for (index, line) in lines {
        let number = index + 1;
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let field = |column: usize| {
            fields.get(column).copied().ok_or_else(|| {
                let problem = format!(
                    "{} fields where the header has {}",
                    fields.len(),
                    columns.len()
                );
                TraceError::line(origin, number, problem)
            })
        };
        let stamp = field(time_column)?;
        let second = seconds_of(stamp).ok_or_else(|| {
            let problem = format!("{stamp:?} is not a time such as 2019.12.14_10.16.30");
            TraceError::line(origin, number, problem)
        })?;
        if rows.last().is_some_and(|(last, _)| second < *last) {
            return Err(TraceError::line(
                origin,
                number,
                format!("the time {stamp} goes back"),
            ));
        }
        let rate = field(rate_column)?;
        if rate == "-" {
            continue;
        }
        let kbps: f64 = rate
            .parse()
            .ok()
            .filter(|kbps| (0.0..1e9).contains(kbps))
            .ok_or_else(|| {
                let problem = format!("the rate {rate:?} is not a number of kbit/s from 0 on");
                TraceError::line(origin, number, problem)
            })?;
        rows.push((second, kbps));
    }
    from_samples(by_second(&rows), origin)
}

/// One mean rate per second that has rows.
fn by_second(rows: &[(u64, f64)]) -> Vec<(Instant, Rate)> {
    rows.chunk_by(|a, b| a.0 == b.0)
        .map(|rows| {
            let mean = rows.iter().map(|(_, kbps)| kbps).sum::<f64>() / rows.len() as f64;
            let time = Instant::ZERO + Duration::from_secs(rows[0].0);
            (time, Rate::from_mbps(mean / 1e3))
        })
        .collect()
}

/// Seconds of `YYYY.MM.DD_HH.MM.SS` on a count of days that is right across months and years.
fn seconds_of(stamp: &str) -> Option<u64> {
    let (date, time) = stamp.split_once('_')?;
    let numbers = |text: &str| -> Option<[u64; 3]> {
        let parts: Vec<u64> = text
            .split('.')
            .map(|p| p.parse().ok())
            .collect::<Option<_>>()?;
        parts.try_into().ok()
    };
    let [year, month, day] = numbers(date)?;
    let [hour, minute, second] = numbers(time)?;
    let in_range = (1970..3000).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    if !in_range {
        return None;
    }
    // Days since March of year zero: leap days come last in such years (Fliegel and Van Flandern).
    let (shifted_year, shifted_month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * shifted_year + shifted_year / 4 - shifted_year / 100
        + shifted_year / 400
        + (153 * shifted_month + 2) / 5
        + day;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "Timestamp,Speed,DL_bitrate,UL_bitrate\n\
        2020.02.28_23.59.59,0,1000,10\n\
        2020.02.29_00.00.00,0,3000,10\n\
        2020.02.29_00.00.00,0,5000,-\n\
        2020.02.29_00.00.02,0,-,10\n\
        2020.02.29_00.00.03,0,2000,10\n";

    #[test]
    fn seconds_are_averaged_and_gaps_hold_the_last_rate() {
        let trace = Trace::parse(LOG, "t", None, Direction::Down).unwrap();
        let at = |s: u64| Instant::ZERO + Duration::from_secs(s);
        let mbps =
            |from, to| Rate::of(trace.bytes_between(at(from), at(to)), at(to) - at(from)).as_mbps();
        assert!((mbps(0, 1) - 1.0).abs() < 1e-6);
        assert!((mbps(1, 4) - 4.0).abs() < 1e-6);
        assert!((mbps(4, 5) - 2.0).abs() < 1e-6);
    }

    #[test]
    fn days_are_counted_across_leap_days() {
        let seconds = |a: &str, b: &str| seconds_of(b).unwrap() - seconds_of(a).unwrap();
        assert_eq!(
            seconds("2020.02.28_00.00.00", "2020.03.01_00.00.00"),
            2 * 86_400
        );
        assert_eq!(seconds("2019.12.31_23.59.59", "2020.01.01_00.00.00"), 1);
        assert_eq!(seconds_of("2020.13.01_00.00.00"), None);
    }

    #[test]
    fn errors_name_the_line() {
        let bad = LOG.replace("3000", "many");
        let error = Trace::parse(&bad, "log.csv", None, Direction::Down)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "log.csv:3: the rate \"many\" is not a number of kbit/s from 0 on"
        );
    }
}
