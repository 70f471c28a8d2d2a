//! Columns of a table: the search for the columns of times and rates, and for their units.

use super::column_unit::{RATE_UNITS, RateUnit, TIME_UNITS, TimeUnit};
use super::{Direction, LineError, ReadOptions};

/// Words in the name of a column of times.
const TIME_WORDS: [&str; 14] = [
    "time",
    "timestamp",
    "t",
    "ts",
    "date",
    "datetime",
    "epoch",
    "elapsed",
    "clock",
    "s",
    "sec",
    "seconds",
    "ms",
    "timeinseconds",
];
/// Words in the name of a column of rates.
const RATE_WORDS: [&str; 8] = [
    "rate",
    "throughput",
    "bitrate",
    "bandwidth",
    "bw",
    "capacity",
    "goodput",
    "tput",
];
/// Words of a direction in the name of a column.
const DOWN_WORDS: [&str; 6] = ["down", "downlink", "dl", "download", "rx", "received"];
const UP_WORDS: [&str; 6] = ["up", "uplink", "ul", "upload", "tx", "sent"];

/// Columns that a table is read from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    /// Places of time and rate, from zero.
    pub(super) time: usize,
    pub(super) rate: usize,
    /// Unit of times; `None` if neither names nor options say it.
    pub(super) time_unit: Option<TimeUnit>,
    /// Unit of rates; `None` for a table without names.
    pub(super) rate_unit: Option<RateUnit>,
}

/// Returns the columns of a table that has `width` of them, with these names or none.
///
/// # Errors
/// If the names leave open which columns are meant, or the unit of the rate.
pub(super) fn choose(
    names: Option<&[String]>,
    width: usize,
    reading: &ReadOptions,
    side: Direction,
) -> Result<Columns, LineError> {
    let (time_unit, rate_unit) = units_of(reading)?;
    let (time, rate) = match &reading.column {
        Some(text) => named(text, names, width)?,
        None => (None, None),
    };
    if reading.direction.is_some() && (rate.is_some() || names.is_none()) {
        let why = if rate.is_some() {
            "is given beside a column of the rate"
        } else {
            "is given, but the columns have no names"
        };
        return Err(LineError::without_line(format_args!(
            "direction: {why}: leave it out"
        )));
    }
    let Some(names) = names else {
        return match (time, rate, width) {
            (time, Some(rate), _) => Ok(Columns {
                time: time.unwrap_or(0),
                rate,
                time_unit,
                rate_unit,
            }),
            (None, None, 0..=2) => Ok(Columns {
                time: 0,
                rate: 1,
                time_unit,
                rate_unit,
            }),
            _ => Err(LineError::without_line(format_args!(
                "{width} columns without names: --column TIME,RATE says which two, as numbers from 1 \
                 (column in a scenario file)"
            ))),
        };
    };
    let time = match time {
        Some(time) => time,
        None => (0..names.len())
            .find(|&at| {
                Some(at) != rate
                    && RateUnit::in_name(&names[at]).is_none()
                    && words(&names[at]).any(|word| TIME_WORDS.contains(&word.as_str()))
            })
            .ok_or_else(|| ambiguous(names, "which column has the times"))?,
    };
    let rate = match rate {
        Some(rate) => rate,
        None => rate_among(names, time, reading.direction, side)?,
    };
    let rate_unit = rate_unit.or_else(|| RateUnit::in_name(&names[rate]));
    if rate_unit.is_none() {
        return Err(LineError::without_line(format_args!(
            "the column {:?} does not tell the unit of its rates: --unit says it (unit in a scenario \
             file); allowed: {RATE_UNITS}",
            names[rate]
        )));
    }
    // What `celltcp traces convert` writes is in seconds.
    let own = names == ["time", "Mbit/s"];
    let named_unit = TimeUnit::in_name(&names[time]).or(own.then_some(TimeUnit::SECOND));
    Ok(Columns {
        time,
        rate,
        time_unit: time_unit.or(named_unit),
        rate_unit,
    })
}

/// Returns the column of rates by its name and its direction.
fn rate_among(
    names: &[String],
    time: usize,
    asked: Option<Direction>,
    side: Direction,
) -> Result<usize, LineError> {
    let others = || (0..names.len()).filter(|&at| at != time);
    let any = |at: usize, wanted: &[&str]| words(&names[at]).any(|w| wanted.contains(&w.as_str()));
    let directional = |at: usize| any(at, &DOWN_WORDS) || any(at, &UP_WORDS);
    let mut result: Vec<usize> = others()
        .filter(|&at| RateUnit::in_name(&names[at]).is_some())
        .collect();
    if result.is_empty() {
        result = others()
            .filter(|&at| any(at, &RATE_WORDS) || directional(at))
            .collect();
    }
    if result.is_empty() && names.len() == 2 {
        result = others().collect();
    }
    let direction = asked.unwrap_or(side);
    let (wanted, opposite, option) = match direction {
        Direction::Downlink => (DOWN_WORDS, UP_WORDS, "up"),
        Direction::Uplink => (UP_WORDS, DOWN_WORDS, "down"),
    };
    if result.iter().any(|&at| any(at, &wanted)) {
        result.retain(|&at| any(at, &wanted));
    } else if asked.is_some() {
        return Err(ambiguous(names, "which column is of that direction"));
    } else if !result.is_empty() && result.iter().all(|&at| any(at, &opposite)) {
        return Err(LineError::without_line(format_args!(
            "the rates are of the other direction: --direction {option} reads them (direction in a \
             scenario file)"
        )));
    }
    match *result.as_slice() {
        [rate] => Ok(rate),
        _ => Err(ambiguous(names, "which column has the rates")),
    }
}

fn ambiguous(names: &[String], what: &str) -> LineError {
    let list: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    LineError::without_line(format_args!(
        "the columns {} leave open {what}: --column TIME,RATE says it, by names or numbers from 1 \
         (column in a scenario file)",
        list.join(", ")
    ))
}

/// Returns the places that `RATE` or `TIME,RATE` names.
fn named(
    text: &str,
    names: Option<&[String]>,
    width: usize,
) -> Result<(Option<usize>, Option<usize>), LineError> {
    let place = |word: &str| {
        let word = word.trim();
        let by_name = names.and_then(|names| {
            names
                .iter()
                .position(|name| name.eq_ignore_ascii_case(word))
        });
        let by_number = word
            .parse::<usize>()
            .ok()
            .filter(|number| (1..=width).contains(number))
            .map(|number| number - 1);
        by_name.or(by_number).ok_or_else(|| {
            let list = names.map_or(String::new(), |names| {
                format!(", or of {}", names.join(", "))
            });
            LineError::without_line(format_args!(
                "column: unknown {word:?}; allowed: numbers from 1 to {width}{list}"
            ))
        })
    };
    // A name may have a comma of its own.
    if let Ok(rate) = place(text) {
        return Ok((None, Some(rate)));
    }
    match text.split_once(',') {
        Some((time, rate)) => Ok((Some(place(time)?), Some(place(rate)?))),
        None => place(text).map(|rate| (None, Some(rate))),
    }
}

/// Returns the units that `RATE`, `TIME` or `TIME,RATE` names.
fn units_of(reading: &ReadOptions) -> Result<(Option<TimeUnit>, Option<RateUnit>), LineError> {
    let Some(text) = &reading.unit else {
        return Ok((None, None));
    };
    let (time, rate) = match text.split_once(',') {
        Some((time, rate)) => (Some(time.trim()), Some(rate.trim())),
        None if TimeUnit::spelled(text.trim()).is_some() => (Some(text.trim()), None),
        None => (None, Some(text.trim())),
    };
    let wrong = |word: &str, allowed: &str| {
        LineError::without_line(format_args!("unit: unknown {word:?}; allowed: {allowed}"))
    };
    let time = time
        .map(|word| TimeUnit::spelled(word).ok_or_else(|| wrong(word, TIME_UNITS)))
        .transpose()?;
    let rate = rate
        .map(|word| {
            let allowed = format!("{RATE_UNITS}, or of times before a comma: {TIME_UNITS}");
            RateUnit::spelled(word).ok_or_else(|| wrong(word, &allowed))
        })
        .transpose()?;
    Ok((time, rate))
}

/// Returns the words of a name in small letters: `rxRate_kbps` is rx, rate, kbps.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if begins || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            let last = words.last_mut().expect("there is a first word");
            last.extend(c.to_lowercase());
        }
        before = c;
    }
    words.into_iter().filter(|word| !word.is_empty())
}
