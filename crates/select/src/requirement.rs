//! What an application wants of its connection.

use core::str::FromStr;

/// Weights of the parts of PM: use of the capacity, delay, losses (atxutegi2018 §4.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Weights {
    /// Of A, the share of the capacity that is used.
    pub alpha: f64,
    /// Of B, lowest RTT over mean RTT.
    pub beta: f64,
    /// Of C, the share of the BDP that is not retransmitted.
    pub gamma: f64,
}

impl Weights {
    /// PM of these parts, from 0 to 1.
    pub fn score(&self, [a, b, c]: [f64; 3]) -> f64 {
        let sum = self.alpha + self.beta + self.gamma;
        (self.alpha * a + self.beta * b + self.gamma * c) / sum
    }
}

/// What is to be as large as possible.
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
    /// The three that have names.
    pub const NAMED: [Self; 3] = [Self::Goodput, Self::Balanced, Self::Delay];

    /// Weights of the parts of PM; goodput is A alone.
    pub const fn weights(self) -> Weights {
        let (alpha, beta, gamma) = match self {
            Self::Goodput => (1.0, 0.0, 0.0),
            Self::Balanced => (1.0, 1.0, 1.0),
            Self::Delay => (1.0, 10.0, 1.0),
            Self::Weighted(weights) => return weights,
        };
        Weights { alpha, beta, gamma }
    }

    /// The named requirement that weighs delay most alike, for policies that know the named ones only.
    pub fn nearest_named(self) -> Self {
        let Self::Weighted(weights) = self else {
            return self;
        };
        let share = weights.beta / (weights.alpha + weights.beta + weights.gamma);
        // Half-way between the shares of delay of neighbours: 0, 1/3 and 10/12.
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
        let score = |requirement: Requirement| requirement.weights().score(parts);
        assert!((score(Requirement::Goodput) - 0.6).abs() < 1e-12);
        assert!((score(Requirement::Balanced) - 2.5 / 3.0).abs() < 1e-12);
        assert!((score(Requirement::Delay) - 10.6 / 12.0).abs() < 1e-12);
    }
}
