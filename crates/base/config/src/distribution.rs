//! Distribution: random times and sizes.

use core::fmt;
use core::marker::PhantomData;

use schemars::{JsonSchema, Schema};
use serde::de::{Deserializer, Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use units::random::RngStream;

use crate::Measure;
use crate::tagged_enum::take_kind;
use crate::validate::{FieldError, check_number, check_positive, invalid_value};

/// Declares the kinds, with their names and parameters.
macro_rules! kinds {
    ($(
        $(#[$about:meta])*
        $kind:ident = $name:literal { $($(#[$of:meta])* $parameter:ident: $type:ty,)+ },
    )+) => {
        /// Distribution of a time or size; a text alone is a constant. Draws below zero become zero.
        #[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
        #[serde(tag = "kind", bound = "Q: Measure")]
        #[schemars(bound = "Q: Measure", deny_unknown_fields, transform = add_constant)]
        pub enum Distribution<Q> {
            $(
                $(#[$about])*
                #[serde(rename = $name)]
                $kind { $($(#[$of])* $parameter: $type,)+ },
            )+
        }

        /// Names of the kinds.
        const NAMES: &[&str] = &[$($name),+];

        /// Reads the parameters of `kind`.
        fn read<'de, Q: Measure, A: MapAccess<'de>>(kind: &str, map: A) -> Result<Distribution<Q>, A::Error> {
            let fields = MapAccessDeserializer::new(map);
            match kind {
                $($name => {
                    #[derive(Deserialize)]
                    #[serde(deny_unknown_fields, bound = "Q: Measure")]
                    struct Parameters<Q> {
                        $($parameter: Option<$type>,)+
                    }
                    let given = Parameters::deserialize(fields)?;
                    match ($(given.$parameter,)+) {
                        ($(Some($parameter),)+) => Ok(Distribution::$kind { $($parameter),+ }),
                        _ => {
                            let all = [$(stringify!($parameter)),+].join(", ");
                            Err(A::Error::custom(format!("{kind:?} takes {all}")))
                        }
                    }
                })+
                other => Err(A::Error::unknown_variant(other, NAMES)),
            }
        }
    };
}

kinds! {
    /// Constant.
    Constant = "constant" {
        /// The value.
        value: Q,
    },
    /// Uniform in a range.
    Uniform = "uniform" {
        /// Lowest value.
        min: Q,
        /// Highest value.
        max: Q,
    },
    /// Exponential.
    Exponential = "exponential" {
        /// Mean.
        mean: Q,
    },
    /// Log-normal.
    Lognormal = "lognormal" {
        /// Median: the exponential of the normal's mean.
        median: Q,
        /// Standard deviation of the normal.
        sigma: f64,
    },
    /// Weibull.
    Weibull = "weibull" {
        /// Scale, lambda.
        scale: Q,
        /// Shape, k.
        shape: f64,
    },
    /// Pareto, type I.
    Pareto = "pareto" {
        /// Scale: the lowest value.
        scale: Q,
        /// Shape, alpha.
        shape: f64,
    },
    /// Gamma.
    Gamma = "gamma" {
        /// Scale, theta; the mean is shape times scale.
        scale: Q,
        /// Shape, k.
        shape: f64,
    },
    /// Gaussian.
    Normal = "normal" {
        /// Mean.
        mean: Q,
        /// Standard deviation.
        sd: Q,
    },
    /// Logistic.
    Logistic = "logistic" {
        /// Location: the mean.
        location: Q,
        /// Scale; the standard deviation is scale times pi over the root of three.
        scale: Q,
    },
}

impl<Q: Measure> Distribution<Q> {
    /// Draws a value, which is never below zero.
    pub fn draw(&self, stream: &mut RngStream) -> Q {
        let base = match *self {
            Self::Constant { value } => return value,
            // Draws whole units, so that both ends are as likely as the values in between.
            Self::Uniform { min, max } => {
                let (low, high) = (min.to_base(), max.to_base());
                low + stream.uniform_u64((high - low) as u64 + 1) as f64
            }
            Self::Exponential { mean } => stream.exponential(mean.to_base()),
            Self::Lognormal { median, sigma } => median.to_base() * stream.lognormal(0.0, sigma),
            Self::Weibull { scale, shape } => stream.weibull(scale.to_base(), shape),
            Self::Pareto { scale, shape } => stream.pareto(scale.to_base(), shape),
            Self::Gamma { scale, shape } => stream.gamma(shape, scale.to_base()),
            Self::Normal { mean, sd } => stream.normal(mean.to_base(), sd.to_base()),
            Self::Logistic { location, scale } => {
                stream.logistic(location.to_base(), scale.to_base())
            }
        };
        Q::from_base(base)
    }

    /// Returns the mean in base units, nanoseconds or bytes, as if draws below zero stayed negative. It is infinite where
    /// the distribution has none.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Constant { value } => value.to_base(),
            Self::Uniform { min, max } => (min.to_base() + max.to_base()) / 2.0,
            Self::Exponential { mean } | Self::Normal { mean, .. } => mean.to_base(),
            Self::Lognormal { median, sigma } => median.to_base() * libm::exp(sigma * sigma / 2.0),
            Self::Weibull { scale, shape } => scale.to_base() * libm::tgamma(1.0 + 1.0 / shape),
            Self::Pareto { shape, .. } if shape <= 1.0 => f64::INFINITY,
            Self::Pareto { scale, shape } => scale.to_base() * shape / (shape - 1.0),
            Self::Gamma { scale, shape } => scale.to_base() * shape,
            Self::Logistic { location, .. } => location.to_base(),
        }
    }

    /// Returns whether the value is drawn, even if only one value is possible.
    pub fn is_random(&self) -> bool {
        !matches!(self, Self::Constant { .. })
    }

    /// Checks that parameters are in their ranges. A constant of zero is allowed only where `zero_allowed`.
    pub fn check(&self, zero_allowed: bool) -> Result<(), FieldError>
    where
        Q: Default + PartialOrd,
    {
        match *self {
            Self::Lognormal { sigma, .. } => check_number("sigma", sigma, 0.0, 100.0)?,
            Self::Weibull { shape, .. }
            | Self::Pareto { shape, .. }
            | Self::Gamma { shape, .. } => check_number("shape", shape, 0.01, 100.0)?,
            _ => {}
        }
        match *self {
            Self::Constant { .. } if zero_allowed => Ok(()),
            Self::Constant { value } => check_positive("", value),
            Self::Uniform { min, max } if max < min => {
                invalid_value("max", max.write(), format!("min, {}, or more", min.write()))
            }
            Self::Uniform { max, .. } => check_positive("max", max),
            Self::Exponential { mean } | Self::Normal { mean, .. } => check_positive("mean", mean),
            Self::Lognormal { median, .. } => check_positive("median", median),
            Self::Weibull { scale, .. }
            | Self::Pareto { scale, .. }
            | Self::Gamma { scale, .. } => check_positive("scale", scale),
            Self::Logistic { location, .. } => check_positive("location", location),
        }
    }
}

impl<'de, Q: Measure> Deserialize<'de> for Distribution<Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Alternatives<Q>(PhantomData<Q>);
        impl<'de, Q: Measure> Visitor<'de> for Alternatives<Q> {
            type Value = Distribution<Q>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let kinds = NAMES.join(", ");
                write!(f, "a text with a unit or a table with kind, one of {kinds}")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                let value = Q::read(text).map_err(E::custom)?;
                Ok(Distribution::Constant { value })
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let kind = take_kind(&mut map)?;
                read(&kind, map)
            }
        }
        deserializer.deserialize_any(Alternatives(PhantomData))
    }
}

/// Adds to the schema that a text is a constant.
fn add_constant(schema: &mut Schema) {
    let text = schema
        .get("oneOf")
        .map(|kinds| kinds[0]["properties"]["value"].clone());
    if let (Some(mut text), Some(Value::Array(kinds))) = (text, schema.get_mut("oneOf")) {
        text["description"] = json!("A constant.");
        kinds.push(text);
    }
}
