//! Video quality by ITU-T P.1203.1, mode 0: a score for each second from rate, resolution and frame rate of H.264.

use config::{FieldError, check_number, table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mos;

/// Compression (clause 8.1): quantization from rate, resolution and frame rate, and the score that it allows.
const A: [f64; 4] = [
    11.998_351_9,
    -2.999_918_47,
    41.247_507_400_1,
    0.131_831_659_61,
];
const Q: [f64; 3] = [4.66, -0.07, 4.06];
/// Degradation by upscaling.
const U: [f64; 2] = [72.61, 0.32];
/// Degradation by a low frame rate.
const T: [f64; 3] = [30.98, 1.29, 64.65];
/// Minimum frame rate without degradation.
const FULL_FRAME_RATE: f64 = 24.0;
/// Polynomial for handheld devices (clause 8.4.1).
const HANDHELD: [f64; 4] = [-0.602_93, 2.123_82, -0.369_36, 0.034_09];
/// Half of the window around a second in which the rate is averaged, s (ITU-T P.1203, clause 7.4).
const HALF_WINDOW: f64 = 10.0;

/// Device on which the video is watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// Screen of a computer or a television.
    #[default]
    Pc,
    /// Handheld screen.
    Mobile,
}

table! {
    /// Screen of the viewer.
    pub struct Screen {
        /// Kind of the device; default "pc".
        pub device: Device,
        /// Width of the picture in pixels; default 1920.
        pub width: u32 = 1_920,
        /// Height of the picture in pixels; default 1080.
        pub height: u32 = 1_080,
    }
}

impl Screen {
    /// Checks that the picture has a size.
    ///
    /// # Errors
    /// [`FieldError`] names the side that is out of range.
    pub fn check(&self) -> Result<(), FieldError> {
        check_number("width", self.width, 1, 16_384)?;
        check_number("height", self.height, 1, 16_384)
    }

    fn pixels(&self) -> f64 {
        f64::from(self.width) * f64::from(self.height)
    }
}

/// Stretch of the played video of one representation, usually a segment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Piece {
    /// Index of the representation.
    pub representation: usize,
    /// Rate of the video in kbit/s.
    pub kbps: f64,
    /// Width of the picture in pixels.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
    /// Frames per second.
    pub frame_rate: f64,
    /// Duration in seconds.
    pub duration: f64,
}

/// Returns the score of a rate in kbit/s, for pictures of `coded` pixels on a screen of `shown` pixels.
pub(crate) fn mode0(coded: f64, shown: f64, kbps: f64, frame_rate: f64) -> f64 {
    let per_pixel = kbps * kbps / (coded * frame_rate) + A[3];
    let quantization = A[0] + A[1] * libm::log(A[2] + libm::log(kbps) + libm::log(per_pixel));
    let coding = (Q[0] + Q[1] * libm::exp(Q[2] * quantization)).clamp(1.0, 5.0);
    let coding_degradation = (100.0 - mos::to_quality(coding)).clamp(0.0, 100.0);
    let scale = (shown / coded).max(1.0);
    let scaling_degradation = (U[0] * libm::log10(U[1] * (scale - 1.0) + 1.0)).clamp(0.0, 100.0);
    let frame_rate_degradation = if frame_rate < FULL_FRAME_RATE {
        let left = 100.0 - coding_degradation - scaling_degradation;
        (left * (T[0] - T[1] * frame_rate) / (T[2] + frame_rate)).clamp(0.0, 100.0)
    } else {
        0.0
    };
    let degraded =
        (coding_degradation + scaling_degradation + frame_rate_degradation).clamp(0.0, 100.0);
    mos::from_quality(100.0 - degraded)
}

/// Returns the scores O.22, one for each whole second.
///
/// The rate of a second is the mean over the adjacent pieces of its representation, at most 10 s before and after.
pub fn per_second(pieces: &[Piece], screen: &Screen) -> Vec<f64> {
    let mut ends = Vec::with_capacity(pieces.len());
    let mut total = 0.0;
    for piece in pieces {
        total += piece.duration;
        ends.push(total);
    }
    // Sums of seconds are not exact.
    let seconds = libm::floor(total + 0.01) as usize;
    let mut current = 0;
    let score = |second: usize| {
        let at = second as f64;
        while current + 1 < pieces.len() && ends[current] < at - 1e-6 {
            current += 1;
        }
        let piece = pieces[current];
        let same = |index: &usize| pieces[*index].representation == piece.representation;
        let from = (0..current)
            .rev()
            .take_while(same)
            .last()
            .unwrap_or(current);
        let to = (current + 1..pieces.len())
            .take_while(same)
            .last()
            .unwrap_or(current);
        let (mut bits, mut time) = (0.0, 0.0);
        for index in from..=to {
            let start = ends[index] - pieces[index].duration;
            let overlap = ends[index].min(at + HALF_WINDOW) - start.max(at - HALF_WINDOW);
            if overlap > 0.0 {
                bits += pieces[index].kbps * overlap;
                time += overlap;
            }
        }
        let coded = f64::from(piece.width) * f64::from(piece.height);
        let score = mode0(coded, screen.pixels(), bits / time, piece.frame_rate);
        match screen.device {
            Device::Pc => score,
            Device::Mobile => handheld(score),
        }
    };
    (1..=seconds).map(score).collect()
}

fn handheld(score: f64) -> f64 {
    let terms = HANDHELD
        .iter()
        .rev()
        .fold(0.0, |sum, factor| sum * score + factor);
    terms.clamp(1.0, 5.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL_HD: f64 = 1_920.0 * 1_080.0;

    /// Values that the authors of the Recommendation publish with their software for checking others.
    #[test]
    fn the_published_values_of_mode_0_are_reproduced() {
        let checks = [
            (FULL_HD, 2_801.275_876_23, 4.311),
            (852.0 * 480.0, 629.203_792_838, 2.664),
            (426.0 * 240.0, 224.771_246_112, 1.085),
        ];
        for (coded, kbps, mos) in checks {
            let ours = mode0(coded, FULL_HD, kbps, 30.0);
            assert!((ours - mos).abs() < 0.001, "{ours} instead of {mos}");
        }
    }

    fn piece(representation: usize, kbps: f64) -> Piece {
        Piece {
            representation,
            kbps,
            width: 1_280,
            height: 720,
            frame_rate: 24.0,
            duration: 4.0,
        }
    }

    #[test]
    fn the_rate_is_averaged_within_a_representation_and_ten_seconds() {
        let screen = Screen::default();
        let pieces = [
            piece(0, 1_000.0),
            piece(0, 2_000.0),
            piece(1, 9_000.0),
            piece(0, 1_500.0),
        ];
        let scores = per_second(&pieces, &screen);
        let of = |kbps| mode0(1_280.0 * 720.0, FULL_HD, kbps, 24.0);
        assert_eq!(scores.len(), 16);
        for (second, kbps) in [(0, 1_500.0), (7, 1_500.0), (8, 9_000.0), (12, 1_500.0)] {
            assert!((scores[second] - of(kbps)).abs() < 1e-9);
        }
        let long: Vec<Piece> = [500.0, 500.0, 500.0, 2_000.0, 2_000.0, 2_000.0]
            .map(|kbps| piece(3, kbps))
            .to_vec();
        // The first second sees 11 s of the first 12 s; the second at 10 s sees 10 s before it and 10 s after.
        let scores = per_second(&long, &screen);
        assert!((scores[0] - of(500.0)).abs() < 1e-9);
        assert!((scores[9] - of((12.0 * 500.0 + 8.0 * 2_000.0) / 20.0)).abs() < 1e-9);
    }

    #[test]
    fn a_small_screen_and_a_handheld_device_forgive() {
        let pieces = [piece(0, 800.0)];
        let at = |screen: Screen| per_second(&pieces, &screen)[0];
        let large = at(Screen::default());
        let small = at(Screen {
            width: 1_280,
            height: 720,
            ..Screen::default()
        });
        let handheld = at(Screen {
            device: Device::Mobile,
            ..Screen::default()
        });
        assert!(
            small > large && handheld > large,
            "{large} {small} {handheld}"
        );
    }

    #[test]
    fn few_frames_per_second_degrade() {
        let at = |frame_rate| mode0(FULL_HD, FULL_HD, 3_000.0, frame_rate);
        assert!(at(12.0) < at(20.0) && at(20.0) < at(24.0));
    }
}
