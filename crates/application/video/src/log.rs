//! Session log: downloads, stalls and start-up of a session.

use units::{Bytes, Duration, Instant};

use crate::playback::Stall;

/// Reason for which a session has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The video was played to its end.
    Watched,
    /// The viewer left because the first picture did not come, and not a byte had arrived.
    NothingArrived,
    /// The viewer left because the first picture did not come.
    NeverStarted,
    /// The viewer left during a stall.
    QuitInStall,
    /// The session was stopped from outside.
    Stopped,
}

impl Outcome {
    /// Returns the reason as a sentence for reports.
    pub fn message(self) -> &'static str {
        match self {
            Self::Watched => "the video was played to its end",
            Self::NothingArrived => "the viewer left: not a byte of the video arrived",
            Self::NeverStarted => "the viewer left: the playback did not start in time",
            Self::QuitInStall => "the viewer left: a stall lasted too long",
            Self::Stopped => "the session was stopped before the end of the video",
        }
    }
}

/// Segment that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentDownload {
    /// Index of the segment.
    pub segment: usize,
    /// Quality of the segment: the index of its representation.
    pub quality: usize,
    /// Its bytes.
    pub bytes: Bytes,
    /// Time of the request.
    pub requested: Instant,
    /// Time at which its first bytes arrived.
    pub first: Instant,
    /// Number of these first bytes.
    pub first_bytes: Bytes,
    /// Bytes that arrived over the other connections meanwhile: from the request to the first bytes, and from then to
    /// the last byte.
    pub beside: [Bytes; 2],
    /// Time at which its last byte arrived.
    pub finished: Instant,
    /// Level of the buffer after it had arrived.
    pub buffer: Duration,
}

impl SegmentDownload {
    /// Returns the rate of all connections, bit/s, and its duration, s: from the first bytes to the last byte, or from
    /// the request on if all bytes arrived at once. `None` if that took no time either.
    pub fn throughput(&self) -> Option<(f64, f64)> {
        let rate = |bytes: u64, time: Duration| {
            let seconds = time.as_secs_f64();
            (bytes > 0 && seconds > 0.0).then(|| (bytes as f64 * 8.0 / seconds, seconds))
        };
        let rest = self.bytes.get() - self.first_bytes.get();
        let after_first = (rest > 0).then_some(rest + self.beside[1].get());
        after_first
            .and_then(|bytes| rate(bytes, self.finished - self.first))
            .or_else(|| rate(self.received(), self.duration()))
    }

    /// Returns the rate of all connections in bit/s from the request on; `None` if that took no time.
    pub(crate) fn throughput_with_latency(&self) -> Option<f64> {
        let seconds = self.duration().as_secs_f64();
        (seconds > 0.0).then(|| self.received() as f64 * 8.0 / seconds)
    }

    fn received(&self) -> u64 {
        self.bytes.get() + self.beside[0].get() + self.beside[1].get()
    }

    /// Returns the time from the request to the last byte.
    pub fn duration(&self) -> Duration {
        self.finished - self.requested
    }
}

/// Record of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Log {
    /// Time at which the viewer opened the video.
    pub opened: Instant,
    /// Time from then to the first picture; absent if there was none.
    pub startup: Option<Duration>,
    /// Time at which the session ended, or up to which it has been recorded.
    pub until: Instant,
    /// Video that was played.
    pub played: Duration,
    /// Stalls in the order of time.
    pub stalls: Vec<Stall>,
    /// Segments in the order of their numbers.
    pub segments: Vec<SegmentDownload>,
    /// Requests that were abandoned, or lost with their connection.
    pub abandoned: u32,
    /// Bytes of these requests.
    pub wasted: Bytes,
    /// Time by which the picture was behind the live edge at the end; absent for video on demand.
    pub latency: Option<Duration>,
    /// Reason of the end; absent while the session runs.
    pub outcome: Option<Outcome>,
}

impl Log {
    /// Returns the time in which the picture stood.
    pub fn stalled(&self) -> Duration {
        self.stalls
            .iter()
            .fold(Duration::ZERO, |sum, stall| sum + stall.length)
    }

    /// Returns the segments of which at least a part was played, given the duration of each.
    pub fn watched(&self, segment: Duration) -> &[SegmentDownload] {
        let count = self.played.as_nanos().div_ceil(segment.as_nanos());
        &self.segments[..(count as usize).min(self.segments.len())]
    }
}
