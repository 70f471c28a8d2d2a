//! Reader of canonical traces: the line `celltcp trace`, then one for each interval, its length in ns and its rate in
//! bit/s. An empty line ends a piece: time follows that was not measured.

use units::{Duration, Rate};

use super::LineError;
use crate::Steps;

/// First line of such a trace.
pub(super) const MARKER: &str = "celltcp trace";

pub(super) fn read(text: &str) -> Result<Steps, LineError> {
    let mut steps: Vec<(Duration, Rate)> = Vec::new();
    let mut pieces = vec![Duration::ZERO];
    let mut at = Duration::ZERO;
    for (index, content) in text.lines().enumerate().skip(1) {
        if content.is_empty() {
            pieces.push(at);
            continue;
        }
        let (length, rate) = content
            .split_once(' ')
            .and_then(|(length, rate)| Some((length.parse::<u64>().ok()?, rate.parse().ok()?)))
            .filter(|&(length, _)| length > 0)
            .ok_or_else(|| {
                let wanted = "a length in ns and a rate in bit/s";
                LineError::on(index + 1, format_args!("{content:?} is not {wanted}"))
            })?;
        steps.push((at, Rate::from_bits_per_second(rate)));
        at = at
            .as_nanos()
            .checked_add(length)
            .filter(|&nanos| nanos < Duration::MAX.as_nanos())
            .map(Duration::from_nanos)
            .ok_or_else(|| LineError::on(index + 1, "the trace is longer than 584 years"))?;
    }
    let steps = Steps::new(&steps, at).map_err(LineError::without_line)?;
    Ok(steps.with_pieces(pieces))
}
