//! QoE scores of a session from its log: ITU-T P.1203 and linear QoE.
//!
//! ITU-T P.1203 gives a mean opinion score from 1 to 5: [`video_quality`] is P.1203.1 in mode 0 (which knows rate,
//! resolution and frame rate only), [`audio_quality`] is P.1203.2, and [`integration`] is P.1203.3. The implementation
//! follows the Recommendations; patents may be claimed on them, see the patent database of the ITU. P.1203.3
//! combines a parametric part with a random forest. The forest is not shipped; [`Forest`] reads it from a folder.
//! Without it, the parametric part is used alone.
//!
//! # Limits
//! P.1203 has been validated for sessions from 30 s to 5 min, H.264 up to 1080p, and stalls that end. Only played
//! segments are scored, also if the viewer quit.

pub mod audio_quality;
mod forest;
pub mod integration;
mod linear;
mod mos;
pub mod video_quality;

pub use forest::{Features, Forest};
pub use integration::{P1203Scores, StallEvent};
pub use linear::linear_qoe;
pub use video_quality::{Device, Piece, Screen};

use crate::log::Log;
use crate::manifest::Manifest;

/// Metrics of a session.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SessionMetrics {
    /// Scores of ITU-T P.1203; absent if less than a second was played.
    pub mos: Option<P1203Scores>,
    /// Linear QoE of the whole session, in Mbit/s.
    pub linear: f64,
    /// Time from the opening of the video to the first picture, s; absent if there was none.
    pub startup_s: Option<f64>,
    /// Number of stalls.
    pub stalls: usize,
    /// Total stall time, s.
    pub stalled_s: f64,
    /// Mean rate of the representations that were played, Mbit/s; absent if nothing was.
    pub bitrate_mbps: Option<f64>,
    /// Number of changes of the representation from one played segment to the next.
    pub switches: usize,
}

/// Returns the metrics of a session.
pub fn session_metrics(
    manifest: &Manifest,
    log: &Log,
    screen: &Screen,
    forest: Option<&Forest>,
) -> SessionMetrics {
    let watched = log.watched(manifest.segment_duration());
    let rate = |representation: usize| manifest.representations()[representation].rate.as_mbps();
    let mean = watched
        .iter()
        .map(|segment| rate(segment.quality))
        .sum::<f64>()
        / watched.len() as f64;
    SessionMetrics {
        mos: mos(manifest, log, screen, forest),
        linear: linear_qoe(manifest, log),
        startup_s: log.startup.map(|startup| startup.as_secs_f64()),
        stalls: log.stalls.len(),
        stalled_s: log.stalled().as_secs_f64(),
        bitrate_mbps: (!watched.is_empty()).then_some(mean),
        switches: watched
            .windows(2)
            .filter(|pair| pair[0].quality != pair[1].quality)
            .count(),
    }
}

/// Returns the scores of ITU-T P.1203.
fn mos(
    manifest: &Manifest,
    log: &Log,
    screen: &Screen,
    forest: Option<&Forest>,
) -> Option<P1203Scores> {
    let seconds = log.played.as_secs_f64();
    let duration = manifest.segment_duration().as_secs_f64();
    let piece = |(index, segment): (usize, &crate::SegmentDownload)| {
        let representation = manifest.representations()[segment.quality];
        Piece {
            representation: segment.quality,
            kbps: manifest.video_bytes(segment.segment, segment.quality).get() as f64 * 8e-3
                / duration,
            width: representation.width,
            height: representation.height,
            frame_rate: manifest.frame_rate(),
            duration: duration.min(seconds - index as f64 * duration),
        }
    };
    let pieces: Vec<Piece> = log
        .watched(manifest.segment_duration())
        .iter()
        .enumerate()
        .map(piece)
        .collect();
    let video = video_quality::per_second(&pieces, screen);
    let audio_score = match manifest.audio().bits_per_second() {
        0 => integration::NO_AUDIO,
        bits => audio_quality::aac_lc_score(bits as f64 / 1e3),
    };
    let audio = vec![audio_score; video.len()];
    let startup = log.startup.map(|startup| StallEvent {
        at: 0.0,
        length: startup.as_secs_f64(),
    });
    let stalls = log.stalls.iter().map(|stall| StallEvent {
        at: stall.played.as_secs_f64(),
        length: stall.length.as_secs_f64(),
    });
    let interruptions: Vec<StallEvent> = startup.into_iter().chain(stalls).collect();
    integration::integrate(&audio, &video, &interruptions, forest)
}
