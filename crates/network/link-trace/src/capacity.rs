//! Capacity: the rate of one direction of a link over time, as files of a configuration write it.

use std::path::{Path, PathBuf};

use config::{FieldContext, FieldError, Quantity, check_positive, invalid_value, reject};
use schemars::{JsonSchema, Schema, json_schema};
use serde::de::{Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use units::{Duration, Rate};

use crate::parse::with_read_options;
use crate::steps::work;
use crate::{DateOrder, Direction, Generate, Holes, ReadOptions, TraceFormat};

/// The capacity of one direction of a link, at the IP layer: one of `rate`, `steps`, `trace`,
/// `generate`; a text alone is a rate.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(into = "CapacityTable")]
#[schemars(!into, untagged, deny_unknown_fields, transform = allow_bare_rate)]
pub enum Capacity {
    /// The same all the time.
    Constant {
        /// Rate, as bit/s.
        rate: Rate,
    },
    /// One rate after another; the last one stays.
    Steps {
        /// Start and rate of each step; the first at 0s.
        steps: Vec<Step>,
    },
    /// Recorded; it repeats after its end.
    Trace(TraceFile),
    /// Drawn anew for every run.
    Generated {
        /// The stochastic link.
        generate: Generate,
    },
}

/// A rate from some time on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Since the start of the run.
    pub at: Duration,
    /// Rate from then on; 0bit/s is an outage.
    pub rate: Rate,
}

with_read_options! {
    /// A recorded capacity.
    #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub struct TraceFile {
        /// The file; a relative path counts from the directory of the scenario file.
        pub trace: String,
    }
}

impl TraceFile {
    /// Returns the trace in the file `trace`; its format is detected from name and contents.
    pub fn named(trace: &str) -> Self {
        Self {
            trace: trace.to_owned(),
            ..Self::default()
        }
    }

    /// Returns the path of the file for a scenario file in `directory`.
    pub fn path_in(&self, directory: &Path) -> PathBuf {
        directory.join(&self.trace)
    }
}

impl Capacity {
    /// Checks that values are in their ranges.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub fn check(&self) -> Result<(), FieldError> {
        match self {
            Self::Constant { rate } => check_positive("rate", *rate),
            Self::Steps { steps } => check_steps(steps).in_table("steps"),
            Self::Trace(file) if file.trace.is_empty() => {
                invalid_value("trace", "\"\"", "the name of a file")
            }
            Self::Trace(_) => Ok(()),
            Self::Generated { generate } => generate.check().in_table("generate"),
        }
    }

    /// Returns a capacity that never changes.
    pub const fn constant(rate: Rate) -> Self {
        Self::Constant { rate }
    }

    /// Returns the mean rate over the first `time` of a run; `None` for a trace, which has to be read first.
    pub fn mean_rate(&self, time: Duration) -> Option<Rate> {
        match self {
            Self::Constant { rate } => Some(*rate),
            Self::Generated { generate } => Some(generate.mean),
            Self::Trace(_) => None,
            Self::Steps { steps } => {
                let ends = steps.iter().skip(1).map(|step| step.at).chain([time]);
                let bits: u128 = steps
                    .iter()
                    .zip(ends)
                    .map(|(step, end)| {
                        let length = end.min(time).saturating_sub(step.at);
                        work(step.rate, length)
                    })
                    .sum();
                let mean = bits / u128::from(time.as_nanos().max(1));
                Some(Rate::from_bits_per_second(mean as u64))
            }
        }
    }
}

with_read_options! {
    /// Table of a capacity in a file, in which the alternatives are optional keys.
    #[derive(Clone, Default, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct CapacityTable {
        #[serde(skip_serializing_if = "Option::is_none")]
        rate: Option<Rate>,
        #[serde(skip_serializing_if = "Option::is_none")]
        steps: Option<Vec<Step>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        generate: Option<Generate>,
        #[serde(skip_serializing_if = "Option::is_none")]
        trace: Option<String>,
    }
}

impl From<Capacity> for CapacityTable {
    fn from(capacity: Capacity) -> Self {
        let mut table = Self::default();
        match capacity {
            Capacity::Constant { rate } => table.rate = Some(rate),
            Capacity::Steps { steps } => table.steps = Some(steps),
            Capacity::Generated { generate } => table.generate = Some(generate),
            Capacity::Trace(file) => {
                table = table.with_read_options(&file.read_options());
                table.trace = Some(file.trace);
            }
        }
        table
    }
}

impl CapacityTable {
    /// Returns the one alternative that is given.
    fn into_capacity<E: Error>(self) -> Result<Capacity, E> {
        let options = self.read_options();
        let has_read_options = options != ReadOptions::default();
        let mut given: Vec<Capacity> = Vec::new();
        given.extend(self.rate.map(Capacity::constant));
        given.extend(self.steps.map(|steps| Capacity::Steps { steps }));
        given
            .extend(self.trace.map(|trace| {
                Capacity::Trace(TraceFile::named(&trace).with_read_options(&options))
            }));
        given.extend(
            self.generate
                .map(|generate| Capacity::Generated { generate }),
        );
        match (given.pop(), given.is_empty(), has_read_options) {
            (Some(Capacity::Trace(file)), true, _) => Ok(Capacity::Trace(file)),
            (Some(capacity), true, false) => Ok(capacity),
            _ => Err(E::custom(
                "give exactly one of rate, steps, trace (with an optional format), generate",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Capacity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CapacityVisitor;
        impl<'de> Visitor<'de> for CapacityVisitor {
            type Value = Capacity;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "a rate or a table with rate, steps, trace or generate")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Capacity, E> {
                Rate::read(text).map(Capacity::constant).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Capacity, A::Error> {
                CapacityTable::deserialize(MapAccessDeserializer::new(map))?.into_capacity()
            }
        }
        deserializer.deserialize_any(CapacityVisitor)
    }
}

fn check_steps(steps: &[Step]) -> Result<(), FieldError> {
    match steps.first() {
        None => return reject("", "the list is empty; allowed: one step or more"),
        Some(first) if !first.at.is_zero() => {
            return invalid_value("0.at", first.at, "0s for the first step");
        }
        Some(_) => {}
    }
    for (index, pair) in steps.windows(2).enumerate() {
        if pair[1].at <= pair[0].at {
            let allowed = format!("times after the step before, {}", pair[0].at);
            return invalid_value(format!("{}.at", index + 1), pair[1].at, allowed);
        }
    }
    if steps.iter().all(|step| step.rate == Rate::ZERO) {
        return invalid_value("0.rate", "0bit/s throughout", "some rate above zero");
    }
    Ok(())
}

/// Adds to the schema that a text is a rate.
fn allow_bare_rate(schema: &mut Schema) {
    if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        let rate = json_schema!({
            "type": "string",
            "pattern": Rate::PATTERN,
            "description": "A constant rate."
        });
        alternatives.push(rate.to_value());
    }
}
