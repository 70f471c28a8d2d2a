//! Readers of the formats that the engine has itself: mahimahi's files and canonical traces.

mod canonical;
mod mahimahi;
mod read_options;

pub(crate) use read_options::with_read_options;
pub use read_options::{DateOrder, Holes, ReadOptions, TraceFormat};

use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Trace;

/// Direction of a link, seen from the phone.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
pub enum Direction {
    /// Towards the phone.
    #[serde(rename = "down")]
    Downlink,
    /// From the phone.
    #[serde(rename = "up")]
    Uplink,
}

impl Direction {
    /// Returns the name of the direction in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Downlink => "down",
            Self::Uplink => "up",
        }
    }
}

/// Returns whether the file called `name`, which begins with `head`, is a canonical trace or a file of mahimahi.
///
/// A file of mahimahi has integers only. If it is named like one, a number in its first line is enough. So errors in
/// later lines are reported with their line numbers.
pub fn is_own_format(name: &str, head: &str) -> bool {
    const CHECKED_LINES: usize = 100;
    if head.lines().next() == Some(canonical::MARKER) {
        return true;
    }
    let whole_lines = head.rfind('\n').map_or(head, |end| &head[..end]);
    let mut first = lines(whole_lines)
        .map(|(_, line)| line)
        .take(CHECKED_LINES)
        .peekable();
    let Some(line) = first.peek() else {
        return false;
    };
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let is_named = name.ends_with(".down") || name.ends_with(".up");
    is_named && line.parse::<f64>().is_ok()
        || first.all(|line| line.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reads the trace in the `text` of a file named `origin`: a canonical one, or else a file of mahimahi.
///
/// # Errors
/// If the file is neither.
pub fn read(text: &str, origin: &str) -> Result<Trace, ParseError> {
    if text.lines().next() == Some(canonical::MARKER) {
        canonical::read(text, origin).map(Trace::from)
    } else {
        mahimahi::read(text, origin).map(Trace::from)
    }
}

impl Trace {
    /// Returns the text from which [`read`] reads the same trace, in one of the engine's own formats.
    pub fn text(&self) -> String {
        match self {
            Self::Opportunities(opportunities) => mahimahi::text(opportunities),
            Self::Steps(steps) => canonical::text(steps),
        }
    }
}

/// Error about a text that is no trace: `FILE:LINE: message`, or `FILE: message` if the file as a whole is wrong.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(String);

impl ParseError {
    /// Returns the error about a line of the file called `origin`, counted from one.
    pub fn on(origin: &str, line: usize, message: impl fmt::Display) -> Self {
        Self(format!("{origin}:{line}: {message}"))
    }

    /// Returns the error about a file called `origin` as a whole.
    pub fn for_file(origin: &str, message: impl fmt::Display) -> Self {
        Self(format!("{origin}: {message}"))
    }
}

/// Returns number, from one, and trimmed text of each line that is neither empty nor a comment.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.trim_start_matches('\u{feff}').lines().enumerate();
    numbered
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::{Duration, Rate};

    use super::*;
    use crate::{Opportunities, Steps};

    fn message(text: &str) -> String {
        read(text, "f").unwrap_err().to_string()
    }

    #[test]
    fn own_formats_are_known_by_their_lines() {
        for (name, head, expected) in [
            ("a.up.gz", "0\nx\n", true),
            ("a.down", "rate\n12\n", false),
            ("a", "0\n12\n", true),
            ("a", "# saturated\n12\n12\n", true),
            ("a", "celltcp trace\n5 7\n", true),
            ("a", "time,Mbit/s\n0,1\n", false),
            ("a", "12\n0.5\n", false),
            ("a", "0 1\n", false),
            ("a", "", false),
        ] {
            assert_eq!(is_own_format(name, head), expected, "{name}: {head:?}");
        }
    }

    #[test]
    fn mistakes_are_named_with_file_and_line() {
        assert_eq!(
            message(""),
            "f: no delivery opportunity: at least one is needed"
        );
        assert_eq!(
            message("1\n2.5\n"),
            "f:2: \"2.5\" is not a time in whole milliseconds from 0 to 4294967295"
        );
        assert_eq!(
            message("1\n\n7\n3\n"),
            "f:4: 3 ms comes after 7 ms: times must not decrease; --step 1s reads lines as rates of 1 s (step in a \
             scenario file)"
        );
        assert_eq!(
            message("0\n0\n"),
            "f: the last opportunity is at 0 ms: a trace must last at least 1 ms"
        );
        assert_eq!(
            message("celltcp trace\n10 x\n"),
            "f:2: \"10 x\" is not a length in ns and a rate in bit/s"
        );
        assert_eq!(
            message("celltcp trace\n10 0\n"),
            "f: the rate is zero all the time: nothing would ever pass"
        );
    }

    #[test]
    fn a_canonical_trace_has_pieces() {
        let text = "celltcp trace\n1000000000 8000000\n1000000000 0\n\n2000000000 4000000\n";
        let trace = read(text, "f").unwrap();
        assert_eq!(trace.period(), Duration::from_secs(4));
        assert_eq!(trace.mean_rate().as_mbps(), 4.0);
        assert_eq!(trace.pieces(), [Duration::ZERO, Duration::from_secs(2)]);
    }

    proptest! {
        #[test]
        fn the_text_of_a_trace_is_read_as_the_trace(
            intervals in prop::collection::vec((1_u64..4, 0_u64..3, any::<bool>()), 1..20),
            mut times in prop::collection::vec(0_u32..100, 1..10),
        ) {
            let pieces: Vec<usize> = (1..intervals.len()).filter(|&index| intervals[index].2).collect();
            let lengths = intervals.iter().map(|&(length, rate, _)| {
                (Duration::from_nanos(length), Rate::from_bits_per_second(rate))
            });
            let steps = Steps::from_intervals(lengths, &pieces);
            times.sort_unstable();
            *times.last_mut().unwrap() += 1;
            let traces = [steps.map(Trace::from).ok(), Some(Opportunities::new(times).unwrap().into())];
            for trace in traces.into_iter().flatten() {
                prop_assert_eq!(read(&trace.text(), "f").unwrap(), trace);
            }
        }
    }
}
