//! Scores of sessions given as numbers, for comparisons with the reference software.

use std::path::PathBuf;

use pyo3::prelude::*;
use video::score::audio_quality::aac_lc_score;
use video::score::integration::integrate;
use video::score::video_quality::per_second;
use video::score::{Forest, Piece, Screen, StallEvent};

use crate::error::{Result, reject};

/// Returns O.23, O.35 and O.46 of ITU-T P.1203 for a session on a screen of 1920x1080.
///
/// Pieces are stretches of video: rate in kbit/s, width, height, frames per second, duration in s. Interruptions are the
/// video played before and the time, in s. The forest is a folder with trees.
#[pyfunction]
#[pyo3(signature = (pieces, audio_kbps, interruptions, forest=None))]
pub(crate) fn p1203_scores(
    pieces: Vec<(f64, u32, u32, f64, f64)>,
    audio_kbps: f64,
    interruptions: Vec<(f64, f64)>,
    forest: Option<PathBuf>,
) -> Result<(f64, f64, f64)> {
    let piece = |(representation, fields): (usize, (f64, u32, u32, f64, f64))| {
        let (kbps, width, height, frame_rate, duration) = fields;
        Piece {
            representation,
            kbps,
            width,
            height,
            frame_rate,
            duration,
        }
    };
    let pieces: Vec<Piece> = pieces.into_iter().enumerate().map(piece).collect();
    let video = per_second(&pieces, &Screen::default());
    let audio = vec![aac_lc_score(audio_kbps); video.len()];
    let interruptions: Vec<StallEvent> = interruptions
        .into_iter()
        .map(|(at, length)| StallEvent { at, length })
        .collect();
    let forest = forest.map(|folder| Forest::read(&folder)).transpose()?;
    integrate(&audio, &video, &interruptions, forest.as_ref())
        .map(|scores| (scores.o23, scores.o35, scores.o46))
        .ok_or_else(|| reject("pieces: less than a second of video"))
}
