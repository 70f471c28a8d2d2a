//! Requirement: the measure that an application wants to maximise.

use core::str::FromStr;

use record::Weights;

/// Measure to maximise.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Requirement {
    /// Mean goodput.
    Goodput,
    /// PM with the weights 1, 1, 1.
    #[default]
    Balanced,
    /// PM with the weights 1, 10, 1.
    Delay,
    /// PM with other weights.
    Weighted(Weights),
}

impl Requirement {
    /// The requirements that have names.
    pub(crate) const NAMED: [Self; 3] = [Self::Goodput, Self::Balanced, Self::Delay];

    /// Returns the weights of the parts of PM; goodput is A alone.
    pub const fn weights(self) -> Weights {
        match self {
            Self::Goodput => Weights {
                alpha: 1.0,
                beta: 0.0,
                gamma: 0.0,
            },
            Self::Balanced => Weights::BALANCED,
            Self::Delay => Weights::DELAY,
            Self::Weighted(weights) => weights,
        }
    }

    /// Returns the share of a rate that others may take after a change of the CCA; below it the connection starves.
    pub(crate) fn floor(self) -> f64 {
        match self.nearest_named() {
            Self::Delay => 0.2,
            _ => 0.5,
        }
    }

    /// Returns the named requirement with the nearest share of delay, for policies that cover only named requirements.
    pub(crate) fn nearest_named(self) -> Self {
        let Self::Weighted(weights) = self else {
            return self;
        };
        let share = weights.beta / (weights.alpha + weights.beta + weights.gamma);
        // The limits are half-way between the shares of delay of neighbours: 0, 1/3 and 10/12.
        match share {
            share if share < 1.0 / 6.0 => Self::Goodput,
            share if share < 7.0 / 12.0 => Self::Balanced,
            _ => Self::Delay,
        }
    }
}

impl core::fmt::Display for Requirement {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Goodput => f.write_str("goodput"),
            Self::Balanced => f.write_str("balanced"),
            Self::Delay => f.write_str("delay"),
            Self::Weighted(Weights { alpha, beta, gamma }) => {
                write!(f, "{alpha}/{beta}/{gamma}")
            }
        }
    }
}

impl FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(named) = Self::NAMED
            .into_iter()
            .find(|each| each.to_string() == text)
        {
            return Ok(named);
        }
        let wrong = || {
            format!(
                "{text:?} is not a requirement; allowed: goodput, balanced, delay, \
                 or weights of use/delay/losses such as 1/5/1"
            )
        };
        let numbers: Result<Vec<f64>, _> = text.split('/').map(str::parse).collect();
        let [alpha, beta, gamma] = numbers.map_err(|_| wrong())?[..] else {
            return Err(wrong());
        };
        let all = [alpha, beta, gamma];
        let fit = all.iter().all(|w| w.is_finite() && *w >= 0.0) && all.iter().sum::<f64>() > 0.0;
        fit.then_some(Self::Weighted(Weights { alpha, beta, gamma }))
            .ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_named_or_weighed() {
        assert_eq!("delay".parse(), Ok(Requirement::Delay));
        let weighed: Requirement = "1/5/1".parse().expect("weights");
        assert_eq!(weighed.to_string(), "1/5/1");
        assert_eq!(weighed.nearest_named(), Requirement::Delay);
        for wrong in ["fast", "1/2", "0/0/0", "1/-1/1", "1/inf/1"] {
            assert!(wrong.parse::<Requirement>().is_err(), "{wrong}");
        }
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
}
