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
    /// Number of its kind.
    kind: usize,
    bytes: u64,
}

/// Frame in flight.
#[derive(Clone, Copy, Debug)]
struct FrameInFlight {
    made: Instant,
    /// Number of its kind.
    kind: usize,
    /// Bytes written to the connection up to the end of the frame.
    end: u64,
}

/// Kind of frames of a sender.
#[derive(Debug)]
struct Kind {
    config: FrameKind,
    deadline: Duration,
    /// Time of its next frame.
    next: Instant,
    /// Number of its frames that have arrived or are missing at the end, and how many of them are late.
    counted: u64,
    late: u64,
}

impl Kind {
    /// Counts a frame that has arrived, or is missing at the end.
    fn count(&mut self, is_late: bool) {
        self.counted += 1;
        self.late += u64::from(is_late);
    }

    fn has_missed(&self, made: Instant, now: Instant) -> bool {
        now.saturating_since(made) > self.deadline
    }
}

/// Sender of the frames of a flow.
pub(crate) struct FrameSource {
    draws: RngStream,
    jitter: Jitter,
    is_open: bool,
    kinds: Vec<Kind>,
    backlog: Backlog,
    /// Encoder that follows the rate of the connection.
    level: Option<Level>,
    waiting: VecDeque<WaitingFrame>,
    /// Bytes of the current frame that the send buffer has not accepted.
    untaken: u64,
    /// Kinds of the dropped frames.
    dropped: Vec<usize>,
    in_flight: VecDeque<FrameInFlight>,
    sent_bytes: u64,
    arrived_bytes: u64,
    arrived: u64,
    /// Sum and maximum of the delays of frames that have arrived.
    delay_sum: Duration,
    max_delay: Duration,
}

impl FrameSource {
    pub(crate) fn new(config: &Frames, draws: RngStream) -> Self {
        let kinds = config.kinds().into_iter().map(|kind| Kind {
            deadline: kind.deadline.unwrap_or(config.deadline),
            config: kind,
            next: Instant::ZERO,
            counted: 0,
            late: 0,
        });
        Self {
            jitter: Jitter::new(config.jitter, &draws),
            draws,
            is_open: false,
            kinds: kinds.collect(),
            backlog: config.backlog,
            level: config.encoder.as_ref().map(Level::new),
            waiting: VecDeque::new(),
            untaken: 0,
            dropped: Vec::new(),
            in_flight: VecDeque::new(),
            sent_bytes: 0,
            arrived_bytes: 0,
            arrived: 0,
            delay_sum: Duration::ZERO,
            max_delay: Duration::ZERO,
        }
    }

    /// Returns whether a kind has a deadline of its own, so that each has figures of its own.
    fn has_own_deadlines(&self) -> bool {
        self.kinds.iter().any(|kind| kind.config.deadline.is_some())
    }

    /// Records the kind of the frame whose delay or age was recorded, if kinds have their own figures.
    fn record_kind(&self, kind: usize, out: &mut Vec<Command>) {
        if self.has_own_deadlines() {
            out.push(Command::Record("frame_kind", kind as f64));
        }
    }

    /// Returns whether frames wait for the connection, and are not all written at once.
    fn has_queue(&self) -> bool {
        self.backlog != Backlog::All || self.level.is_some()
    }

    /// Writes a frame, or has it wait; drops the oldest of those that wait beyond the backlog.
    fn send(&mut self, now: Instant, kind: usize, bytes: u64, out: &mut Vec<Command>) {
        let frame = |bytes| WaitingFrame {
            made: now,
            kind,
            bytes,
        };
        if !self.has_queue() {
            return self.write(frame(bytes), out);
        }
        let is_waiting = self.untaken > 0;
        let level = self.level.as_mut();
        let bytes = level.map_or(bytes, |level| level.size(now, bytes, is_waiting));
        self.waiting.push_back(frame(bytes));
        self.write_next(out);
        while let Backlog::Frames(most) = self.backlog
            && self.waiting.len() > most as usize
        {
            self.dropped
                .extend(self.waiting.pop_front().map(|frame| frame.kind));
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
            kind: frame.kind,
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
            let kind = &mut self.kinds[index];
            if kind.next <= now {
                let bytes = kind.config.size.draw(&mut self.draws).get().max(1);
                let pause = &kind.config.interval;
                let interval = self.jitter.draw_pause(pause, &mut self.draws);
                kind.next = now + interval.max(Duration::from_nanos(1));
                self.send(now, index, bytes, out);
            }
            next = next.min(self.kinds[index].next);
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
            let kind = &mut self.kinds[frame.kind];
            kind.count(kind.has_missed(frame.made, now));
            self.delay_sum += delay;
            self.max_delay = self.max_delay.max(delay);
            out.push(Command::Record("frame_ms", milliseconds(delay)));
            self.record_kind(frame.kind, out);
        }
    }

    fn on_stopped(&mut self, now: Instant, out: &mut Vec<Command>) {
        let waiting = self.waiting.iter().map(|frame| (frame.made, frame.kind));
        let in_flight = self.in_flight.iter().map(|frame| (frame.made, frame.kind));
        for kind in &self.dropped {
            self.kinds[*kind].count(true);
        }
        for (made, kind) in in_flight.chain(waiting) {
            if self.kinds[kind].has_missed(made, now) {
                self.kinds[kind].count(true);
                let age = milliseconds(now.saturating_since(made));
                out.push(Command::Record("frame_age_ms", age));
                self.record_kind(kind, out);
            }
        }
        let sent: u64 = self.kinds.iter().map(|kind| kind.counted).sum();
        if sent == 0 {
            return;
        }
        let late: u64 = self.kinds.iter().map(|kind| kind.late).sum();
        out.push(Command::Record("frames", sent as f64));
        out.push(Command::Record("late_share", late as f64 / sent as f64));
        if self.has_own_deadlines() {
            for kind in &self.kinds {
                let share = kind.late as f64 / kind.counted.max(1) as f64;
                out.push(Command::Record("kind_frames", kind.counted as f64));
                out.push(Command::Record("kind_late_share", share));
            }
        }
        if self.backlog != Backlog::All {
            let share = self.dropped.len() as f64 / sent as f64;
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
