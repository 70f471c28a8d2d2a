//! The model of Gilbert and Elliott: losses in bursts, by packets or over time.

use config::{FieldError, check_number, invalid_value};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use units::Duration;

pub(super) const PER_PACKET: &str = "gilbert-elliott";
pub(super) const OVER_TIME: &str = "gilbert-elliott-time";

/// The model of Gilbert and Elliott: a good and a bad state, each with its loss. It starts in the good
/// one and may change before every packet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename = "gilbert-elliott", deny_unknown_fields)]
#[schemars(rename = "GilbertElliott", transform = tagged_per_packet)]
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

impl GilbertElliott {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        check_number("to_bad", self.to_bad, 0.0, 1.0)?;
        check_number("to_good", self.to_good, 0.0, 1.0)?;
        check_losses(self.loss_good, self.loss_bad)
    }

    pub(super) fn is_none(&self) -> bool {
        self.loss_good == 0.0 && (self.loss_bad == 0.0 || self.to_bad == 0.0)
    }
}

/// The model of Gilbert and Elliott over time: each state lasts for an exponentially distributed time. It
/// starts in the good one. A flow meets as many bursts a second at a low rate as at a high one, as on a
/// satellite or mobile link; those of "gilbert-elliott" become rarer with the rate of the flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename = "gilbert-elliott-time", deny_unknown_fields)]
#[schemars(rename = "GilbertElliottTime", transform = tagged_over_time)]
pub struct GilbertElliottTime {
    /// Mean time in the good state, at least 10us; compulsory.
    pub good: Duration,
    /// Mean time in the bad state, at least 10us; compulsory.
    pub bad: Duration,
    /// Loss probability in the good state; default 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub loss_good: f64,
    /// Loss probability in the bad state; default 1.
    #[serde(default = "certain")]
    #[schemars(range(min = 0, max = 1))]
    pub loss_bad: f64,
}

impl GilbertElliottTime {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        check_time("good", self.good)?;
        check_time("bad", self.bad)?;
        check_losses(self.loss_good, self.loss_bad)
    }

    pub(super) fn is_none(&self) -> bool {
        self.loss_good == 0.0 && self.loss_bad == 0.0
    }
}

/// Minimum mean time in a state. A run follows each change, so that shorter states only make it slow: at 10 Gbit/s, a
/// full packet takes 1.2 µs.
const MIN_TIME: Duration = Duration::from_micros(10);

fn check_time(field: &str, mean: Duration) -> Result<(), FieldError> {
    if mean >= MIN_TIME {
        return Ok(());
    }
    invalid_value(field, mean.to_string(), format!("at least {MIN_TIME}"))
}

fn check_losses(good: f64, bad: f64) -> Result<(), FieldError> {
    check_number("loss_good", good, 0.0, 1.0)?;
    check_number("loss_bad", bad, 0.0, 1.0)
}

fn certain() -> f64 {
    1.0
}

fn tagged_per_packet(schema: &mut Schema) {
    tag(schema, PER_PACKET);
}

fn tagged_over_time(schema: &mut Schema) {
    tag(schema, OVER_TIME);
}

/// Adds the tag to the schema.
pub(super) fn tag(schema: &mut Schema, kind: &str) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.shift_insert(0, "kind".to_owned(), json!({ "const": kind }));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.insert(0, json!("kind"));
    }
}
