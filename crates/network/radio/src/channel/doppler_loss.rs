//! Doppler loss: the noise that a Doppler shift causes in an OFDM receiver.
//!
//! Two mechanisms act like noise. The noise is in proportion to the mean received power, and so limits the SINR:
//!
//! - *Inter-carrier interference*. A tone that is ε subcarrier spacings off keeps sinc²(ε) of its
//!   power on its subcarrier and leaks the rest to the others (Moose, "A technique for orthogonal
//!   frequency division multiplexing frequency offset correction", IEEE Trans. Comm. 42(10), 1994;
//!   with subcarriers on both sides, what one loses it also gets from the others). For a classical
//!   spectrum the sum over its tones is the series of which Li and Cimini give the first terms
//!   ("Bounds on the interchannel interference of OFDM in time-varying impairments", IEEE Trans.
//!   Comm. 49(3), 2001): (2π f/Δf)²/24 - (2π f/Δf)⁴/960.
//! - *Channel estimation*. Between two reference symbols a time T apart, the channel is interpolated
//!   linearly. For a tone whose phase changes by φ = 2πfT meanwhile, the mean squared error is
//!   5/3 + cos(φ)/3 - 4(1 - cos φ)/φ², about φ⁴/120.
//!
//! The leakage of scattered waves, and the error of their estimate, do not fade with the signal. Both follow the change
//! of the channel, and a Gaussian channel and its derivative at the same time are independent (Jakes, "Microwave mobile
//! communications", 1974, section 1.4). A receiver with an imperfect estimate therefore has a noise whose power is that
//! of the error on average, also in a fade (Hassibi, Hochwald, "How much training is needed in multiple-antenna
//! wireless links?", IEEE Trans. Inf. Theory 49(4), 2003). The noise of several antennas is independent, so that
//! combining them helps against it. It does not help against the distortion of the direct path, which is the same for
//! all antennas.

use units::{Duration, Instant};

use super::fading::FadingConfig;
use super::{Grid, LineOfSight};
use crate::settings::{Estimation, Tracking};

impl Estimation {
    /// Returns the time between two estimates, over which the channel is interpolated linearly; `None` if it is known
    /// exactly.
    fn spacing(self) -> Option<Duration> {
        match self {
            Self::Ideal => None,
            // The cell-specific reference signals of LTE are in symbols 0 and 4 of each slot of seven (TS 36.211
            // §6.10.1.2): 0.25 ms apart on average.
            Self::Lte => Some(Duration::from_micros(250)),
            // Antenna ports 2 and 3 have reference signals in one symbol of each slot only, and a receiver may average
            // those of a slot against noise. Fast movement costs it much more.
            Self::LteSlot => Some(Duration::from_micros(500)),
            Self::Interpolated(spacing) => Some(spacing),
        }
    }
}

/// Receiver under Doppler shift.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receiver {
    /// Tracking of the carrier.
    pub tracking: Tracking,
    /// Estimation of the channel.
    pub estimation: Estimation,
}

impl Receiver {
    /// Receiver that only suffers the inter-carrier interference that no oscillator can correct.
    pub const IDEAL: Self = Self {
        tracking: Tracking::Ideal,
        estimation: Estimation::Ideal,
    };
}

/// Angles over which the scattered waves are summed: exact for powers of the shift below 16.
const ANGLES: usize = 8;

/// Effect of the Doppler shift.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Distortion {
    /// Share of the received power that remains.
    pub signal: f32,
    /// Noise relative to the mean power of one antenna.
    pub noise: f32,
}

/// Distortion of one link over time.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DopplerLoss {
    receiver: Receiver,
    subcarrier_spacing_hz: f64,
    max_shift_hz: f64,
    direct_share: f64,
    antennas: f64,
    line_of_sight: Option<LineOfSight>,
    /// The distortion, if nothing changes with time.
    constant: Option<Distortion>,
}

impl DopplerLoss {
    pub fn new(receiver: Receiver, fading: &FadingConfig, grid: &Grid) -> Self {
        let mut loss = Self {
            receiver,
            subcarrier_spacing_hz: grid.subcarrier_spacing_hz,
            max_shift_hz: fading.doppler.hz(),
            direct_share: fading.direct_share(),
            antennas: fading.antennas as f64,
            line_of_sight: fading.line_of_sight,
            constant: None,
        };
        if !matches!(fading.line_of_sight, Some(LineOfSight::Train { .. })) {
            loss.constant = Some(loss.evaluate(Instant::ZERO));
        }
        loss
    }

    pub fn at(&self, at: Instant) -> Distortion {
        self.constant.unwrap_or_else(|| self.evaluate(at))
    }

    fn evaluate(&self, at: Instant) -> Distortion {
        let shift_hz = |at| {
            self.line_of_sight
                .map_or(0.0, |line| line.shift_hz(self.max_shift_hz, at))
        };
        let oscillator_hz = match self.receiver.tracking {
            Tracking::Ideal => shift_hz(at),
            Tracking::Held(period) => {
                let (now, period) = (at.as_nanos(), period.as_nanos());
                shift_hz(Instant::from_nanos(now - now % period))
            }
            Tracking::Fixed => 0.0,
        };
        let (mut leaked, mut noise) = (0.0, 0.0);
        let mut add = |share: f64, hz: f64, antennas: f64| {
            let leak = leakage(hz / self.subcarrier_spacing_hz);
            let estimation_error = self.receiver.estimation.spacing().map_or(0.0, |spacing| {
                interpolation_error(core::f64::consts::TAU * hz * spacing.as_secs_f64())
            });
            leaked += share * leak;
            noise += antennas * share * (leak + estimation_error);
        };
        add(
            self.direct_share,
            shift_hz(at) - oscillator_hz,
            self.antennas,
        );
        let share = (1.0 - self.direct_share) / ANGLES as f64;
        for angle in 0..ANGLES {
            let angle = core::f64::consts::PI * (angle as f64 + 0.5) / ANGLES as f64;
            add(
                share,
                self.max_shift_hz * libm::cos(angle) - oscillator_hz,
                1.0,
            );
        }
        Distortion {
            signal: (1.0 - leaked) as f32,
            noise: noise as f32,
        }
    }
}

/// Returns the share of a tone's power that leaves its subcarrier, for an offset in subcarrier spacings.
fn leakage(offset: f64) -> f64 {
    let angle = core::f64::consts::PI * offset;
    let square = angle * angle;
    if square < 1e-4 {
        return square / 3.0;
    }
    let sinc = libm::sin(angle) / angle;
    1.0 - sinc * sinc
}

/// Returns the mean squared error of linear interpolation over a phase change of `angle` radians.
fn interpolation_error(angle: f64) -> f64 {
    let square = angle * angle;
    if square < 1e-2 {
        return square * square * (1.0 / 120.0 - square * 11.0 / 30_240.0);
    }
    let cosine = libm::cos(angle);
    5.0 / 3.0 + cosine / 3.0 - 4.0 * (1.0 - cosine) / square
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::{Doppler, HighSpeedTrain};
    use crate::settings::{Profile, Train};
    use units::Speed;

    fn db(ratio: f32) -> f64 {
        10.0 * libm::log10(f64::from(ratio))
    }

    /// Li and Cimini 2001: for the classical spectrum, between a1 x²/12 - a2 x⁴/360 and a1 x²/12 with
    /// x = 2π f/Δf, a1 = 1/2, a2 = 3/8.
    #[test]
    fn a_classical_spectrum_leaks_between_the_bounds_of_li_and_cimini() {
        let grid = Grid::lte(100, 4).unwrap();
        for hz in [70.0, 294.0, 750.0, 1500.0] {
            let fading = FadingConfig::new(Profile::Eva, Doppler::Hertz(hz));
            let loss = DopplerLoss::new(Receiver::IDEAL, &fading, &grid);
            let noise = f64::from(loss.at(Instant::ZERO).noise);
            let x2 = (core::f64::consts::TAU * hz / 15e3).powi(2);
            let upper = x2 / 24.0;
            let lower = upper - 0.375 * x2 * x2 / 360.0;
            assert!(
                noise <= upper * 1.0001 && noise >= lower * 0.9999,
                "{hz} Hz: {noise} is not in {lower}..{upper}"
            );
        }
    }

    #[test]
    fn interpolation_error_is_the_mean_of_its_definition() {
        for angle in [0.05, 0.099, 0.101, 0.5, 1.2, 2.5] {
            let steps = 2_000;
            let mut sum = 0.0;
            for step in 0..steps {
                let u = (f64::from(step) + 0.5) / f64::from(steps);
                let re = libm::cos(angle * u) - (1.0 - u) - u * libm::cos(angle);
                let im = libm::sin(angle * u) - u * libm::sin(angle);
                sum += (re * re + im * im) / f64::from(steps);
            }
            let result = interpolation_error(angle);
            assert!(
                (result / sum - 1.0).abs() < 1e-4,
                "{angle}: {result}, {sum}"
            );
        }
    }

    fn train(receiver: Receiver) -> DopplerLoss {
        let mut fading = FadingConfig::new(Profile::Flat, Doppler::Hertz(750.0));
        fading.line_of_sight = Some(LineOfSight::Train {
            k_db: f64::INFINITY,
            train: HighSpeedTrain::new(
                &Train::default(),
                Speed::from_metres_per_second(300.0 / 3.6),
                Doppler::Hertz(750.0),
            ),
        });
        DopplerLoss::new(receiver, &fading, &Grid::lte(100, 4).unwrap())
    }

    /// A tracked non-fading tap is not disturbed at all; an oscillator that stays on the carrier sees
    /// 750 Hz, a twentieth of the spacing: -20.9 dB.
    #[test]
    fn a_train_disturbs_a_receiver_that_does_not_follow() {
        let far = Instant::from_nanos(100_000_000);
        assert_eq!(train(Receiver::IDEAL).at(far).noise, 0.0);
        let fixed = Receiver {
            tracking: Tracking::Fixed,
            ..Receiver::IDEAL
        };
        let noise = db(train(fixed).at(far).noise);
        assert!((noise + 20.87).abs() < 0.05, "{noise}");
    }

    /// An oscillator that is corrected every 100 ms is wrong just after the mast, where the shift has
    /// swung by up to 1500 Hz, and right again after the next correction.
    #[test]
    fn a_held_oscillator_is_wrong_where_the_shift_swings() {
        let held = Receiver {
            tracking: Tracking::Held(Duration::from_millis(100)),
            ..Receiver::IDEAL
        };
        let loss = train(held);
        let noise = |ms: u64| f64::from(loss.at(Instant::from_nanos(ms * 1_000_000)).noise);
        assert!(noise(1_690) < 1e-5, "{}", noise(1_690));
        assert!(noise(1_799) > 0.005, "{}", noise(1_799));
        assert!(noise(1_890) > 0.005, "{}", noise(1_890));
        assert!(noise(2_050) < 1e-5, "{}", noise(2_050));
    }
}
