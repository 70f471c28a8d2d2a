//! Loss: random loss of packets that a link has transmitted.

use config::{FieldError, number, take_kind};
use schemars::{JsonSchema, Schema};
use serde::de::{Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use units::random::{Purpose, RngStream};

use crate::LinkId;

/// Loss that no queue is to blame for: a probability per packet, or the model of Gilbert and Elliott.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Loss {
    /// Each packet is lost with this probability, independently.
    Random(#[schemars(range(min = 0, max = 1), transform = or_percent)] f64),
    /// Losses in bursts.
    GilbertElliott(GilbertElliott),
}

impl Loss {
    /// Nothing is lost.
    pub const NONE: Self = Self::Random(0.0);

    /// Checks that probabilities are from 0 to 1.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn check(&self) -> Result<(), FieldError> {
        match self {
            Self::Random(probability) => number("", *probability, 0.0, 1.0),
            Self::GilbertElliott(model) => {
                number("to_bad", model.to_bad, 0.0, 1.0)?;
                number("to_good", model.to_good, 0.0, 1.0)?;
                number("loss_good", model.loss_good, 0.0, 1.0)?;
                number("loss_bad", model.loss_bad, 0.0, 1.0)
            }
        }
    }

    /// Returns whether nothing is ever lost.
    pub fn is_none(&self) -> bool {
        match self {
            Self::Random(probability) => *probability == 0.0,
            Self::GilbertElliott(model) => {
                model.loss_good == 0.0 && (model.loss_bad == 0.0 || model.to_bad == 0.0)
            }
        }
    }
}

impl Default for Loss {
    fn default() -> Self {
        Self::NONE
    }
}

/// The model of Gilbert and Elliott: a good and a bad state, each with its loss. It starts in the good
/// one and may change before every packet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename = "gilbert-elliott", deny_unknown_fields)]
#[schemars(rename = "GilbertElliott", transform = with_kind)]
pub struct GilbertElliott {
    /// Probability per packet to go from good to bad; compulsory.
    #[schemars(range(min = 0, max = 1))]
    pub to_bad: f64,
    /// Probability per packet to go from bad to good; compulsory.
    #[schemars(range(min = 0, max = 1))]
    pub to_good: f64,
    /// Loss probability in the good state; default 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub loss_good: f64,
    /// Loss probability in the bad state; default 1.
    #[serde(default = "certain")]
    #[schemars(range(min = 0, max = 1))]
    pub loss_bad: f64,
}

fn certain() -> f64 {
    1.0
}

/// Adds the tag to the schema.
fn with_kind(schema: &mut Schema) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.shift_insert(0, "kind".to_owned(), json!({ "const": GILBERT_ELLIOTT }));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.insert(0, json!("kind"));
    }
}

const GILBERT_ELLIOTT: &str = "gilbert-elliott";

/// Adds to the schema that a probability may be a text with a percentage.
fn or_percent(schema: &mut Schema) {
    let number = schema.clone().to_value();
    let percent = json!({"type": "string", "pattern": r"^\s*[0-9.+eE-]+\s*%\s*$"});
    *schema = schemars::json_schema!({ "anyOf": [number, percent] });
}

impl<'de> Deserialize<'de> for Loss {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Alternatives;
        impl<'de> Visitor<'de> for Alternatives {
            type Value = Loss;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(
                    f,
                    "a probability such as 0.01 or \"1%\", or a table with kind = {GILBERT_ELLIOTT:?}"
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
                let percent = text.trim().strip_suffix('%').map(str::trim);
                match percent.and_then(|number| number.parse::<f64>().ok()) {
                    Some(percent) => self.visit_f64(percent / 100.0),
                    None => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loss, A::Error> {
                match take_kind(&mut map)?.as_str() {
                    GILBERT_ELLIOTT => GilbertElliott::deserialize(MapAccessDeserializer::new(map))
                        .map(Loss::GilbertElliott),
                    other => Err(A::Error::unknown_variant(other, &[GILBERT_ELLIOTT])),
                }
            }
        }
        deserializer.deserialize_any(Alternatives)
    }
}

/// Loss process with a fixed number of draws per packet.
pub(crate) struct ErrorModel {
    loss: Loss,
    draws: RngStream,
    bad: bool,
}

impl ErrorModel {
    pub(crate) fn new(loss: Loss, seed: u64, link: LinkId) -> Self {
        Self {
            loss,
            draws: RngStream::new(seed, Purpose::Loss, link.0),
            bad: false,
        }
    }

    /// Returns whether the next packet is lost.
    pub(crate) fn is_lost(&mut self) -> bool {
        match self.loss {
            Loss::Random(probability) => probability > 0.0 && self.draws.uniform() < probability,
            Loss::GilbertElliott(ref model) => {
                let change = self.draws.uniform();
                self.bad = if self.bad {
                    change >= model.to_good
                } else {
                    change < model.to_bad
                };
                let loss = if self.bad {
                    model.loss_bad
                } else {
                    model.loss_good
                };
                self.draws.uniform() < loss
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(loss: Loss) -> Vec<bool> {
        let mut lottery = ErrorModel::new(loss, 1, LinkId(0));
        (0..400_000).map(|_| lottery.is_lost()).collect()
    }

    fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|lost| **lost).count() as f64 / losses.len() as f64
    }

    #[test]
    fn independent_losses_have_their_probability() {
        let result = share(&losses(Loss::Random(0.02)));
        assert!((result - 0.02).abs() < 0.001, "{result}");
        assert_eq!(share(&losses(Loss::NONE)), 0.0);
    }

    #[test]
    fn gilbert_losses_come_in_bursts_of_mean_one_over_r() {
        let (p, r) = (0.005, 0.25);
        let losses = losses(Loss::GilbertElliott(GilbertElliott {
            to_bad: p,
            to_good: r,
            loss_good: 0.0,
            loss_bad: 1.0,
        }));
        let expected = p / (p + r);
        let result = share(&losses);
        assert!(
            (result / expected - 1.0).abs() < 0.06,
            "{result} instead of {expected}"
        );
        let bursts = losses.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let length = result * losses.len() as f64 / bursts as f64;
        assert!((length - 4.0).abs() < 0.2, "mean burst of {length}");
    }

    #[test]
    fn elliott_losses_happen_in_both_states() {
        let (p, r, loss_good, loss_bad) = (0.1, 0.3, 0.01, 0.5);
        let result = share(&losses(Loss::GilbertElliott(GilbertElliott {
            to_bad: p,
            to_good: r,
            loss_good,
            loss_bad,
        })));
        let expected = 0.75 * loss_good + 0.25 * loss_bad;
        assert!(
            (result / expected - 1.0).abs() < 0.03,
            "{result} instead of {expected}"
        );
    }
}
