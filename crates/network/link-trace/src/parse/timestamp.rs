//! Times of a table: numbers with a unit, since the start or since 1970, and dates with a time of day.

use super::column_unit::TimeUnit;
use super::number;
use super::phone_log::{days, seconds_of};

/// Latest time, some three hundred years in nanoseconds.
const MAX_NANOS: f64 = 9e18;

/// Reads times of one unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimestampParser {
    /// Unit of times that are numbers.
    pub(super) unit: TimeUnit,
}

impl TimestampParser {
    /// Returns the nanoseconds of a time; `None` for what is none, or before the year 1970.
    pub(super) fn read(self, text: &str) -> Option<u64> {
        let Some(value) = number(text) else {
            return date(text);
        };
        let unit = self.unit.nanos as f64;
        if value * unit > MAX_NANOS {
            return None;
        }
        // Whole units apart from their fraction: a time since 1970 has more digits than a float.
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        if fraction.bytes().all(|byte| byte.is_ascii_digit())
            && let (Ok(whole), Ok(fraction)) =
                (whole.parse::<u64>(), format!("0.{fraction}").parse::<f64>())
        {
            return whole
                .checked_mul(self.unit.nanos)?
                .checked_add(libm::round(fraction * unit) as u64);
        }
        Some(libm::round(value * unit) as u64)
    }
}

/// Returns whether a text is a time: a number or a date.
pub(super) fn is_time(text: &str) -> bool {
    number(text).is_some() || date(text).is_some()
}

/// Returns the unit of times since 1970, by their size; `None` for smaller times.
pub(super) fn unit_of_epoch(first: f64) -> Option<TimeUnit> {
    match first {
        1e8..1e11 => Some(TimeUnit::SECOND),
        1e11..1e14 => Some(TimeUnit::MILLISECOND),
        1e14..1e17 => Some(TimeUnit::MICROSECOND),
        1e17..1e20 => Some(TimeUnit::NANOSECOND),
        _ => None,
    }
}

/// Returns the nanoseconds since 1970 of `2019-12-14T10:16:30.5Z`, with a space for the T, slashes or dots for the
/// dashes, an offset such as `+01:00` or none; or of a phone log's `2019.12.14_10.16.30`.
pub(super) fn date(text: &str) -> Option<u64> {
    if let Some(seconds) = seconds_of(text) {
        return u64::try_from(seconds).ok()?.checked_mul(1_000_000_000);
    }
    let (date, rest) = text.split_once(['T', ' '])?;
    let date: Vec<i64> = date
        .split(['-', '/', '.'])
        .map(|part| part.parse::<u16>().ok().map(i64::from))
        .collect::<Option<_>>()?;
    let &[year, month, day] = date.as_slice() else {
        return None;
    };
    let rest = rest.trim();
    let zone_at = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(zone_at);
    let mut time = time.trim().split(':');
    let hour: u64 = time.next()?.parse().ok()?;
    let minute: u64 = time.next()?.parse().ok()?;
    let second = time.next().map_or(Some(0.0), number)?;
    let east_minutes = offset(zone.trim())?;
    let valid = year >= 1970
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61.0
        && time.next().is_none();
    if !valid {
        return None;
    }
    let minutes = (days(year, month, day) * 24 + hour as i64) * 60 + minute as i64 - east_minutes;
    let whole = u64::try_from(minutes * 60).ok()?;
    whole
        .checked_mul(1_000_000_000)?
        .checked_add(libm::round(second * 1e9) as u64)
}

/// Returns the minutes east of Greenwich of `Z`, `+01:00`, `+0100` or `+01`; zero for an empty text.
fn offset(text: &str) -> Option<i64> {
    if matches!(text, "" | "Z" | "z") {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = match &text.as_bytes()[1..] {
        [h, hh] => ([*h, *hh], [b'0', b'0']),
        [h, hh, m, mm] | [h, hh, b':', m, mm] => ([*h, *hh], [*m, *mm]),
        _ => return None,
    };
    Some(sign * (two_digits(hours)? * 60 + two_digits(minutes)?))
}

/// Returns the number of two decimal digits.
fn two_digits(digits: [u8; 2]) -> Option<i64> {
    let [tens, ones] = digits.map(|digit| char::from(digit).to_digit(10));
    Some(i64::from(tens? * 10 + ones?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_nanoseconds_since_1970() {
        const DAY: u64 = 1_576_318_590_000_000_000;
        for text in [
            "2019-12-14T10:16:30Z",
            "2019-12-14 10:16:30",
            "2019/12/14 10:16:30",
            "2019-12-14T11:16:30+01:00",
            "2019-12-14 09:16:30 -0100",
            "2019.12.14_10.16.30",
        ] {
            assert_eq!(date(text), Some(DAY), "{text}");
        }
        assert_eq!(date("2019-12-14T10:16:30.25Z"), Some(DAY + 250_000_000));
        for text in [
            "10:16:30",
            "2019-13-14T10:16:30",
            "65000-01-01T00:00:00Z",
            "yesterday 10:00",
            "2019-12-14T10:16:30+01:999999999999999999",
            "2019-12-14T10:16:30+-1:00",
            "",
            "5",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn times_since_1970_keep_their_nanoseconds() {
        let clock = |unit| TimestampParser { unit };
        let result = clock(TimeUnit::SECOND).read("1453121790.686000001");
        assert_eq!(result, Some(1_453_121_790_686_000_001));
        let result = clock(TimeUnit::MILLISECOND).read("1453121790686");
        assert_eq!(result, Some(1_453_121_790_686_000_000));
        assert_eq!(clock(TimeUnit::SECOND).read("1e300"), None);
        let result = clock(TimeUnit::SECOND).read("12345678901234567890.5e-10");
        assert_eq!(result, Some(1_234_567_890_123_456_768));
        assert_eq!(
            unit_of_epoch(1_453_121_790_686.0),
            Some(TimeUnit::MILLISECOND)
        );
        assert_eq!(unit_of_epoch(100_000.0), None);
    }
}
