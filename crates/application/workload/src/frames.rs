//! Real-time frames: the server sends each frame when it is captured, as in a video call, on one connection.

mod backlog;
mod encoder;
mod source;

use config::{Distribution, FieldContext, FieldError, check_positive, table};
use units::random::RngStream;
use units::{Bytes, Duration};

use crate::application::Application;
use crate::jitter::{DEFAULT_JITTER, check_jitter, is_random_pause};
use crate::workload::Settings;
pub use backlog::Backlog;
pub use encoder::Encoder;
use source::FrameSource;

/// Time from a frame to the next of a call with 30 frames a second.
const INTERVAL: Distribution<Duration> = Distribution::Constant {
    value: Duration::from_millis(33),
};

table! {
    /// Frames of one kind, such as the I-frames of a video, or its audio.
    pub struct FrameKind {
        /// Payload of each frame; default 10kB.
        pub size: Distribution<Bytes> = Distribution::Constant {
            value: Bytes::new(10_000),
        },
        /// Time from a frame to the next of the same kind; default 33ms.
        pub interval: Distribution<Duration> = INTERVAL,
        /// Time from capture by which a frame of this kind must have arrived completely; unset: that of the flow. If one
        /// kind has it, each has figures of its own, and the kind with the shortest deadline ranks CCAs.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub deadline: Option<Duration>,
    }
}

impl FrameKind {
    fn check(&self) -> Result<(), FieldError> {
        self.size.check(false).in_table("size")?;
        self.interval.check(false).in_table("interval")?;
        self.deadline
            .map_or(Ok(()), |deadline| check_positive("deadline", deadline))
    }

    fn is_random(&self, jitter: f64) -> bool {
        self.size.is_random() || is_random_pause(&self.interval, jitter)
    }
}

table! {
    /// Frames in real time. Frames that the send buffer does not accept wait at the sending node.
    /// Recorded events: "frame_ms", the delay of each frame that arrived. At the end of the run: "frames" (number
    /// sent), "late_share" (share that arrived after the deadline, or not at all), and the mean and maximum delay of
    /// those that arrived, "frame_delay_ms" and "frame_delay_max_ms". Frames whose deadline is after the end of the run
    /// count only if they have arrived; for frames past the deadline that have not arrived, "frame_age_ms" is their age
    /// at the end. With a limited backlog there is "dropped_share"; with an encoder "frame_size_share", the mean
    /// relative size. If a kind has a deadline of its own, "frame_kind" after each of these delays and ages is the number
    /// of the kind, and at the end each kind has "kind_frames" and "kind_late_share".
    pub struct Frames {
        /// Payload of each frame; default 10kB, which is 2.4 Mbit/s.
        pub size: Distribution<Bytes> = Distribution::Constant {
            value: Bytes::new(10_000),
        },
        /// Time from a frame to the next; default 33ms.
        pub interval: Distribution<Duration> = INTERVAL,
        /// Jitter of constant intervals: uniform within ± this share of them, from 0 to 1; default 0.1, which keeps
        /// periodic flows from staying in phase; 0: none.
        pub jitter: f64 = DEFAULT_JITTER,
        /// Further kinds of frames on the same connection, each with sizes and intervals of its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub beside: Option<Vec<FrameKind>>,
        /// Time from capture of a frame by which it must have arrived completely; default 150ms (ITU-T G.114).
        pub deadline: Duration = Duration::from_millis(150),
        /// Maximum number of frames that wait at the sending node for the send buffer: "all", "newest" (one), or a
        /// number. The oldest are dropped, and count as late. The send buffer holds frames as well; tcp.notsent_lowat
        /// keeps them out of it. Default "all".
        pub backlog: Backlog = Backlog::All,
        /// Encoder whose frames become smaller while frames wait for the send buffer; unset: frames keep their size.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub encoder: Option<Encoder>,
    }
}

impl Frames {
    /// Returns all kinds of frames.
    fn kinds(&self) -> Vec<FrameKind> {
        let own = FrameKind {
            size: self.size,
            interval: self.interval,
            deadline: None,
        };
        let others = self.beside.iter().flatten().cloned();
        core::iter::once(own).chain(others).collect()
    }
}

impl Settings for Frames {
    fn check(&self) -> Result<(), FieldError> {
        self.size.check(false).in_table("size")?;
        self.interval.check(false).in_table("interval")?;
        check_jitter(self.jitter)?;
        for (index, kind) in self.beside.iter().flatten().enumerate() {
            kind.check().in_table(format_args!("beside.{index}"))?;
        }
        if let Some(encoder) = &self.encoder {
            encoder.check().in_table("encoder")?;
        }
        check_positive("deadline", self.deadline)
    }

    fn is_random(&self) -> bool {
        self.kinds().iter().any(|kind| kind.is_random(self.jitter))
    }

    fn mean_period_ns(&self, _: f64) -> f64 {
        let per_nanosecond: f64 = self
            .kinds()
            .iter()
            .map(|kind| 1.0 / kind.interval.mean())
            .sum();
        1.0 / per_nanosecond
    }

    fn sets_nodelay(&self) -> bool {
        // Calls over TCP set it, as WebRTC does for TURN and ICE over TCP.
        true
    }

    fn application(&self, draws: RngStream) -> Box<dyn Application> {
        Box::new(FrameSource::new(self, draws))
    }
}
