//! Random loss and jitter.

use config::{table, take_kind};
use schemars::{JsonSchema, Schema};
use serde::de::{Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use units::Duration;

/// Loss that no queue is to blame for: a probability per packet, or the model of Gilbert and Elliott.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Loss {
    /// Each packet is lost with this probability, independently.
    Random(#[schemars(range(min = 0, max = 1))] f64),
    /// Losses in bursts.
    GilbertElliott(GilbertElliott),
}

impl Loss {
    /// Nothing is lost.
    pub const NONE: Self = Self::Random(0.0);

    /// Whether nothing is ever lost.
    pub fn is_none(&self) -> bool {
        match self {
            Self::Random(probability) => *probability == 0.0,
            Self::GilbertElliott(model) => {
                model.loss_good == 0.0 && (model.loss_bad == 0.0 || model.to_bad == 0.0)
            }
        }
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

impl<'de> Deserialize<'de> for Loss {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Alternatives;
        impl<'de> Visitor<'de> for Alternatives {
            type Value = Loss;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(
                    f,
                    "a probability or a table with kind = {GILBERT_ELLIOTT:?}"
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

table! {
    /// Delay that varies from packet to packet, on top of the propagation delay.
    pub struct Jitter {
        /// What it is drawn from; draws below zero become zero; default "normal".
        pub distribution: JitterDistribution = JitterDistribution::Normal,
        /// Mean of the additional delay; default 0s.
        pub mean: Duration,
        /// Standard deviation; default 0s. Left at 0s for "exponential", where it equals the mean.
        pub sd: Duration,
        /// Whether packets may overtake each other; default false: a packet waits for those before it.
        pub reorder: bool,
    }
}

/// What jitter is drawn from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JitterDistribution {
    /// Between mean − √3·sd and mean + √3·sd.
    Uniform,
    /// Gaussian.
    Normal,
    /// Exponential with the mean.
    Exponential,
}
