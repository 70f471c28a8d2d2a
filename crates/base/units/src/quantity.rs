//! Quantities of radio: frequencies, lengths, angles, speeds, powers, gains.

use crate::{Decibel, Quantity};

/// Names of units with their sizes in base units. One of them is the base unit, of size 1.
pub(crate) type Units = [(&'static str, f64)];

/// Returns `text` in base units, if it is a finite number with one of the units.
pub(crate) fn read(text: &str, units: &Units) -> Option<f64> {
    units.iter().find_map(|(unit, size)| {
        let number: f64 = text.trim().strip_suffix(unit)?.trim_end().parse().ok()?;
        Some(number * size).filter(|value| value.is_finite())
    })
}

/// Returns the shortest text that [`read`] parses as `value`, with a number of 1 or more if there is one. Values without
/// such a text (not a number, infinite) are written in the base unit, for error messages.
fn write(value: f64, units: &Units) -> String {
    let texts = units.iter().flat_map(|(unit, size)| {
        let exact = value / size;
        // Rounding restores the decimals of numbers that were divided by a power of ten or by 3.6.
        let rounded: f64 = format!("{exact:.11e}").parse().unwrap_or(exact);
        [rounded, exact].map(|number| (number.abs() < 1.0, format!("{number}{unit}")))
    });
    let shortest = texts
        .filter(|(_, text)| read(text, units) == Some(value))
        .min_by_key(|(is_fraction, text)| (*is_fraction, text.len()));
    shortest.map_or_else(
        || {
            let base = units.iter().find(|(_, size)| *size == 1.0);
            format!("{value}{}", base.map_or("", |(unit, _)| unit))
        },
        |(_, text)| text,
    )
}

macro_rules! quantity {
    ($(#[$about:meta])* $name:ident: $base:ident, $from:ident; $pattern:literal; $expected:literal; $units:expr) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
        pub struct $name(f64);

        impl $name {
            #[doc = concat!("From a finite number in the unit of [`", stringify!($name), "::", stringify!($base), "`].")]
            pub const fn $from(value: f64) -> Self {
                Self(value)
            }

            #[doc = concat!("The number, in ", stringify!($base), ".")]
            pub const fn $base(self) -> f64 {
                self.0
            }
        }

        quantity!($name(value) $pattern; $expected; $units; Self(value), |quantity: &Self| quantity.0);
    };
    ($name:ident($value:ident) $pattern:literal; $expected:literal; $units:expr; $new:expr, $get:expr) => {
        impl Quantity for $name {
            const NAME: &'static str = stringify!($name);
            const PATTERN: &'static str = $pattern;

            fn read(text: &str) -> Result<Self, String> {
                let $value = read(text, &$units)
                    .ok_or_else(|| format!("{text:?} is not {}", $expected))?;
                Ok($new)
            }

            fn write(&self) -> String {
                write($get(self), &$units)
            }
        }

        crate::as_text!($name);
    };
}

quantity! {
    /// A frequency, such as a carrier's, its bandwidth or a Doppler shift.
    Frequency: hertz, from_hertz;
    r"^\s*[0-9.+eE-]+\s*[kMG]?Hz\s*$";
    "a frequency such as \"2.65GHz\" (units: Hz, kHz, MHz, GHz)";
    [("GHz", 1e9), ("MHz", 1e6), ("kHz", 1e3), ("Hz", 1.0)]
}

quantity! {
    /// A speed, or a component of a velocity.
    Speed: metres_per_second, from_metres_per_second;
    r"^\s*[0-9.+eE-]+\s*(km/h|m/s)\s*$";
    "a speed such as \"60km/h\" (units: m/s, km/h)";
    [("km/h", 1.0 / 3.6), ("m/s", 1.0)]
}

quantity! {
    /// A distance, a height or a coordinate.
    Length: metres, from_metres;
    r"^\s*[0-9.+eE-]+\s*k?m\s*$";
    "a length such as \"600m\" (units: m, km)";
    [("km", 1e3), ("m", 1.0)]
}

quantity! {
    /// An angle.
    Angle: degrees, from_degrees;
    r"^\s*[0-9.+eE-]+\s*deg\s*$";
    "an angle such as \"30deg\" (unit: deg)";
    [("deg", 1.0)]
}

quantity! {
    /// A power.
    Power: dbm, from_dbm;
    r"^\s*[0-9.+eE-]+\s*dBm\s*$";
    "a power such as \"46dBm\" (unit: dBm)";
    [("dBm", 1.0)]
}

quantity! {
    /// The gain of an antenna over an isotropic one.
    Gain: dbi, from_dbi;
    r"^\s*[0-9.+eE-]+\s*dBi\s*$";
    "a gain such as \"15dBi\" (unit: dBi)";
    [("dBi", 1.0)]
}

quantity! {
    Decibel(value)
    r"^\s*[0-9.+eE-]+\s*dB\s*$";
    "a ratio such as \"3dB\" (unit: dB)";
    [("dB", 1.0)];
    Self::new(value), |ratio: &Self| ratio.get()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn again<Q: Quantity>(text: &str) -> String {
        Q::read(text)
            .unwrap_or_else(|error| panic!("{error}"))
            .write()
    }

    #[test]
    fn what_is_read_is_written_as_people_write_it() {
        for text in ["2.65GHz", "100MHz", "1.4MHz", "15kHz", "147.3Hz"] {
            assert_eq!(again::<Frequency>(text), text);
        }
        assert_eq!(again::<Frequency>(" 2650 MHz"), "2.65GHz");
        for text in ["60km/h", "120km/h", "300km/h", "30m/s", "-1.5m/s"] {
            assert_eq!(again::<Speed>(text), text);
        }
        assert_eq!(again::<Length>("1000m"), "1km");
        assert_eq!(again::<Length>("-600m"), "-600m");
        assert_eq!(again::<Decibel>("-3 dB"), "-3dB");
        assert_eq!(again::<Power>("46dBm"), "46dBm");
    }

    #[test]
    fn sixty_km_per_h_is_a_thousand_metres_a_minute() {
        let speed = Speed::read("60km/h").unwrap();
        assert!((speed.metres_per_second() * 60.0 - 1000.0).abs() < 1e-9);
    }

    #[test]
    fn a_number_without_its_unit_is_rejected_by_name() {
        for text in ["60", "60kmh", "nankm/h", "infm/s", "km/h", "60km/h60"] {
            assert_eq!(
                Speed::read(text),
                Err(format!(
                    "{text:?} is not a speed such as \"60km/h\" (units: m/s, km/h)"
                ))
            );
        }
        assert!(Power::read("46dB").is_err() && Decibel::read("46dBm").is_err());
    }

    proptest! {
        #[test]
        fn any_value_is_read_back(value in proptest::num::f64::NORMAL) {
            let speed = Speed::from_metres_per_second(value);
            prop_assert_eq!(Speed::read(&speed.write()), Ok(speed));
            let frequency = Frequency::from_hertz(value);
            prop_assert_eq!(Frequency::read(&frequency.write()), Ok(frequency));
        }
    }
}
