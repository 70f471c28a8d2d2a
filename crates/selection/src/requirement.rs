//! Requirement: the measure that an application wants to optimise.

use core::str::FromStr;

use results::Weights;
use strum::{IntoStaticStr, VariantNames};
use units::{Duration, Rate};

use crate::estimate::Estimate;

/// Measure to optimise. The names of the variants are those in rules and trees, without a bound.
#[derive(Clone, Copy, PartialEq, Debug, Default, IntoStaticStr, VariantNames)]
pub enum Requirement {
    /// Mean goodput.
    #[strum(serialize = "goodput")]
    Goodput,
    /// PM with the weights 1, 1, 1.
    #[default]
    #[strum(serialize = "balanced")]
    Balanced,
    /// PM with the weights 1, 10, 1.
    #[strum(serialize = "delay")]
    Delay,
    /// Flow completion time: the time until the last byte has arrived.
    #[strum(serialize = "fct")]
    Completion,
    /// Goodput over the square root of the RTT.
    #[strum(serialize = "power")]
    Power,
    /// Goodput while the RTT is at most this.
    #[strum(serialize = "goodput@")]
    GoodputAtRtt(Duration),
    /// Lowest RTT over RTT, times the share of this rate that is reached.
    #[strum(serialize = "delay@")]
    DelayAtRate(Rate),
    /// PM with other weights, which rules cannot name.
    #[strum(serialize = "")]
    Weighted(Weights),
}

/// Performance over a slot, or over an interval that evaluates a switch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Performance {
    /// Goodput, Mbit/s.
    pub mbps: f64,
    /// Mean RTT, s; NaN if there was none.
    pub rtt_s: f64,
    /// A, B and C of PM.
    pub parts: [f64; 3],
}

/// Capacity over the rate of `delay@` above which the rate is no concern: CDG, which has the shortest queue, reaches a
/// fifth of the goodput.
const AMPLE_CAPACITY: f64 = 5.0;

impl Requirement {
    /// The requirements that policies are written for.
    pub(crate) const NAMED: [Self; 3] = [Self::Goodput, Self::Balanced, Self::Delay];

    /// Allowed requirements in words.
    const ALLOWED: &str = "fct, power, goodput@RTT such as goodput@100ms, delay@RATE such as delay@2Mbps, goodput, \
                           balanced, delay, or weights of use/delay/losses such as 1/5/1";

    /// Returns the measure of this performance; more is better. Metrics of results, the evaluation of switches and that
    /// of policies use this definition. Within one connection, the measure for `fct` is its goodput.
    pub fn measure(self, performance: &Performance) -> f64 {
        let Performance { mbps, rtt_s, parts } = *performance;
        match self {
            Self::Goodput | Self::Completion => mbps,
            Self::Balanced | Self::Delay | Self::Weighted(_) => self.weights().pm(parts),
            Self::GoodputAtRtt(bound) if rtt_s <= bound.as_secs_f64() => mbps,
            Self::GoodputAtRtt(_) => 0.0,
            Self::DelayAtRate(floor) => parts[1] * (mbps / floor.as_mbps()).min(1.0),
            Self::Power => mbps / rtt_s.sqrt(),
        }
    }

    /// Returns the weights of the parts of PM by which trees compare CCAs; goodput is A alone.
    pub const fn weights(self) -> Weights {
        match self {
            Self::Goodput | Self::Completion => Weights {
                alpha: 1.0,
                beta: 0.0,
                gamma: 0.0,
            },
            Self::Balanced | Self::GoodputAtRtt(_) | Self::Power => Weights::BALANCED,
            Self::Delay | Self::DelayAtRate(_) => Weights::DELAY,
            Self::Weighted(weights) => weights,
        }
    }

    /// Returns the ratio of the rate after a switch to that before below which the connection starves.
    pub(crate) fn starvation_limit(self) -> f64 {
        match self.nearest_named() {
            Self::Delay => 0.2,
            _ => 0.5,
        }
    }

    /// Returns the requirement that policies optimise at a capacity: balanced in place of `delay@` unless the capacity is
    /// ample.
    pub(crate) fn at_capacity(self, capacity: &Estimate<Rate>) -> Self {
        let mbps = capacity.value.as_mbps();
        match self {
            Self::DelayAtRate(floor)
                if capacity.confidence > 0.0 && mbps < AMPLE_CAPACITY * floor.as_mbps() =>
            {
                Self::Balanced
            }
            other => other,
        }
    }

    /// Returns the named requirement with the nearest share of delay, for policies that cover only named requirements.
    pub(crate) fn nearest_named(self) -> Self {
        let weights = match self {
            Self::Weighted(weights) => weights,
            Self::Completion => return Self::Goodput,
            Self::GoodputAtRtt(_) | Self::Power => return Self::Balanced,
            Self::DelayAtRate(_) => return Self::Delay,
            named => return named,
        };
        let share = weights.beta / (weights.alpha + weights.beta + weights.gamma);
        // The limits are half-way between the shares of delay of the named ones: 0, 1/3 and 10/12.
        match share {
            share if share < 1.0 / 6.0 => Self::Goodput,
            share if share < 7.0 / 12.0 => Self::Balanced,
            _ => Self::Delay,
        }
    }

    /// Returns the name of the requirement in rules, without its bound; empty for weights.
    pub(crate) fn kind(self) -> &'static str {
        self.into()
    }

    /// Returns the names of requirements in rules, without their bounds.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        let names = Self::VARIANTS.iter().copied();
        names.filter(|name| !name.is_empty())
    }

    /// Returns the requirement `name@bound`; `None` if name or bound is invalid.
    fn parse_bounded(name: &str, bound: &str) -> Option<Self> {
        match name {
            "goodput" => bound.parse().ok().map(Self::GoodputAtRtt),
            "delay" => {
                let bits = bound.strip_suffix("bps")?;
                let rate: Rate = format!("{bits}bit/s").parse().ok()?;
                (rate > Rate::from_bits_per_second(0)).then_some(Self::DelayAtRate(rate))
            }
            _ => None,
        }
    }

    /// Returns PM with the weights `use/delay/losses`; `None` if they are invalid.
    fn parse_weights(text: &str) -> Option<Self> {
        let numbers: Result<Vec<f64>, _> = text.split('/').map(str::parse).collect();
        let [alpha, beta, gamma] = numbers.ok()?[..] else {
            return None;
        };
        let all = [alpha, beta, gamma];
        let is_valid =
            all.iter().all(|w| w.is_finite() && *w >= 0.0) && all.iter().sum::<f64>() > 0.0;
        is_valid.then_some(Self::Weighted(Weights { alpha, beta, gamma }))
    }
}

impl core::fmt::Display for Requirement {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Weighted(Weights { alpha, beta, gamma }) => {
                write!(f, "{alpha}/{beta}/{gamma}")
            }
            Self::GoodputAtRtt(bound) => {
                write!(f, "{}{}ms", self.kind(), bound.as_nanos() as f64 / 1e6)
            }
            Self::DelayAtRate(floor) => {
                let mbps = floor.bits_per_second() as f64 / 1e6;
                write!(f, "{}{mbps}Mbps", self.kind())
            }
            unbounded => f.write_str(unbounded.kind()),
        }
    }
}

impl FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unbounded = [
            Self::Goodput,
            Self::Balanced,
            Self::Delay,
            Self::Completion,
            Self::Power,
        ];
        let named = unbounded.into_iter().find(|each| each.kind() == text);
        named
            .or_else(|| match text.split_once('@') {
                Some((name, bound)) => Self::parse_bounded(name, bound),
                None => Self::parse_weights(text),
            })
            .ok_or_else(|| {
                let problem = match text {
                    "qoe" => {
                        "no policy can select by \"qoe\", which results with a video are ranked by"
                    }
                    _ => &*format!("{text:?} is not a requirement"),
                };
                format!("{problem}; allowed: {}", Self::ALLOWED)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Estimate;

    #[test]
    fn every_requirement_of_rules_can_be_parsed() {
        for kind in Requirement::kinds() {
            let text = match kind {
                "goodput@" => "goodput@100ms",
                "delay@" => "delay@2Mbps",
                word => word,
            };
            let parsed: Requirement = text.parse().expect("a requirement");
            assert_eq!((parsed.kind(), parsed.to_string()), (kind, text.to_owned()));
        }
    }

    #[test]
    fn requirements_are_named_bounded_or_weighed() {
        assert_eq!("delay".parse(), Ok(Requirement::Delay));
        for text in ["1/5/1", "fct", "power", "goodput@100ms", "delay@2Mbps"] {
            let parsed: Requirement = text.parse().expect("a requirement");
            assert_eq!(parsed.to_string(), text);
        }
        let weighed: Requirement = "1/5/1".parse().expect("weights");
        assert_eq!(weighed.nearest_named(), Requirement::Delay);
        let spelt = |text: &str| text.parse::<Requirement>().map(|each| each.to_string());
        assert_eq!(spelt("goodput@0.1s").as_deref(), Ok("goodput@100ms"));
        assert_eq!(spelt("delay@500kbps").as_deref(), Ok("delay@0.5Mbps"));
        for tenth in 1..=20_000 {
            let bounds = [("goodput", "ms"), ("delay", "Mbps")];
            for text in
                bounds.map(|(name, unit)| format!("{name}@{}{unit}", f64::from(tenth) / 10.0))
            {
                assert_eq!(spelt(&text), Ok(text));
            }
        }
        for wrong in [
            "fast",
            "1/2",
            "0/0/0",
            "1/-1/1",
            "1/inf/1",
            "goodput@2Mbps",
            "delay@100ms",
            "delay@0Mbps",
            "balanced@1ms",
        ] {
            assert!(wrong.parse::<Requirement>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_score_of_a_video_is_a_requirement_of_results_only() {
        let message = "qoe".parse::<Requirement>().unwrap_err();
        assert!(
            message.starts_with("no policy can select by \"qoe\""),
            "{message}"
        );
    }

    /// Weights of atxutegi2018 §4.1.
    #[test]
    fn pm_is_the_weighted_mean_of_its_parts() {
        let parts = [0.6, 0.9, 1.0];
        let score = |requirement: Requirement| requirement.weights().pm(parts);
        assert!((score(Requirement::Goodput) - 0.6).abs() < 1e-12);
        assert!((score(Requirement::Balanced) - 2.5 / 3.0).abs() < 1e-12);
        assert!((score(Requirement::Delay) - 10.6 / 12.0).abs() < 1e-12);
    }

    #[test]
    fn bounds_count() {
        let performance = Performance {
            mbps: 4.0,
            rtt_s: 0.25,
            parts: [0.4, 0.5, 1.0],
        };
        let measure = |text: &str| {
            let requirement: Requirement = text.parse().expect("a requirement");
            requirement.measure(&performance)
        };
        assert_eq!(measure("goodput@250ms"), 4.0);
        assert_eq!(measure("goodput@249ms"), 0.0);
        assert_eq!(measure("delay@2Mbps"), 0.5);
        assert_eq!(measure("delay@8Mbps"), 0.25);
        assert_eq!(measure("power"), 8.0);
        assert_eq!(measure("fct"), measure("goodput"));
    }

    #[test]
    fn a_delay_above_a_rate_is_balanced_where_the_capacity_is_not_ample() {
        let capacity = |mbps: f64| Estimate::new(Rate::from_mbps(mbps), 1.0);
        let above = Requirement::DelayAtRate(Rate::from_mbps(2.0));
        assert_eq!(above.at_capacity(&capacity(20.0)), above);
        assert_eq!(above.at_capacity(&capacity(8.0)), Requirement::Balanced);
        assert_eq!(
            above.at_capacity(&Estimate::default()),
            above,
            "nothing is known"
        );
    }
}
