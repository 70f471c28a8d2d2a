//! Mean SINR over time.

use config::Quantity;
use schemars::{JsonSchema, Schema, json_schema};
use serde::de::{
    Error, MapAccess, SeqAccess, Visitor,
    value::{MapAccessDeserializer, SeqAccessDeserializer},
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use units::{Decibel, Duration};

/// Mean SINR of the downlink over time, around which fast fading moves: a ratio ("20dB"), a list of points
/// with straight lines between them, a trace, or a phone's log.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(transform = allow_bare_ratio)]
pub enum Sinr {
    /// The same all the time.
    #[schemars(skip)]
    Constant(Decibel),
    /// Points with straight lines between them; the last one stays.
    Points(Vec<SinrPoint>),
    /// A file with lines of seconds and dB.
    Trace(SinrTrace),
    /// The SNR that a phone logged.
    PhoneLog(SinrLog),
}

/// SINR of a UE if nothing is given.
pub(super) static DEFAULT: Sinr = Sinr::Constant(Decibel::new(20.0));

/// SINR at a time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SinrPoint {
    /// Since the start of the run; 0s for the first one.
    pub at: Duration,
    /// SINR then.
    pub sinr: Decibel,
}

/// A recorded SINR with straight lines between its points; the last one stays.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SinrTrace {
    /// The file, with lines of seconds and dB; a relative path counts from the directory of the scenario
    /// file.
    pub trace: String,
    /// Longest time between two points; default 2s. The SINR in a longer gap is unknown.
    #[serde(default = "two_seconds")]
    pub longest_gap: Duration,
}

/// The SNR of a phone's log in the format of 5Gdataset; its last value stays.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SinrLog {
    /// The file; a relative path counts from the directory of the scenario file.
    pub phone_log: String,
    /// Time in the log at which runs begin; default 0s.
    #[serde(default)]
    pub offset: Duration,
    /// Longest time without a value; default 2s.
    #[serde(default = "two_seconds")]
    pub longest_gap: Duration,
}

const fn two_seconds() -> Duration {
    Duration::from_secs(2)
}

/// Table of a file in a scenario.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SinrTable {
    trace: Option<String>,
    phone_log: Option<String>,
    offset: Option<Duration>,
    longest_gap: Option<Duration>,
}

impl SinrTable {
    fn into_sinr<E: Error>(self) -> Result<Sinr, E> {
        let longest_gap = self.longest_gap.unwrap_or(two_seconds());
        match self {
            Self {
                trace: Some(trace),
                phone_log: None,
                offset: None,
                ..
            } => Ok(Sinr::Trace(SinrTrace { trace, longest_gap })),
            Self {
                trace: None,
                phone_log: Some(phone_log),
                offset,
                ..
            } => Ok(Sinr::PhoneLog(SinrLog {
                phone_log,
                offset: offset.unwrap_or_default(),
                longest_gap,
            })),
            _ => Err(E::custom(
                "give exactly one of trace, phone_log (with an optional offset)",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Sinr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SinrVisitor;
        impl<'de> Visitor<'de> for SinrVisitor {
            type Value = Sinr;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(
                    f,
                    "a ratio such as \"20dB\", a list of points (at, sinr), or a table with trace or phone_log"
                )
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Sinr, E> {
                Decibel::read(text).map(Sinr::Constant).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, points: A) -> Result<Sinr, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(points)).map(Sinr::Points)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Sinr, A::Error> {
                SinrTable::deserialize(MapAccessDeserializer::new(map))?.into_sinr()
            }
        }
        deserializer.deserialize_any(SinrVisitor)
    }
}

/// Adds to the schema that a text is a ratio.
fn allow_bare_ratio(schema: &mut Schema) {
    if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        let ratio = json_schema!({
            "type": "string",
            "pattern": Decibel::PATTERN,
            "description": "The same all the time."
        });
        alternatives.insert(0, ratio.to_value());
    }
}
