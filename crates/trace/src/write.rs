//! Writers of trace files.

use core::fmt::{self, Write};

use units::{Duration, Instant, Rate};

use crate::{OPPORTUNITY, Trace, WORK_PER_BYTE};

/// Writes one opportunity per line, as mahimahi reads it.
///
/// A rate becomes an opportunity in each millisecond in which it has carried another 1500 bytes. The trace of
/// mahimahi ends with its last opportunity, so the rest of the period after it is lost.
///
/// # Errors
/// Those of `out`.
pub fn write_mahimahi(trace: &Trace, out: &mut impl Write) -> fmt::Result {
    match trace {
        Trace::Opportunities(opportunities) => opportunities
            .as_millis()
            .iter()
            .try_for_each(|at| writeln!(out, "{at}")),
        Trace::Steps(steps) => {
            let mut written = 0;
            let opportunity = u128::from(OPPORTUNITY.get() * WORK_PER_BYTE);
            for at in 1..=steps.period().as_millis() {
                let until = Instant::ZERO + Duration::from_millis(at);
                let carried = steps.cumulative(until) / opportunity;
                while written < carried {
                    writeln!(out, "{at}")?;
                    written += 1;
                }
            }
            Ok(())
        }
    }
}

/// Writes `time,Mbit/s` with a line per change of the rate; opportunities are counted per second.
///
/// By the rule of the reader, the last line holds as long as the one before it. The last step is therefore written in
/// two halves unless it is that long already.
///
/// # Errors
/// Those of `out`.
pub fn write_csv(trace: &Trace, out: &mut impl Write) -> fmt::Result {
    writeln!(out, "time,Mbit/s")?;
    match trace {
        Trace::Opportunities(opportunities) => {
            let second = Duration::from_secs(1);
            let series = trace.rate_series(second);
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
    let implied = match steps {
        [.., (before, _), _] => last - *before,
        _ => Duration::from_secs(1),
    };
    if length == implied {
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

/// Writes `whole.fraction` without trailing zeros.
fn decimal(whole: u64, fraction: u64, digits: usize) -> String {
    let text = format!("{whole}.{fraction:0digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Opportunities, ParseError, Reading, Steps, read};
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Trace, ParseError> {
        let found = read(text, "f", &Reading::default(), Direction::Downlink);
        found.map(|recording| recording.trace)
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
        assert_eq!(mahimahi(&parse(text).unwrap()), text);
    }

    #[test]
    fn a_rate_of_twelve_megabits_is_an_opportunity_per_millisecond() {
        let steps = Steps::constant(Rate::from_mbps(12.0), Duration::from_millis(4)).unwrap();
        assert_eq!(mahimahi(&steps.into()), "1\n2\n3\n4\n");
    }

    #[test]
    fn opportunities_become_a_rate_per_second() {
        let trace = Opportunities::new(vec![10, 20, 1_500, 2_000])
            .unwrap()
            .into();
        assert_eq!(csv(&trace), "time,Mbit/s\n0,0.024\n1,0.024\n");
    }

    proptest! {
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
            prop_assert_eq!(parse(&csv(&trace)).unwrap(), trace);
        }
    }
}
