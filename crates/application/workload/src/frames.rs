//! Real-time frames: the server sends each frame when it is made, as in a video call, on one connection.

mod backlog;
mod encoder;
mod source;

use config::{Distribution, FieldContext, FieldError, positive, table};
use units::random::RngStream;
use units::{Bytes, Duration};

use crate::application::Application;
use crate::jitter::{JITTER, check_jitter, differ};
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
    }
}

impl FrameKind {
    fn check(&self) -> Result<(), FieldError> {
        self.size.check(false).in_table("size")?;
        self.interval.check(false).in_table("interval")
    }

    fn is_random(&self, jitter: f64) -> bool {
        self.size.is_random() || differ(&self.interval, jitter)
    }
}

table! {
    /// Frames in real time. What the connection does not take yet waits at the sending node.
    /// Events have the delay of each frame when it has arrived, "frame_ms". At the end of the run, they have "frames"
    /// (frames that were sent), "late_share" (share of them that arrived after the deadline, or not at all), and the
    /// mean and the highest "frame_delay_ms" and "frame_delay_max_ms" of those that arrived. Frames whose deadline is
    /// after the end of the run count only if they have arrived; of others that have not, events have the age then,
    /// "frame_age_ms". With a backlog of so many frames, events have "dropped_share", and with an encoder that follows
    /// the rate "frame_size_share", the mean size of the frames.
    pub struct Frames {
        /// Payload of each frame; default 10kB, which is 2.4 Mbit/s.
        pub size: Distribution<Bytes> = Distribution::Constant {
            value: Bytes::new(10_000),
        },
        /// Time from a frame to the next; default 33ms.
        pub interval: Distribution<Duration> = INTERVAL,
        /// Share by which a constant interval of any kind is shorter or longer at random, from 0 to 1; default 0.1,
        /// with which periodic flows do not stay in phase; 0: none.
        pub jitter: f64 = JITTER,
        /// Further kinds of frames on the same connection, each with sizes and intervals of its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub beside: Option<Vec<FrameKind>>,
        /// Time from the making of a frame until all of it has to be there; default 150ms (ITU-T G.114).
        pub deadline: Duration = Duration::from_millis(150),
        /// Frames that wait at the sending node while the connection takes no more: "all", "newest" (one), or a number.
        /// Older ones are dropped, and count as late. The send buffer holds frames as well; tcp.notsent_lowat keeps
        /// them out of it. Default "all".
        pub backlog: Backlog = Backlog::All,
        /// Encoder whose frames become smaller while the connection takes no more; unset: frames keep their size.
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
        };
        let beside = self.beside.iter().flatten().cloned();
        core::iter::once(own).chain(beside).collect()
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
        positive("deadline", self.deadline)
    }

    fn is_random(&self) -> bool {
        self.kinds().iter().any(|kind| kind.is_random(self.jitter))
    }

    fn round(&self, _: f64) -> f64 {
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
