//! Reader of phone logs: one line per second with the columns `Timestamp` (`2019.12.14_10.16.30`), `DL_bitrate` and
//! `UL_bitrate` (kbit/s), as G-NetTrack writes and 5Gdataset publishes it (Raca et al., "Beyond throughput, the next
//! generation: a 5G dataset with channel and context metrics", MMSys 2020).
//!
//! `-` repeats the value before it; lines before the first value are skipped. A second that the phone logged more than
//! once has its mean; in seconds that it skipped the last value holds. The last line lasts one second.

use units::{Duration, Rate};

use super::{Direction, LineError, lines, number};
use crate::Steps;

pub(super) const TIMESTAMP: &str = "Timestamp";

/// Highest rate, a terabit per second: more is a mistake of units.
const MAX_KBPS: f64 = 1e9;

/// Lines of one second.
struct Second {
    at: i64,
    kbps_sum: f64,
    lines: u32,
}

/// Returns the column with the rates of a direction.
pub(super) fn rate_column(direction: Direction) -> &'static str {
    match direction {
        Direction::Downlink => "DL_bitrate",
        Direction::Uplink => "UL_bitrate",
    }
}

pub(super) fn read(text: &str, direction: Direction) -> Result<Steps, LineError> {
    let name = rate_column(direction);
    let mut rows = lines(text);
    let (header_line, header) = rows
        .next()
        .ok_or_else(|| LineError::without_line("no line at all"))?;
    let column = |wanted: &str| {
        header
            .split(',')
            .position(|result| result.trim() == wanted)
            .ok_or_else(|| LineError::on(header_line, format_args!("there is no column {wanted}")))
    };
    let (time_column, rate_column) = (column(TIMESTAMP)?, column(name)?);

    let mut seconds: Vec<Second> = Vec::new();
    let mut held = None;
    let mut latest = i64::MIN;
    for (line, content) in rows {
        let field = |column: usize, name: &str| {
            content
                .split(',')
                .nth(column)
                .map(str::trim)
                .ok_or_else(|| {
                    LineError::on(line, format_args!("the line ends before the column {name}"))
                })
        };
        let time = field(time_column, TIMESTAMP)?;
        let at = seconds_of(time).ok_or_else(|| {
            LineError::on(
                line,
                format_args!("{TIMESTAMP} {time:?} must look like 2019.12.14_10.16.30"),
            )
        })?;
        if at < latest {
            let order = "is earlier than the line before: times must not decrease";
            return Err(LineError::on(line, format_args!("{time} {order}")));
        }
        latest = at;
        let text = field(rate_column, name)?;
        if text != "-" {
            let kbps = number(text)
                .filter(|&kbps| kbps <= MAX_KBPS)
                .ok_or_else(|| {
                    let allowed = format!("must be a number of kbit/s from 0 to {MAX_KBPS}, or -");
                    LineError::on(line, format_args!("{name} {text:?} {allowed}"))
                })?;
            held = Some(kbps);
        }
        let Some(kbps) = held else { continue };
        match seconds.last_mut() {
            Some(second) if second.at == at => {
                second.kbps_sum += kbps;
                second.lines += 1;
            }
            _ => seconds.push(Second {
                at,
                kbps_sum: kbps,
                lines: 1,
            }),
        }
    }
    let (Some(first), Some(last)) = (seconds.first(), seconds.last()) else {
        return Err(LineError::without_line(format_args!(
            "no line with a {name}"
        )));
    };
    let since = |at: i64| Duration::from_secs((at - first.at) as u64);
    let steps: Vec<_> = seconds
        .iter()
        .map(|s| {
            (
                since(s.at),
                Rate::from_mbps(s.kbps_sum / f64::from(s.lines) / 1e3),
            )
        })
        .collect();
    Steps::new(&steps, since(last.at + 1)).map_err(LineError::without_line)
}

/// Returns the seconds since 1970 of a phone log's time such as `2019.12.14_10.16.30`; `None` for another text.
pub fn seconds_of(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('_')?;
    let three = |text: &str| -> Option<[i64; 3]> {
        let parts: Vec<i64> = text
            .split('.')
            .map(|part| part.parse::<u16>().ok().map(i64::from))
            .collect::<Option<_>>()?;
        parts.try_into().ok()
    };
    let ([year, month, day], [hour, minute, second]) = (three(date)?, three(time)?);
    let valid = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    valid.then(|| ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

/// Returns the days since 1970-01-01 in the Gregorian calendar. Years begin in March here, so that the leap day is
/// the last one.
pub(super) fn days(year: i64, month: i64, day: i64) -> i64 {
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

    #[test]
    fn times_count_through_months_and_leap_days() {
        assert_eq!(seconds_of("1970.01.01_00.00.00"), Some(0));
        assert_eq!(seconds_of("2020.02.29_00.00.00"), Some(1_582_934_400));
        assert_eq!(seconds_of("2020.03.01_00.00.01"), Some(1_583_020_801));
        assert_eq!(seconds_of("2019.12.14_10.16"), None);
        assert_eq!(seconds_of("2019.12.14 10.16.30"), None);
    }
}
