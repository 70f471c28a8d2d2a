//! Canonical traces: the line `celltcp trace`, then a line per interval with its length in ns and its rate in bit/s. An
//! empty line ends a piece: after it, time is missing that was not measured.

use core::fmt::Write;

use units::{Duration, Rate};

use super::ParseError;
use crate::Steps;

/// First line of a canonical trace.
pub(super) const MARKER: &str = "celltcp trace";

pub(super) fn read(text: &str, origin: &str) -> Result<Steps, ParseError> {
    let mut intervals: Vec<(Duration, Rate)> = Vec::new();
    let mut pieces = Vec::new();
    for (index, content) in text.lines().enumerate().skip(1) {
        if content.is_empty() {
            pieces.push(intervals.len());
            continue;
        }
        let interval = content
            .split_once(' ')
            .and_then(|(length, rate)| Some((length.parse::<u64>().ok()?, rate.parse().ok()?)))
            .filter(|&(length, _)| length > 0)
            .map(|(length, rate)| {
                (
                    Duration::from_nanos(length),
                    Rate::from_bits_per_second(rate),
                )
            })
            .ok_or_else(|| {
                let expected = "a length in ns and a rate in bit/s";
                ParseError::on(
                    origin,
                    index + 1,
                    format_args!("{content:?} is not {expected}"),
                )
            })?;
        intervals.push(interval);
    }
    Steps::from_intervals(intervals.into_iter(), &pieces)
        .map_err(|error| ParseError::for_file(origin, error))
}

/// Returns the text from which [`read`] reads the same steps.
pub(super) fn text(steps: &Steps) -> String {
    let mut result = format!("{MARKER}\n");
    let mut pieces = steps.pieces().iter().copied().skip(1).peekable();
    for (start, end, rate) in steps.iter() {
        let mut at = start;
        // A piece may begin within a step, as neighbours with one rate are one step.
        while let Some(piece) = pieces.next_if(|&piece| piece < end) {
            if piece > at {
                write_line(&mut result, piece - at, rate);
            }
            result.push('\n');
            at = piece;
        }
        write_line(&mut result, end - at, rate);
    }
    result
}

fn write_line(text: &mut String, length: Duration, rate: Rate) {
    let (nanos, bits) = (length.as_nanos(), rate.bits_per_second());
    writeln!(text, "{nanos} {bits}").expect("a string takes any text");
}
