//! High-speed train of TS 36.101 B.3: Doppler shift over time.

use units::{Instant, Speed};

use super::Doppler;
use crate::settings::Train;

/// Train that passes base stations beside the track, one after another. Its Doppler shift swings between the largest
/// one and its negative (TS 36.101 equations B.3.1 to B.3.4).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HighSpeedTrain {
    initial_distance_m: f64,
    track_distance_m: f64,
    speed_m_per_s: f64,
    largest_hz: f64,
}

impl HighSpeedTrain {
    /// Returns a train past the base stations of a `track`, whose spacing is the initial distance of 3GPP (Ds).
    pub fn new(track: &Train, speed: Speed, largest: Doppler) -> Self {
        Self {
            initial_distance_m: track.spacing.metres(),
            track_distance_m: track.distance.metres(),
            speed_m_per_s: speed.metres_per_second(),
            largest_hz: largest.hz(),
        }
    }

    /// Returns the seconds between two base stations. The shift repeats after two.
    pub(crate) fn passage_s(&self) -> f64 {
        self.initial_distance_m / self.speed_m_per_s
    }

    /// Returns the Doppler shift in hertz.
    pub(crate) fn shift_hz(&self, at: Instant) -> f64 {
        let (along, _) = self.place(at);
        self.largest_hz * along / libm::hypot(self.track_distance_m, along)
    }

    /// Returns the turns since the start, the integral of the shift. The shift is the change of the distance to the
    /// base station, so the turns follow from the distance alone, and each passage ends with the turns it began with.
    pub(crate) fn turns(&self, at: Instant) -> f64 {
        let (along, returning) = self.place(at);
        let edge = libm::hypot(self.track_distance_m, self.initial_distance_m / 2.0);
        let nearer = edge - libm::hypot(self.track_distance_m, along);
        let turns = self.largest_hz / self.speed_m_per_s * nearer;
        if returning { -turns } else { turns }
    }

    /// Returns the numerator of the cosine in equations B.3.2 and B.3.3, in metres, and whether equation B.3.3
    /// applies.
    fn place(&self, at: Instant) -> (f64, bool) {
        let passage = self.passage_s();
        let time = at.as_secs_f64() % (2.0 * passage);
        let way = self.speed_m_per_s * time;
        if time <= passage {
            (self.initial_distance_m / 2.0 - way, false)
        } else {
            (way - 1.5 * self.initial_distance_m, true)
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
        let mut turns = 0.0;
        for index in 0..760_000_u32 {
            let middle = (f64::from(index) + 0.5) * step;
            turns += train.shift_hz(at(middle)) * step;
            if index % 50_000 == 49_999 {
                let result = train.turns(at((f64::from(index) + 1.0) * step));
                assert!(
                    (result - turns).abs() < 1e-3,
                    "{middle} s: {result}, {turns}"
                );
            }
        }
    }
}
