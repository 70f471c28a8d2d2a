//! High-speed train of TS 36.101 B.3: Doppler shift over time.

use units::{Instant, Speed};

use super::Doppler;
use crate::settings::Train;

/// Position of the train relative to the nearest base station.
struct Position {
    /// Numerator of the cosine in equations B.3.2 and B.3.3, m.
    along_m: f64,
    /// Whether equation B.3.3 applies.
    is_second_half: bool,
}

/// Train that passes base stations along the track, one after another. Its Doppler shift swings between the maximum and
/// its negative (TS 36.101 equations B.3.1 to B.3.4).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HighSpeedTrain {
    spacing_m: f64,
    track_distance_m: f64,
    speed_m_per_s: f64,
    max_doppler_hz: f64,
}

impl HighSpeedTrain {
    /// Returns a train past the base stations of a `track`. Their spacing is twice the initial distance of
    /// 3GPP, which is Ds/2.
    pub fn new(track: &Train, speed: Speed, max_doppler: Doppler) -> Self {
        Self {
            spacing_m: track.spacing.metres(),
            track_distance_m: track.distance.metres(),
            speed_m_per_s: speed.metres_per_second(),
            max_doppler_hz: max_doppler.hz(),
        }
    }

    /// Returns the time between two base stations, s; the shift has twice this period.
    pub(crate) fn passage_s(&self) -> f64 {
        self.spacing_m / self.speed_m_per_s
    }

    /// Returns the Doppler shift in hertz.
    pub(crate) fn shift_hz(&self, at: Instant) -> f64 {
        let along_m = self.position(at).along_m;
        self.max_doppler_hz * along_m / libm::hypot(self.track_distance_m, along_m)
    }

    /// Returns the phase since the start in cycles (the integral of the shift). The shift is proportional to the rate of
    /// change of the distance to the base station. So the phase follows from the distance alone, and each passage ends
    /// with the phase it began with.
    pub(crate) fn phase_cycles(&self, at: Instant) -> f64 {
        let position = self.position(at);
        let edge_distance_m = libm::hypot(self.track_distance_m, self.spacing_m / 2.0);
        let approach_m = edge_distance_m - libm::hypot(self.track_distance_m, position.along_m);
        let cycles = self.max_doppler_hz / self.speed_m_per_s * approach_m;
        if position.is_second_half {
            -cycles
        } else {
            cycles
        }
    }

    fn position(&self, at: Instant) -> Position {
        let passage = self.passage_s();
        let time = at.as_secs_f64() % (2.0 * passage);
        let travelled_m = self.speed_m_per_s * time;
        if time <= passage {
            Position {
                along_m: self.spacing_m / 2.0 - travelled_m,
                is_second_half: false,
            }
        } else {
            Position {
                along_m: travelled_m - 1.5 * self.spacing_m,
                is_second_half: true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the train of TS 36.101 table B.3-1: 300 m, 2 m, 300 km/h, 750 Hz.
    fn ts_36_101() -> HighSpeedTrain {
        let speed = Speed::from_metres_per_second(300.0 / 3.6);
        HighSpeedTrain::new(&Train::default(), speed, Doppler::Hertz(750.0))
    }

    fn at(seconds: f64) -> Instant {
        Instant::from_nanos((seconds * 1e9) as u64)
    }

    /// TS 36.101 figure B.3-1: +750 Hz, a fall to -750 Hz at 1.8 s, a rise at 5.4 s, and again.
    #[test]
    fn the_shift_swings_as_in_figure_b_3_1() {
        let train = ts_36_101();
        assert!((train.passage_s() - 3.6).abs() < 1e-12);
        for (seconds, hz) in [
            (0.0, 749.93),
            (1.8, 0.0),
            (3.6, -749.93),
            (5.4, 0.0),
            (7.2, 749.93),
        ] {
            let result = train.shift_hz(at(seconds));
            assert!((result - hz).abs() < 0.02, "{seconds} s: {result} Hz");
        }
        // 2 m before the mast the angle is 45 degrees.
        let result = train.shift_hz(at(1.8 - 2.0 / (300.0 / 3.6)));
        assert!((result - 750.0 / 2_f64.sqrt()).abs() < 0.01, "{result}");
    }

    #[test]
    fn the_phase_is_the_integral_of_the_shift() {
        let train = ts_36_101();
        let step = 1e-5;
        let mut cycles = 0.0;
        for index in 0..760_000_u32 {
            let middle = (f64::from(index) + 0.5) * step;
            cycles += train.shift_hz(at(middle)) * step;
            if index % 50_000 == 49_999 {
                let result = train.phase_cycles(at((f64::from(index) + 1.0) * step));
                assert!(
                    (result - cycles).abs() < 1e-3,
                    "{middle} s: {result}, {cycles}"
                );
            }
        }
    }
}
