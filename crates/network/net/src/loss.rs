//! Loss: random loss of packets that a link has transmitted.

mod error_model;
mod gilbert_elliott;
mod loss_trace;
mod packet_list;

use config::{FieldContext, FieldError, check_number, invalid_value, take_kind};
use schemars::{JsonSchema, Schema};
use serde::de::{
    Error, MapAccess, SeqAccess, Visitor,
    value::{MapAccessDeserializer, SeqAccessDeserializer},
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use units::Duration;

pub(crate) use error_model::{ErrorModel, outages};
pub use gilbert_elliott::{GilbertElliott, GilbertElliottTime};
use gilbert_elliott::{OVER_TIME, PER_PACKET};
pub use loss_trace::LossTrace;
use loss_trace::TRACE;
use packet_list::LIST;
pub use packet_list::PacketList;

/// Loss that no queue is to blame for: a probability per packet, one that changes at given times, or the model of
/// Gilbert and Elliott.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Loss {
    /// Each packet is lost with this probability, independently.
    Random(#[schemars(range(min = 0, max = 1), transform = add_percentage)] f64),
    /// Probabilities, each of which holds until the time of the next one.
    Steps(Vec<LossStep>),
    /// Losses in bursts of packets.
    GilbertElliott(GilbertElliott),
    /// Losses in bursts over time.
    GilbertElliottTime(GilbertElliottTime),
    /// Probabilities of a file.
    Trace(LossTrace),
    /// Given packets.
    List(PacketList),
}

/// Probability per packet from a time on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossStep {
    /// Since the start of the run; 0s for the first one.
    pub at: Duration,
    /// Probability then: a number or a percentage ("1%").
    #[serde(deserialize_with = "deserialize_probability")]
    #[schemars(range(min = 0, max = 1), transform = add_percentage)]
    pub loss: f64,
}

impl Loss {
    /// Nothing is lost.
    pub const NONE: Self = Self::Random(0.0);

    /// Checks that probabilities are from 0 to 1.
    pub fn check(&self) -> Result<(), FieldError> {
        match self {
            Self::Random(probability) => check_number("", *probability, 0.0, 1.0),
            Self::Steps(steps) => check_steps(steps),
            Self::GilbertElliott(model) => model.check(),
            Self::GilbertElliottTime(model) => model.check(),
            // Each line is checked when the file is read.
            Self::Trace(_) => Ok(()),
            Self::List(list) => list.check(),
        }
    }

    /// Returns the probabilities over time; empty for models without them.
    pub(crate) fn steps(&self) -> &[LossStep] {
        match self {
            Self::Steps(steps) => steps,
            Self::Trace(trace) => trace.steps(),
            _ => &[],
        }
    }

    /// Returns whether nothing is ever lost.
    pub fn is_none(&self) -> bool {
        match self {
            Self::Random(probability) => *probability == 0.0,
            Self::Steps(steps) => steps.iter().all(|step| step.loss == 0.0),
            Self::GilbertElliott(model) => model.is_none(),
            Self::GilbertElliottTime(model) => model.is_none(),
            Self::Trace(trace) => {
                let mut steps = trace.steps().iter();
                !trace.steps().is_empty() && steps.all(|step| step.loss == 0.0)
            }
            Self::List(list) => list.packets.is_empty(),
        }
    }

    /// Returns whether losses differ from run to run.
    pub fn is_random(&self) -> bool {
        !matches!(self, Self::List(_)) && !self.is_none()
    }
}

fn check_steps(steps: &[LossStep]) -> Result<(), FieldError> {
    if steps.is_empty() {
        return invalid_value("", "[]", "at least one step (at, loss)");
    }
    let mut before = None;
    for (index, step) in steps.iter().enumerate() {
        let violated = match before {
            None if step.at.is_zero() => None,
            None => Some("0s for the first step".to_owned()),
            Some(at) if step.at > at => None,
            Some(at) => Some(format!("more than {at}, the time of the step before")),
        };
        if let Some(allowed) = violated {
            return invalid_value(format!("{index}.at"), step.at.to_string(), allowed);
        }
        check_number("loss", step.loss, 0.0, 1.0).in_table(index)?;
        before = Some(step.at);
    }
    Ok(())
}

impl Default for Loss {
    fn default() -> Self {
        Self::NONE
    }
}

/// Adds to the schema that a probability may be a text with a percentage.
fn add_percentage(schema: &mut Schema) {
    let description = schema.remove("description");
    let number = schema.clone().to_value();
    let percent = json!({"type": "string", "pattern": r"^\s*[0-9.+eE-]+\s*%\s*$"});
    *schema = schemars::json_schema!({ "anyOf": [number, percent] });
    if let Some(description) = description {
        schema.insert("description".to_owned(), description);
    }
}

impl<'de> Deserialize<'de> for Loss {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Alternatives;
        impl<'de> Visitor<'de> for Alternatives {
            type Value = Loss;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(
                    f,
                    "a probability such as 0.01 or \"1%\", a list of steps (at, loss), or a table with kind = \
                     {PER_PACKET:?}, {OVER_TIME:?}, {TRACE:?} or {LIST:?}"
                )
            }

            fn visit_f64<E: Error>(self, probability: f64) -> Result<Loss, E> {
                Ok(Loss::Random(probability))
            }

            fn visit_i64<E: Error>(self, probability: i64) -> Result<Loss, E> {
                self.visit_f64(probability as f64)
            }

            fn visit_u64<E: Error>(self, probability: u64) -> Result<Loss, E> {
                self.visit_f64(probability as f64)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Loss, E> {
                match parse_percentage(text) {
                    Some(probability) => self.visit_f64(probability),
                    None => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, steps: A) -> Result<Loss, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(steps)).map(Loss::Steps)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loss, A::Error> {
                let kind = take_kind(&mut map)?;
                let fields = MapAccessDeserializer::new(map);
                match kind.as_str() {
                    PER_PACKET => GilbertElliott::deserialize(fields).map(Loss::GilbertElliott),
                    OVER_TIME => {
                        GilbertElliottTime::deserialize(fields).map(Loss::GilbertElliottTime)
                    }
                    TRACE => LossTrace::deserialize(fields).map(Loss::Trace),
                    LIST => PacketList::deserialize(fields).map(Loss::List),
                    other => Err(A::Error::unknown_variant(
                        other,
                        &[PER_PACKET, OVER_TIME, TRACE, LIST],
                    )),
                }
            }
        }
        deserializer.deserialize_any(Alternatives)
    }
}

/// Returns the probability of a text such as `2%`.
fn parse_percentage(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?.trim();
    number.parse::<f64>().ok().map(|percent| percent / 100.0)
}

/// Reads a probability as a number or a percentage.
fn deserialize_probability<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    match Loss::deserialize(deserializer)? {
        Loss::Random(probability) => Ok(probability),
        _ => Err(D::Error::custom(
            "expected a probability such as 0.01 or \"1%\"",
        )),
    }
}
