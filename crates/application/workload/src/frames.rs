//! Real-time frames: the server sends each frame when it is made, as in a video call, on one connection.

use std::collections::VecDeque;

use config::{Distribution, FieldContext, FieldError, positive, table};
use units::random::RngStream;
use units::{Bytes, Duration, Instant};

use crate::application::{Application, Command, End};
use crate::jitter::{JITTER, Jitter, check_jitter, differ};
use crate::workload::Settings;

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
    /// Frames in real time. No frame is left out: what the connection does not take yet waits at the sending node.
    /// Events have the delay of each frame when it has arrived, "frame_ms". At the end of the run, they have "frames"
    /// (frames that were sent), "late_share" (share of them that arrived after the deadline, or not at all), and the
    /// mean and the highest "frame_delay_ms" and "frame_delay_max_ms" of those that arrived. Frames whose deadline is
    /// after the end of the run count only if they have arrived.
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
        /// Time from the sending of a frame until all of it has to be there; default 150ms (ITU-T G.114).
        pub deadline: Duration = Duration::from_millis(150),
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

/// Frame in flight.
#[derive(Clone, Copy, Debug)]
struct FrameInFlight {
    sent: Instant,
    /// Bytes sent on the connection up to the end of the frame.
    end: u64,
}

/// Sender of the frames of a flow.
pub(crate) struct FrameSource {
    deadline: Duration,
    draws: RngStream,
    jitter: Jitter,
    is_open: bool,
    /// Each kind of frames, with the time of its next frame.
    kinds: Vec<(FrameKind, Instant)>,
    in_flight: VecDeque<FrameInFlight>,
    sent_bytes: u64,
    arrived_bytes: u64,
    /// Number of frames that have arrived, and how many of them did so after the deadline.
    arrived: u64,
    late: u64,
    /// Sum and maximum of the delays of frames that have arrived.
    delay_sum: Duration,
    max_delay: Duration,
}

impl FrameSource {
    pub(crate) fn new(config: &Frames, draws: RngStream) -> Self {
        let kinds = config.kinds().into_iter();
        Self {
            deadline: config.deadline,
            jitter: Jitter::new(config.jitter, &draws),
            draws,
            is_open: false,
            kinds: kinds.map(|kind| (kind, Instant::ZERO)).collect(),
            in_flight: VecDeque::new(),
            sent_bytes: 0,
            arrived_bytes: 0,
            arrived: 0,
            late: 0,
            delay_sum: Duration::ZERO,
            max_delay: Duration::ZERO,
        }
    }

    fn has_missed(&self, frame: &FrameInFlight, now: Instant) -> bool {
        now.saturating_since(frame.sent) > self.deadline
    }
}

impl Application for FrameSource {
    fn wants_progress(&self) -> bool {
        true
    }

    fn wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        if !self.is_open {
            self.is_open = true;
            out.push(Command::Open);
        }
        let mut next = Instant::NEVER;
        for (kind, at) in &mut self.kinds {
            if *at <= now {
                let bytes = kind.size.draw(&mut self.draws).get().max(1);
                self.sent_bytes += bytes;
                self.in_flight.push_back(FrameInFlight {
                    sent: now,
                    end: self.sent_bytes,
                });
                out.push(Command::Send(End::Server, bytes));
                let interval = self.jitter.pause(&kind.interval, &mut self.draws);
                *at = now + interval.max(Duration::from_nanos(1));
            }
            next = next.min(*at);
        }
        out.push(Command::WakeAt(next));
    }

    fn on_progress(&mut self, now: Instant, _: End, bytes: u64, out: &mut Vec<Command>) {
        self.arrived_bytes += bytes;
        while let Some(frame) = self.in_flight.front().copied()
            && frame.end <= self.arrived_bytes
        {
            self.in_flight.pop_front();
            let delay = now.saturating_since(frame.sent);
            self.arrived += 1;
            self.late += u64::from(self.has_missed(&frame, now));
            self.delay_sum += delay;
            self.max_delay = self.max_delay.max(delay);
            out.push(Command::Record("frame_ms", milliseconds(delay)));
        }
    }

    fn stopped(&mut self, now: Instant, out: &mut Vec<Command>) {
        let missing = self
            .in_flight
            .iter()
            .filter(|frame| self.has_missed(frame, now))
            .count() as u64;
        let sent = self.arrived + missing;
        if sent == 0 {
            return;
        }
        out.push(Command::Record("frames", sent as f64));
        out.push(Command::Record(
            "late_share",
            (self.late + missing) as f64 / sent as f64,
        ));
        if self.arrived > 0 {
            let mean = milliseconds(self.delay_sum) / self.arrived as f64;
            out.push(Command::Record("frame_delay_ms", mean));
            let max = milliseconds(self.max_delay);
            out.push(Command::Record("frame_delay_max_ms", max));
        }
    }
}

fn milliseconds(delay: Duration) -> f64 {
    delay.as_nanos() as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Purpose;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Sends three frames of 1000 bytes every 33 ms.
    fn camera() -> FrameSource {
        let config = Frames {
            size: Distribution::Constant {
                value: Bytes::new(1_000),
            },
            jitter: 0.0,
            ..Frames::default()
        };
        config.check().unwrap();
        let mut camera = FrameSource::new(&config, RngStream::new(1, Purpose::Workload, 0));
        let mut out = Vec::new();
        for frame in 0..3 {
            camera.wake(at(33 * frame), &mut out);
        }
        assert_eq!(out[0], Command::Open);
        assert_eq!(out.last(), Some(&Command::WakeAt(at(99))));
        camera
    }

    #[test]
    fn a_frame_is_late_when_its_last_byte_comes_after_the_deadline() {
        let mut camera = camera();
        let mut out = Vec::new();
        camera.on_progress(at(150), End::Client, 1_000, &mut out);
        // The second frame has 183 ms, and the last byte comes a millisecond later.
        camera.on_progress(at(183), End::Client, 999, &mut out);
        camera.on_progress(at(184), End::Client, 1, &mut out);
        // The third frame has not arrived, and its deadline is later than the end of the run.
        camera.stopped(at(200), &mut out);
        let expected = [
            Command::Record("frame_ms", 150.0),
            Command::Record("frame_ms", 151.0),
            Command::Record("frames", 2.0),
            Command::Record("late_share", 0.5),
            Command::Record("frame_delay_ms", 150.5),
            Command::Record("frame_delay_max_ms", 151.0),
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn kinds_of_frames_have_their_own_times_on_one_connection() {
        let kind = |bytes, ms| FrameKind {
            size: Distribution::Constant {
                value: Bytes::new(bytes),
            },
            interval: Distribution::Constant {
                value: Duration::from_millis(ms),
            },
        };
        let config = Frames {
            beside: Some(vec![kind(500, 10), kind(70, 25)]),
            jitter: 0.0,
            ..Frames::default()
        };
        config.check().unwrap();
        let mut camera = FrameSource::new(&config, RngStream::new(1, Purpose::Workload, 0));
        let (mut now, mut sent) = (Instant::ZERO, Vec::new());
        while now <= at(30) {
            let mut out = Vec::new();
            camera.wake(now, &mut out);
            let mut next = now;
            for command in out {
                match command {
                    Command::Send(End::Server, bytes) => sent.push((now, bytes)),
                    Command::WakeAt(at) => next = at,
                    Command::Open => assert_eq!(sent, []),
                    other => panic!("{other:?}"),
                }
            }
            now = next;
        }
        let expected = [
            (0, 10_000),
            (0, 500),
            (0, 70),
            (10, 500),
            (20, 500),
            (25, 70),
            (30, 500),
        ];
        assert_eq!(sent, expected.map(|(ms, bytes)| (at(ms), bytes)));
    }

    #[test]
    fn a_wrong_kind_of_frames_is_named() {
        let wrong = FrameKind {
            interval: Distribution::Constant {
                value: Duration::ZERO,
            },
            ..FrameKind::default()
        };
        let config = Frames {
            beside: Some(vec![FrameKind::default(), wrong]),
            jitter: 0.0,
            ..Frames::default()
        };
        assert_eq!(config.check().unwrap_err().field, "beside.1.interval");
    }

    #[test]
    fn frames_that_never_arrive_are_late() {
        let mut camera = camera();
        let mut out = Vec::new();
        camera.stopped(at(1_000), &mut out);
        let expected = [
            Command::Record("frames", 3.0),
            Command::Record("late_share", 1.0),
        ];
        assert_eq!(out, expected);
    }
}
