//! ABR: algorithms that choose the quality of each segment, one file each.
//!
//! Decisions are computed with floating-point numbers by functions that give the same bits on every machine.

mod abandon;
mod bba0;
mod bba2;
mod bola;
mod bola_e;
mod buffer_guard;
mod estimate;
mod robust_mpc;
mod throughput;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};
use units::{Duration, Instant, Rate};

pub use crate::log::SegmentDownload;
use crate::manifest::Manifest;
use crate::playback::Stage;

/// State of a session as an algorithm sees it.
#[derive(Clone, Copy, Debug)]
pub struct AbrState<'a> {
    /// The video.
    pub manifest: &'a Manifest,
    /// Present time.
    pub now: Instant,
    /// Segment that the call is about: the one to be requested, the running one, or the one after the one that arrived.
    pub segment: usize,
    /// Number of segments of the video.
    pub segments: usize,
    /// Quality of the latest request.
    pub last: Option<usize>,
    /// Video in the buffer.
    pub buffer: Duration,
    /// Maximum buffer level: that of the player, or the part of a live stream that is not played yet.
    pub max_buffer: Duration,
    /// State of the playback.
    pub stage: Stage,
    /// Number of stalls so far.
    pub stalls: usize,
    /// Rate of the first segment at most, for algorithms that begin by throughput.
    pub initial: Rate,
}

impl AbrState<'_> {
    /// Returns the level of the buffer in seconds.
    pub fn level(&self) -> f64 {
        self.buffer.as_secs_f64()
    }

    /// Returns the duration of a segment in seconds.
    pub(crate) fn segment_s(&self) -> f64 {
        self.manifest.segment_duration().as_secs_f64()
    }

    /// Returns the quality with which algorithms begin that know no throughput yet.
    pub fn first(&self) -> usize {
        self.manifest
            .highest_within(self.initial.bits_per_second() as f64)
    }
}

/// Decision about the next segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Quality to be requested.
    pub quality: usize,
    /// Time to wait, after which the algorithm is asked again; zero to request at once.
    pub pause: Duration,
}

impl Choice {
    /// Chooses a quality without a pause.
    pub fn now(quality: usize) -> Self {
        Self {
            quality,
            pause: Duration::ZERO,
        }
    }
}

/// State of a running request.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Its quality.
    pub quality: usize,
    /// Bytes of the response.
    pub bytes: u64,
    /// Bytes that have arrived.
    pub arrived: u64,
    /// Time of the request.
    pub requested: Instant,
    /// Time of the first bytes.
    pub first: Instant,
}

/// Algorithm that chooses the quality of each segment.
pub trait Abr: Send {
    /// Chooses the quality of the next segment.
    fn choose(&mut self, state: &AbrState) -> Choice;

    /// Learns of a segment that has arrived.
    fn downloaded(&mut self, _state: &AbrState, _download: &SegmentDownload) {}

    /// Returns a lower quality for which the running request is to be abandoned.
    fn abandon(&mut self, _state: &AbrState, _progress: &Progress) -> Option<usize> {
        None
    }
}

/// Name of an algorithm.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Debug,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Algorithm {
    /// Throughput rule of dash.js.
    Throughput,
    /// Buffer-based algorithm with a map from the buffer to the rate (Huang et al., 2014).
    #[serde(rename = "bba-0")]
    #[strum(serialize = "bba-0")]
    Bba0,
    /// The same with a map to the size of the segment and a faster start.
    #[serde(rename = "bba-2")]
    #[strum(serialize = "bba-2")]
    Bba2,
    /// BOLA with one parameter for the whole session, as published (Spiteri et al., 2016).
    Bola,
    /// BOLA for videos of finite length, as published.
    BolaFinite,
    /// BOLA as dash.js has it: with a placeholder buffer, and with the rule against an insufficient buffer.
    #[default]
    BolaE,
    /// Model predictive control with a lower bound of the throughput (Yin et al., 2015).
    RobustMpc,
}

impl Algorithm {
    /// Algorithms, in the order of the documentation.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Returns the name in settings.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Creates the algorithm for a session of a video.
    pub fn build(self, manifest: &Manifest) -> Box<dyn Abr> {
        match self {
            Self::Throughput => Box::new(throughput::Throughput::default()),
            Self::Bba0 => Box::new(bba0::Bba0),
            Self::Bba2 => Box::new(bba2::Bba2::default()),
            Self::Bola => Box::new(bola::Bola::basic(manifest)),
            Self::BolaFinite => Box::new(bola::Bola::finite(manifest)),
            Self::BolaE => Box::new(bola_e::BolaE::default()),
            Self::RobustMpc => Box::new(robust_mpc::RobustMpc::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Algorithm;

    #[test]
    fn names_are_those_of_settings() {
        for algorithm in Algorithm::ALL {
            assert_eq!(serde_json::to_value(algorithm).unwrap(), algorithm.name());
        }
    }
}

#[cfg(test)]
pub(crate) mod samples {
    //! Views and segments for the tests of algorithms.

    use super::*;
    use crate::manifest::Representation;
    use units::Bytes;

    /// Returns a manifest of constant rates in kbit/s, with segments of some seconds.
    pub(crate) fn manifest(segment: u64, kbps: &[u64]) -> Manifest {
        let representation = |kbps: &u64| Representation {
            rate: Rate::from_bits_per_second(kbps * 1_000),
            width: 1_280,
            height: 720,
        };
        let representations = kbps.iter().map(representation).collect();
        Manifest::constant(Duration::from_secs(segment), representations).unwrap()
    }

    /// Returns a view in the middle of a long video, with levels in seconds.
    pub(crate) fn state(
        manifest: &Manifest,
        buffer: f64,
        max_buffer: f64,
        last: usize,
    ) -> AbrState<'_> {
        AbrState {
            manifest,
            now: Instant::ZERO + Duration::from_secs(1_000),
            segment: 500,
            segments: 1_000,
            last: Some(last),
            buffer: Duration::from_secs_f64(buffer),
            max_buffer: Duration::from_secs_f64(max_buffer),
            stage: Stage::Playing,
            stalls: 0,
            initial: Rate::from_bits_per_second(1_000_000),
        }
    }

    /// Returns a segment that arrived just now with a constant throughput in Mbit/s.
    pub(crate) fn sample_download(state: &AbrState, quality: usize, mbps: f64) -> SegmentDownload {
        let bytes = state.manifest.segment_bytes(state.segment, quality);
        let took = Duration::from_secs_f64(bytes.get() as f64 * 8e-6 / mbps);
        let requested = Instant::from_nanos(state.now.as_nanos() - took.as_nanos());
        SegmentDownload {
            segment: state.segment,
            quality,
            bytes,
            requested,
            first: requested,
            first_bytes: Bytes::new(0),
            beside: [Bytes::new(0); 2],
            finished: state.now,
            buffer: state.buffer,
        }
    }
}
