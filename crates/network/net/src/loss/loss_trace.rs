//! Loss trace: a file with the loss of a link over time.

use config::{FieldError, check_number};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use units::Duration;

use super::gilbert_elliott::tag;
use super::{LossStep, parse_percentage};

pub(super) const TRACE: &str = "trace";

/// Loss that a file has: lines of a time in seconds and the probability from then on, such as `12.5,0.02` or `12.5,2%`.
/// The last one holds until the end. A first line of names, and lines that begin with a number sign, are skipped.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename = "trace", deny_unknown_fields)]
#[schemars(rename = "LossTrace", transform = tagged)]
pub struct LossTrace {
    /// The file, relative to that of the scenario; compulsory.
    pub file: String,
    /// Its lines; empty before it has been read.
    #[serde(skip)]
    steps: Vec<LossStep>,
}

impl LossTrace {
    /// Reads the file. `read` returns the path for error messages, and the text.
    ///
    /// # Errors
    /// If it cannot be read, or a line is wrong; the error has its number.
    pub fn load(
        &mut self,
        read: impl FnOnce(&str) -> Result<(String, String), FieldError>,
    ) -> Result<(), FieldError> {
        let (path, text) = read(&self.file)?;
        self.steps = parse(&text).map_err(|(line, error)| {
            FieldError::new("", format_args!("{path}: line {line}: {error}"))
        })?;
        if self.steps.is_empty() {
            let message = format!("{path}: has no line with a time and a loss, such as 12.5,0.02");
            return Err(FieldError::new("", message));
        }
        Ok(())
    }

    /// Returns the probabilities, the first from the start of the run on; none before the file has been read.
    pub fn steps(&self) -> &[LossStep] {
        &self.steps
    }
}

/// Returns the steps of a text.
///
/// # Errors
/// The number of the first wrong line, and what is wrong with it.
fn parse(text: &str) -> Result<Vec<LossStep>, (usize, String)> {
    let mut steps: Vec<LossStep> = Vec::new();
    let mut is_first = true;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim().trim_start_matches('\u{feff}');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let may_be_header = core::mem::replace(&mut is_first, false);
        if may_be_header && split_fields(line).all(|field| parse_loss(field).is_none()) {
            continue;
        }
        let step = parse_step(line).map_err(|error| (index + 1, error))?;
        match steps.last() {
            Some(last) if step.at <= last.at => {
                let (at, before) = (step.at, last.at);
                return Err((
                    index + 1,
                    format!("{at} is not after {before}, the time before"),
                ));
            }
            None if !step.at.is_zero() => steps.push(LossStep {
                at: Duration::ZERO,
                loss: 0.0,
            }),
            _ => {}
        }
        steps.push(step);
    }
    Ok(steps)
}

fn split_fields(line: &str) -> impl Iterator<Item = &str> {
    line.split([',', ';', '\t', ' '])
        .map(|field| field.trim_matches('"'))
        .filter(|field| !field.is_empty())
}

/// Parses a probability as a number or a percentage.
fn parse_loss(field: &str) -> Option<f64> {
    field.parse().ok().or_else(|| parse_percentage(field))
}

fn parse_step(line: &str) -> Result<LossStep, String> {
    let malformed =
        || format!("{line:?} is not a time in s and a loss, such as 12.5,0.02 or 12.5,2%");
    let mut fields = split_fields(line);
    let (Some(time), Some(loss), None) = (fields.next(), fields.next(), fields.next()) else {
        return Err(malformed());
    };
    let seconds = time
        .parse::<f64>()
        .ok()
        .filter(|time| (0.0..1e9).contains(time));
    let (Some(seconds), Some(loss)) = (seconds, parse_loss(loss)) else {
        return Err(malformed());
    };
    check_number("loss", loss, 0.0, 1.0).map_err(|error| error.to_string())?;
    Ok(LossStep {
        at: Duration::from_nanos((seconds * 1e9).round() as u64),
        loss,
    })
}

fn tagged(schema: &mut Schema) {
    tag(schema, TRACE);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(u64, f64)>, String> {
        let mut trace = LossTrace {
            file: "loss.csv".to_owned(),
            steps: Vec::new(),
        };
        let loaded = trace.load(|name| Ok((format!("folder/{name}"), text.to_owned())));
        loaded.map_err(|error| error.to_string())?;
        let steps = trace.steps().iter();
        Ok(steps.map(|step| (step.at.as_millis(), step.loss)).collect())
    }

    #[test]
    fn lines_have_times_and_shares_or_percentages() {
        let text = "time_s,loss\n# a tunnel\n0,0.01\n2.5,100%\n\n3;0\n";
        assert_eq!(read(text), Ok(vec![(0, 0.01), (2_500, 1.0), (3_000, 0.0)]));
        assert_eq!(
            read("4 2%"),
            Ok(vec![(0, 0.0), (4_000, 0.02)]),
            "nothing is lost before"
        );
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, part) in [
            ("", "folder/loss.csv: has no line"),
            ("0,0\n1,2", "folder/loss.csv: line 2: loss"),
            ("0,0\nx,1", "line 2: \"x,1\" is not a time"),
            ("0,0,1", "line 1: \"0,0,1\" is not a time"),
            ("1,0\n1,0.5", "line 2: 1s is not after 1s"),
            ("-1,0\n2,0", "line 1: \"-1,0\" is not a time"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(part), "{error} lacks {part}");
        }
    }
}
