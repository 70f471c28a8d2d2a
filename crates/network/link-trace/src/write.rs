//! Writers of trace files.

use core::fmt::{self, Write};

use units::{Duration, Instant, Rate};

use crate::steps::work;
use crate::{OPPORTUNITY, Trace, WORK_PER_BYTE};

const NANOS_PER_MILLI: u128 = 1_000_000;

/// Maximum number of lines of a mahimahi file that is written: some 2 GB of text, a day at 25 Mbit/s.
pub const MAX_LINES: u64 = 200_000_000;

/// Latest time that mahimahi's files can have, ms.
const MAX_MILLIS: u64 = u32::MAX as u64;

/// Error of writing a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WriteError {
    /// The file would have too many lines.
    #[error(
        "the trace would have {0} lines in mahimahi's format, one for each 1500 bytes; allowed: up to {MAX_LINES}. \
         CSV has a line for each change of the rate: choose a name that ends in .csv"
    )]
    Lines(u64),
    /// The trace lasts longer than the format can represent.
    #[error(
        "the trace lasts {0}, but times of mahimahi's format end at {MAX_MILLIS} ms, 49 days: choose a name that \
         ends in .csv"
    )]
    Length(Duration),
    /// The output has rejected the text.
    #[error("the text cannot be written")]
    Output(#[from] fmt::Error),
}

impl Trace {
    /// Returns the number of lines of the trace in mahimahi's format, at most [`u64::MAX`].
    pub fn mahimahi_lines(&self) -> u64 {
        match self {
            Self::Opportunities(opportunities) => opportunities.times_ms().len() as u64,
            Self::Steps(steps) => {
                let end = Instant::ZERO + Duration::from_millis(steps.period().as_millis());
                u64::try_from(steps.cumulative(end) / WORK_PER_OPPORTUNITY).unwrap_or(u64::MAX)
            }
        }
    }
}

/// Work of one opportunity, in (bit/s)·ns.
const WORK_PER_OPPORTUNITY: u128 = (OPPORTUNITY.get() * WORK_PER_BYTE) as u128;

/// Writes one opportunity per line, as mahimahi reads it.
///
/// A rate becomes an opportunity in each millisecond in which it has carried another 1500 bytes. The trace of
/// mahimahi ends with its last opportunity, so the rest of the period after it is lost.
///
/// # Errors
/// If the trace lasts too long for the format, or would have more than [`MAX_LINES`] lines; those of `out`.
pub fn write_mahimahi(trace: &Trace, out: &mut impl Write) -> Result<(), WriteError> {
    if trace.period().as_millis() > MAX_MILLIS {
        return Err(WriteError::Length(trace.period()));
    }
    let lines = trace.mahimahi_lines();
    if lines > MAX_LINES {
        return Err(WriteError::Lines(lines));
    }
    match trace {
        Trace::Opportunities(opportunities) => {
            for at in opportunities.times_ms() {
                writeln!(out, "{at}")?;
            }
        }
        Trace::Steps(steps) => {
            let (mut written, mut carried) = (0, 0);
            for (start, end, rate) in steps.iter() {
                let bits = u128::from(rate.bits_per_second());
                let carried_at_end = carried + work(rate, end - start);
                while written < lines
                    && (u128::from(written) + 1) * WORK_PER_OPPORTUNITY <= carried_at_end
                {
                    let work = (u128::from(written) + 1) * WORK_PER_OPPORTUNITY - carried;
                    let at = u128::from(start.as_nanos()) + work.div_ceil(bits);
                    writeln!(out, "{}", at.div_ceil(NANOS_PER_MILLI))?;
                    written += 1;
                }
                carried = carried_at_end;
            }
        }
    }
    Ok(())
}

/// Writes `time,Mbit/s` with a line per change of the rate; opportunities are counted per second.
///
/// Readers assume that the last line holds as long as the line before it. So the last step is written in two halves,
/// unless it is as long as the step before it.
///
/// # Errors
/// Those of `out`.
pub fn write_csv(trace: &Trace, out: &mut impl Write) -> fmt::Result {
    writeln!(out, "time,Mbit/s")?;
    match trace {
        Trace::Opportunities(opportunities) => {
            let second = Duration::from_secs(1);
            let series = trace.rate_series(second);
            let series = series.expect("32 bits of milliseconds have fewer seconds than bins");
            let steps: Vec<_> = (0..)
                .map(|index| second * index)
                .zip(series.iter().copied())
                .collect();
            write_steps(steps.as_slice(), opportunities.period(), out)
        }
        Trace::Steps(steps) => {
            let starts: Vec<_> = steps.iter().map(|(start, _, rate)| (start, rate)).collect();
            write_steps(&starts, steps.period(), out)
        }
    }
}

fn write_steps(steps: &[(Duration, Rate)], period: Duration, out: &mut impl Write) -> fmt::Result {
    for &(start, rate) in steps {
        write_line(start, rate, out)?;
    }
    let Some(&(last, rate)) = steps.last() else {
        return Ok(());
    };
    let length = period - last;
    let assumed_length = match steps {
        [.., (before, _), _] => last - *before,
        _ => Duration::from_secs(1),
    };
    if length == assumed_length {
        return Ok(());
    }
    let odd = Duration::from_nanos(length.as_nanos() % 2);
    let half = (length - odd) / 2;
    if !odd.is_zero() {
        write_line(last + odd, rate, out)?;
    }
    write_line(last + odd + half, rate, out)
}

fn write_line(at: Duration, rate: Rate, out: &mut impl Write) -> fmt::Result {
    let (at, bits) = (at.as_nanos(), rate.bits_per_second());
    let time = decimal(at / 1_000_000_000, at % 1_000_000_000, 9);
    let mbps = decimal(bits / 1_000_000, bits % 1_000_000, 6);
    writeln!(out, "{time},{mbps}")
}

/// Returns `whole.fraction` without trailing zeros.
fn decimal(whole: u64, fraction: u64, digits: usize) -> String {
    let text = format!("{whole}.{fraction:0digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Opportunities, Steps, read};
    use proptest::prelude::*;

    /// Reads a table as written: each rate holds until the next line, the last one as long as the one before it.
    fn table(text: &str) -> Steps {
        let number = |text: &str| text.parse::<f64>().unwrap();
        let rows = text.lines().skip(1).map(|line| {
            let (time, rate) = line.split_once(',').unwrap();
            let at = Duration::from_nanos((number(time) * 1e9).round() as u64);
            let rate = Rate::from_bits_per_second((number(rate) * 1e6).round() as u64);
            (at, rate)
        });
        let steps: Vec<_> = rows.collect();
        let length = match steps.as_slice() {
            [.., (before, _), (last, _)] => *last - *before,
            _ => Duration::from_secs(1),
        };
        Steps::new(&steps, steps[steps.len() - 1].0 + length).unwrap()
    }

    fn csv(trace: &Trace) -> String {
        let mut text = String::new();
        write_csv(trace, &mut text).unwrap();
        text
    }

    fn mahimahi(trace: &Trace) -> String {
        let mut text = String::new();
        write_mahimahi(trace, &mut text).unwrap();
        text
    }

    #[test]
    fn opportunities_are_written_as_they_were_read() {
        let text = "0\n3\n3\n10\n";
        assert_eq!(mahimahi(&read(text, "f").unwrap()), text);
    }

    #[test]
    fn a_rate_of_twelve_megabits_is_an_opportunity_per_millisecond() {
        let steps = Steps::new(
            &[(Duration::ZERO, Rate::from_mbps(12.0))],
            Duration::from_millis(4),
        )
        .unwrap();
        assert_eq!(mahimahi(&steps.into()), "1\n2\n3\n4\n");
    }

    #[test]
    fn traces_that_the_format_cannot_hold_are_rejected() {
        let rejected = |mbps: f64, seconds: u64| {
            let steps = Steps::new(
                &[(Duration::ZERO, Rate::from_mbps(mbps))],
                Duration::from_secs(seconds),
            );
            let error = write_mahimahi(&steps.unwrap().into(), &mut String::new()).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            rejected(12.0, 1 << 31),
            "the trace lasts 2147483648s, but times of mahimahi's format end at 4294967295 ms, 49 days: choose a name \
             that ends in .csv"
        );
        assert!(rejected(1e6, 86_400).starts_with("the trace would have 7200000000000 lines"));
    }

    #[test]
    fn opportunities_become_a_rate_per_second() {
        let trace = Opportunities::new(vec![10, 20, 1_500, 2_000])
            .unwrap()
            .into();
        assert_eq!(csv(&trace), "time,Mbit/s\n0,0.024\n1,0.024\n");
    }

    /// The lines of a rate, millisecond by millisecond.
    fn by_milliseconds(steps: &Steps) -> String {
        let (mut text, mut written) = (String::new(), 0);
        for at in 1..=steps.period().as_millis() {
            let until = Instant::ZERO + Duration::from_millis(at);
            while written < steps.cumulative(until) / WORK_PER_OPPORTUNITY {
                text += &format!("{at}\n");
                written += 1;
            }
        }
        text
    }

    proptest! {
        #[test]
        fn an_opportunity_is_written_in_the_millisecond_that_completes_it(
            lengths in prop::collection::vec((1_u64..900_000_000, 0_u64..40_000_000), 1..12)
        ) {
            prop_assume!(lengths.iter().any(|&(_, bits)| bits > 0));
            let mut at = Duration::ZERO;
            let mut steps = Vec::new();
            for (length, bits) in lengths {
                steps.push((at, Rate::from_bits_per_second(bits)));
                at += Duration::from_nanos(length);
            }
            let steps = Steps::new(&steps, at).unwrap();
            let expected = by_milliseconds(&steps);
            prop_assert_eq!(mahimahi(&steps.into()), expected);
        }

        #[test]
        fn steps_written_as_csv_read_back_the_same(
            lengths in prop::collection::vec((1_u64..5_000_000_000, 0_u64..90_000_000), 1..12)
        ) {
            prop_assume!(lengths.iter().any(|&(_, bits)| bits > 0));
            let mut at = Duration::ZERO;
            let mut steps = Vec::new();
            for (length, bits) in lengths {
                steps.push((at, Rate::from_bits_per_second(bits)));
                at += Duration::from_nanos(length + 2);
            }
            let trace = Trace::Steps(Steps::new(&steps, at).unwrap());
            prop_assert_eq!(Trace::Steps(table(&csv(&trace))), trace);
        }
    }
}
