//! Reader of tables with a column of times and one of rates, separated by commas, semicolons, tabs or spaces.
//!
//! Each rate holds until the next line, the last one for as long as the one before it (1 s if there is no other). The
//! first time counts as the start. The first line names the columns and their units; without names there are two
//! columns, seconds and Mbit/s. Other columns are ignored. A [`ReadOptions`](super::ReadOptions) says what the file
//! leaves open.

use units::{Duration, Rate};

use super::column_unit::{RateUnit, TimeUnit};
use super::columns::{Columns, choose};
use super::fields::Separator;
use super::timestamp::{self, TimestampParser};
use super::{Direction, LineError, ReadOptions, lines, number};
use crate::Steps;

/// Highest rate, a terabit per second: more is a mistake of units.
const MAX_MBPS: f64 = 1e6;
/// Mean rate from which on a unit must be said, Mbit/s.
const UNCLEAR_MBPS: f64 = 1e3;

/// Steps of a table and how it was read.
pub(super) fn read(
    text: &str,
    reading: &ReadOptions,
    side: Direction,
) -> Result<(Steps, String), LineError> {
    let table = Table::of(text, reading, side)?;
    let clock = TimestampParser {
        unit: table.time_unit.unwrap_or(TimeUnit::SECOND),
    };
    let unit = table.columns.rate_unit.unwrap_or(RateUnit::DEFAULT);
    let mut steps: Vec<(Duration, Rate)> = Vec::new();
    let mut first = None;
    for (line, content) in table.rows() {
        let row = table.separator.fields(content);
        let [time, rate] = [table.columns.time, table.columns.rate].map(|at| row.get(at));
        let (Some(time), Some(rate)) = (time, rate) else {
            return Err(table.cut_short(line, content, clock.unit, unit));
        };
        let nanos = clock.read(time).ok_or_else(|| {
            let allowed = format!(
                "must be a number of {} from 0 on, or a date",
                clock.unit.name
            );
            LineError::on(line, format_args!("time {time:?} {allowed}"))
        })?;
        let mbps = number(rate)
            .map(|rate| rate * unit.mbps)
            .filter(|&mbps| mbps <= MAX_MBPS)
            .ok_or_else(|| {
                let most = libm::round(MAX_MBPS / unit.mbps);
                let allowed = format!("must be a number of {} from 0 to {most}", unit.name);
                LineError::on(line, format_args!("rate {rate:?} {allowed}"))
            })?;
        let at = Duration::from_nanos(nanos);
        let origin = *first.get_or_insert(at);
        if let Some(&(before, _)) = steps.last()
            && at <= origin + before
        {
            return Err(table.out_of_order(line, at, origin + before));
        }
        steps.push((at - origin, Rate::from_mbps(mbps)));
    }
    let length = match *steps.as_slice() {
        [] => return Err(LineError::without_line("no line with a time and a rate")),
        [_] => Duration::from_secs(1),
        [.., (before, _), (last, _)] => last - before,
    };
    let period = steps[steps.len() - 1].0 + length;
    let found = Steps::new(&steps, period).map_err(LineError::without_line)?;
    table.check_unambiguous(&steps, &found)?;
    Ok((found, table.describe(clock.unit, unit)))
}

/// A table whose separator, names and columns are known.
struct Table<'t> {
    text: &'t str,
    separator: Separator,
    /// Names of the columns, and whether a line of the table has them rather than a comment.
    names: Option<Vec<String>>,
    has_header: bool,
    width: usize,
    columns: Columns,
    /// Unit of times; `None` if it is unknown.
    time_unit: Option<TimeUnit>,
    dated: bool,
    is_asked: bool,
}

impl<'t> Table<'t> {
    fn of(text: &'t str, reading: &ReadOptions, side: Direction) -> Result<Self, LineError> {
        let Some((line, first)) = lines(text).next() else {
            return Err(LineError::without_line("no line with a time and a rate"));
        };
        let separator = Separator::of(first);
        let fields = separator.fields(first);
        let has_header = !fields.iter().any(|field| timestamp::is_time(field));
        let width = fields.len();
        let names = if has_header {
            Some(fields)
        } else {
            names_in_comment(text, line, separator, width)
        };
        let columns = choose(names.as_deref(), width, reading, side)?;
        let mut rows = lines(text).skip(usize::from(has_header));
        let time = rows
            .next()
            .and_then(|(_, row)| separator.fields(row).get(columns.time).cloned())
            .unwrap_or_default();
        let since_1970 = number(&time).and_then(timestamp::unit_of_epoch);
        Ok(Self {
            text,
            separator,
            names,
            has_header,
            width,
            columns,
            time_unit: columns.time_unit.or(since_1970),
            dated: timestamp::date(&time).is_some(),
            is_asked: reading.column.is_some(),
        })
    }

    /// Returns the lines after the one with names.
    fn rows(&self) -> impl Iterator<Item = (usize, &'t str)> {
        lines(self.text).skip(usize::from(self.has_header))
    }

    fn cut_short(&self, line: usize, content: &str, time: TimeUnit, rate: RateUnit) -> LineError {
        if self.width > 2 {
            let wanted = self.columns.time.max(self.columns.rate);
            let named = self.name(wanted);
            return LineError::on(
                line,
                format_args!("the line ends before the column {named}"),
            );
        }
        let seconds = if time == TimeUnit::SECOND {
            "seconds"
        } else {
            time.name
        };
        let wanted = format!("\"time,rate\" ({seconds}, {})", rate.name);
        LineError::on(line, format_args!("{content:?} is not {wanted}"))
    }

    /// Returns the mistake about times that do not increase; the columns may be the wrong way round.
    fn out_of_order(&self, line: usize, at: Duration, before: Duration) -> LineError {
        let order = format!("time {at} does not come after {before}: times must increase");
        let other = |row: &str| {
            let rate = self.separator.fields(row);
            rate.get(self.columns.rate).and_then(|text| number(text))
        };
        let rates: Option<Vec<f64>> = self.rows().map(|(_, row)| other(row)).collect();
        let rise = rates.is_some_and(|rates| rates.windows(2).all(|pair| pair[0] < pair[1]));
        if rise && !self.is_asked {
            let (time, rate) = (self.columns.time + 1, self.columns.rate + 1);
            return LineError::on(
                line,
                format_args!(
                    "{order}. Those of column {rate} do: --column {rate},{time} reads it as the time \
                     (column in a scenario file)"
                ),
            );
        }
        LineError::on(line, order)
    }

    /// Rejects values that show that the unit, which is not stated, is not the usual one.
    fn check_unambiguous(
        &self,
        steps: &[(Duration, Rate)],
        found: &Steps,
    ) -> Result<(), LineError> {
        if self.columns.rate_unit.is_none() {
            let mean = crate::Trace::Steps(found.clone()).mean_rate().as_mbps();
            if mean > UNCLEAR_MBPS {
                return Err(LineError::without_line(format_args!(
                    "nothing tells the unit of the rates, whose mean would be {mean:.0} Mbit/s: --unit \
                     says it (unit in a scenario file), such as kbit/s or Mbit/s"
                )));
            }
        }
        if self.time_unit.is_none() && !self.dated {
            let mut lengths: Vec<Duration> =
                steps.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
            lengths.sort_unstable();
            let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
            let many = steps.len() >= 20 && median >= Duration::from_secs(10);
            if many || median >= Duration::from_secs(1000) {
                let seconds = median.as_secs_f64();
                return Err(LineError::without_line(format_args!(
                    "nothing tells the unit of the times, whose steps would be {seconds} s: --unit says \
                     it (unit in a scenario file), such as ms,Mbit/s or s,Mbit/s"
                )));
            }
        }
        Ok(())
    }

    fn describe(&self, time: TimeUnit, rate: RateUnit) -> String {
        let time_unit = if self.dated { "a date" } else { time.name };
        format!(
            "CSV with {}, time {} in {time_unit}, rate {} in {}",
            self.separator.name(),
            self.name(self.columns.time),
            self.name(self.columns.rate),
            rate.name
        )
    }

    fn name(&self, column: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(column)) {
            Some(name) => format!("{name:?}"),
            None => format!("of column {}", column + 1),
        }
    }
}

/// Returns the names that the last comment before the first line has, one for each column, a unit among them.
fn names_in_comment(
    text: &str,
    line: usize,
    separator: Separator,
    width: usize,
) -> Option<Vec<String>> {
    let above = text.lines().take(line - 1);
    let comment = above
        .filter_map(|line| line.trim().strip_prefix('#'))
        .last()?;
    let names = separator.fields(comment.trim());
    let has_unit = names.iter().any(|name| RateUnit::in_name(name).is_some());
    (names.len() == width && has_unit).then_some(names)
}
