//! Delay profiles of 3GPP: delays and powers of the taps of a channel.

use crate::settings::Profile;

/// Tap: one path of a tapped delay line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tap {
    /// Excess delay in nanoseconds.
    pub delay_ns: f64,
    /// Power relative to the other taps, dB.
    pub power_db: f64,
}

const fn tap(delay_ns: f64, power_db: f64) -> Tap {
    Tap { delay_ns, power_db }
}

const FLAT: [Tap; 1] = [tap(0.0, 0.0)];

const EPA: [Tap; 7] = [
    tap(0.0, 0.0),
    tap(30.0, -1.0),
    tap(70.0, -2.0),
    tap(90.0, -3.0),
    tap(110.0, -8.0),
    tap(190.0, -17.2),
    tap(410.0, -20.8),
];

const EVA: [Tap; 9] = [
    tap(0.0, 0.0),
    tap(30.0, -1.5),
    tap(150.0, -1.4),
    tap(310.0, -3.6),
    tap(370.0, -0.6),
    tap(710.0, -9.1),
    tap(1090.0, -7.0),
    tap(1730.0, -12.0),
    tap(2510.0, -16.9),
];

const ETU: [Tap; 9] = [
    tap(0.0, -1.0),
    tap(50.0, -1.0),
    tap(120.0, -1.0),
    tap(200.0, 0.0),
    tap(230.0, 0.0),
    tap(500.0, 0.0),
    tap(1600.0, -3.0),
    tap(2300.0, -5.0),
    tap(5000.0, -7.0),
];

impl Profile {
    /// Returns the taps, in order of delay.
    pub fn taps(self) -> &'static [Tap] {
        match self {
            // A single tap: TS 36.101 B.3.
            Self::Flat | Self::Hst => &FLAT,
            Self::Epa => &EPA,
            Self::Eva => &EVA,
            Self::Etu => &ETU,
        }
    }

    /// Returns the share of the total power in each tap.
    pub fn powers(self) -> impl Iterator<Item = f64> {
        let linear = |tap: &Tap| units::Decibel::new(tap.power_db).to_linear();
        let total: f64 = self.taps().iter().map(linear).sum();
        self.taps().iter().map(move |tap| linear(tap) / total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Root mean square delay spread in nanoseconds.
    fn rms_delay_spread_ns(profile: Profile) -> f64 {
        let moment = |order: f64| -> f64 {
            profile
                .taps()
                .iter()
                .zip(profile.powers())
                .map(|(tap, power)| power * libm::pow(tap.delay_ns, order))
                .sum()
        };
        libm::sqrt(moment(2.0) - moment(1.0) * moment(1.0))
    }

    /// TS 36.101 table B.2.1-1: taps, root mean square delay spread and longest excess delay.
    #[test]
    fn delays_are_those_of_table_b_2_1_1() {
        for (profile, taps, spread, longest) in [
            (Profile::Epa, 7, 45.0, 410.0),
            (Profile::Eva, 9, 357.0, 2510.0),
            (Profile::Etu, 9, 991.0, 5000.0),
        ] {
            assert_eq!(profile.taps().len(), taps);
            let last = profile.taps().last().expect("taps");
            assert_eq!(last.delay_ns, longest);
            let result = rms_delay_spread_ns(profile);
            assert!((result - spread).abs() < 2.5, "{profile:?}: {result}");
        }
    }
}
