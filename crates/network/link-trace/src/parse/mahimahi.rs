//! Reader of mahimahi's `.down` and `.up` files: one delivery opportunity of 1500 bytes per line, in whole
//! milliseconds from the start. The list repeats after the last one.

use core::fmt::Write;

use super::{ParseError, lines};
use crate::Opportunities;

pub(super) fn read(text: &str, origin: &str) -> Result<Opportunities, ParseError> {
    let mut at_ms = Vec::with_capacity(text.len() / 6);
    for (line, content) in lines(text) {
        let at: u32 = content.parse().map_err(|_| {
            let expected = format!("a time in whole milliseconds from 0 to {}", u32::MAX);
            ParseError::on(origin, line, format_args!("{content:?} is not {expected}"))
        })?;
        if let Some(&before) = at_ms.last().filter(|&&before| at < before) {
            return Err(ParseError::on(
                origin,
                line,
                format_args!(
                    "{at} ms comes after {before} ms: times must not decrease; --step 1s reads lines as rates of 1 s \
                     (step in a scenario file)"
                ),
            ));
        }
        at_ms.push(at);
    }
    Opportunities::new(at_ms).map_err(|error| ParseError::for_file(origin, error))
}

/// Returns the text from which [`read`] reads the same opportunities.
pub(super) fn text(opportunities: &Opportunities) -> String {
    let mut result = String::new();
    for at in opportunities.times_ms() {
        writeln!(result, "{at}").expect("a string takes any text");
    }
    result
}
