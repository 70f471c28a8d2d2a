//! Sender of the frames of a flow.

use std::collections::VecDeque;

use units::random::RngStream;
use units::{Duration, Instant};

use super::encoder::Level;
use super::{Backlog, FrameKind, Frames};
use crate::application::{Application, Command, End};
use crate::jitter::Jitter;

/// Frame that waits at the sender.
#[derive(Clone, Copy, Debug)]
struct WaitingFrame {
    made: Instant,
    bytes: u64,
}

/// Frame in flight.
#[derive(Clone, Copy, Debug)]
struct FrameInFlight {
    made: Instant,
    /// Bytes written to the connection up to the end of the frame.
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
    backlog: Backlog,
    /// Encoder that follows the rate of the connection.
    level: Option<Level>,
    waiting: VecDeque<WaitingFrame>,
    /// Bytes of the current frame that the send buffer has not accepted.
    untaken: u64,
    dropped: u64,
    in_flight: VecDeque<FrameInFlight>,
    sent_bytes: u64,
    arrived_bytes: u64,
    /// Number of frames that have arrived, and how many of them did so after the deadline.
    arrived: u64,
    late_frames: u64,
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
            backlog: config.backlog,
            level: config.encoder.as_ref().map(Level::new),
            waiting: VecDeque::new(),
            untaken: 0,
            dropped: 0,
            in_flight: VecDeque::new(),
            sent_bytes: 0,
            arrived_bytes: 0,
            arrived: 0,
            late_frames: 0,
            delay_sum: Duration::ZERO,
            max_delay: Duration::ZERO,
        }
    }

    fn has_missed(&self, made: Instant, now: Instant) -> bool {
        now.saturating_since(made) > self.deadline
    }

    /// Returns whether frames wait for the connection, and are not all written at once.
    fn has_queue(&self) -> bool {
        self.backlog != Backlog::All || self.level.is_some()
    }

    /// Writes a frame, or has it wait; drops the oldest of those that wait beyond the backlog.
    fn send(&mut self, now: Instant, bytes: u64, out: &mut Vec<Command>) {
        if !self.has_queue() {
            return self.write(WaitingFrame { made: now, bytes }, out);
        }
        let is_waiting = self.untaken > 0;
        let level = self.level.as_mut();
        let bytes = level.map_or(bytes, |level| level.size(now, bytes, is_waiting));
        self.waiting.push_back(WaitingFrame { made: now, bytes });
        self.write_next(out);
        while let Backlog::Frames(most) = self.backlog
            && self.waiting.len() > most as usize
        {
            self.waiting.pop_front();
            self.dropped += 1;
        }
    }

    /// Writes the next waiting frame, if the send buffer has accepted the one before.
    fn write_next(&mut self, out: &mut Vec<Command>) {
        if self.untaken == 0
            && let Some(frame) = self.waiting.pop_front()
        {
            self.untaken = frame.bytes;
            self.write(frame, out);
        }
    }

    fn write(&mut self, frame: WaitingFrame, out: &mut Vec<Command>) {
        self.sent_bytes += frame.bytes;
        self.in_flight.push_back(FrameInFlight {
            made: frame.made,
            end: self.sent_bytes,
        });
        out.push(Command::Send(End::Server, frame.bytes));
    }
}

impl Application for FrameSource {
    fn wants_progress(&self) -> bool {
        true
    }

    fn on_wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        if !self.is_open {
            self.is_open = true;
            out.push(Command::Open);
        }
        let mut next = Instant::NEVER;
        for index in 0..self.kinds.len() {
            let (kind, at) = &mut self.kinds[index];
            if *at <= now {
                let bytes = kind.size.draw(&mut self.draws).get().max(1);
                let interval = self.jitter.draw_pause(&kind.interval, &mut self.draws);
                *at = now + interval.max(Duration::from_nanos(1));
                self.send(now, bytes, out);
            }
            next = next.min(self.kinds[index].1);
        }
        out.push(Command::WakeAt(next));
    }

    fn on_accepted(&mut self, end: End, bytes: u64, out: &mut Vec<Command>) {
        if end == End::Server && self.has_queue() {
            self.untaken -= bytes;
            self.write_next(out);
        }
    }

    fn on_progress(&mut self, now: Instant, _: End, bytes: u64, out: &mut Vec<Command>) {
        self.arrived_bytes += bytes;
        while let Some(frame) = self.in_flight.front().copied()
            && frame.end <= self.arrived_bytes
        {
            self.in_flight.pop_front();
            let delay = now.saturating_since(frame.made);
            self.arrived += 1;
            self.late_frames += u64::from(self.has_missed(frame.made, now));
            self.delay_sum += delay;
            self.max_delay = self.max_delay.max(delay);
            out.push(Command::Record("frame_ms", milliseconds(delay)));
        }
    }

    fn on_stopped(&mut self, now: Instant, out: &mut Vec<Command>) {
        let waiting = self.waiting.iter().map(|frame| frame.made);
        let on_their_way = self.in_flight.iter().map(|frame| frame.made).chain(waiting);
        let mut missing = self.dropped;
        for made in on_their_way.filter(|made| self.has_missed(*made, now)) {
            missing += 1;
            let age = milliseconds(now.saturating_since(made));
            out.push(Command::Record("frame_age_ms", age));
        }
        let sent = self.arrived + missing;
        if sent == 0 {
            return;
        }
        out.push(Command::Record("frames", sent as f64));
        out.push(Command::Record(
            "late_share",
            (self.late_frames + missing) as f64 / sent as f64,
        ));
        if self.backlog != Backlog::All {
            let share = self.dropped as f64 / sent as f64;
            out.push(Command::Record("dropped_share", share));
        }
        if let Some(level) = &self.level {
            out.push(Command::Record("frame_size_share", level.mean()));
        }
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
mod tests;
