//! Bytes written, delivered and pending of a connection.

use std::collections::VecDeque;

use crate::application::{ENDLESS, End};

/// State of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Open,
    /// The application has asked to close it from that end.
    Closing(End),
    Completed,
}

/// Bytes that one end writes.
#[derive(Clone, Debug, Default)]
struct Direction {
    /// Bytes that the connection has not taken yet; [`ENDLESS`] for as many as it takes.
    pending: u64,
    /// Bytes that it has taken.
    written: u64,
    /// Ends of messages before the last one that were not taken yet, from the start of the stream: each message is a
    /// write of its own.
    ends: VecDeque<u64>,
    /// Bytes that have arrived in order.
    arrived: u64,
    /// Bytes whose arrival was reported to the application.
    notified: u64,
    /// Whether bytes of a stream were written, whose arrival is not reported.
    streamed: bool,
    /// Whether the other end reads by request.
    paced: bool,
}

impl Direction {
    fn has_arrived(&self) -> bool {
        self.pending == 0 && self.written == self.arrived
    }
}

/// The bytes of one connection.
#[derive(Clone, Debug)]
pub(crate) struct ByteAccount {
    /// Number of the session that opened it.
    pub(crate) session: usize,
    /// Its slot there.
    pub(crate) slot: usize,
    stage: Stage,
    stands: bool,
    /// Both directions, by the end that writes.
    directions: [Direction; 2],
}

impl ByteAccount {
    pub(crate) fn new(session: usize, slot: usize) -> Self {
        Self {
            session,
            slot,
            stage: Stage::Open,
            stands: false,
            directions: Default::default(),
        }
    }

    fn of(&mut self, end: End) -> &mut Direction {
        &mut self.directions[end.index()]
    }

    /// Adds a message of `bytes` to be written at `end`; returns whether the other end is to read exactly that many.
    pub(crate) fn send(&mut self, end: End, bytes: u64) -> bool {
        let direction = self.of(end);
        if direction.pending > 0 {
            direction
                .ends
                .push_back(direction.written.saturating_add(direction.pending));
        }
        direction.pending = direction.pending.saturating_add(bytes);
        !direction.streamed && !direction.paced
    }

    /// Adds `bytes` of a stream to be written at `end`; returns whether the other end is to read until the stream ends.
    pub(crate) fn stream(&mut self, end: End, bytes: u64) -> bool {
        let direction = self.of(end);
        direction.pending = direction.pending.saturating_add(bytes);
        !core::mem::replace(&mut direction.streamed, true) && !direction.paced
    }

    /// Notes that `end` reads by request.
    pub(crate) fn pace(&mut self, end: End) {
        self.of(end.other()).paced = true;
    }

    /// Gives the connection up: nothing more is written or awaited.
    pub(crate) fn abandon(&mut self) {
        self.stage = Stage::Completed;
        for direction in &mut self.directions {
            direction.pending = 0;
            direction.ends.clear();
        }
    }

    pub(crate) fn withdraw(&mut self, end: End) {
        let direction = self.of(end);
        direction.streamed |= direction.pending > 0;
        direction.pending = 0;
        direction.ends.clear();
    }

    pub(crate) fn close(&mut self, end: End) {
        if self.stage == Stage::Open {
            self.stage = Stage::Closing(end);
        }
    }

    pub(crate) fn connect(&mut self) {
        self.stands = true;
    }

    /// Returns the number of bytes that the connection may take at `end` in one write.
    pub(crate) fn wanted(&self, end: End) -> u64 {
        let direction = &self.directions[end.index()];
        let first = direction.ends.front();
        first.map_or(direction.pending, |first| first - direction.written)
    }

    /// Notes that the connection has taken `bytes` at `end`.
    pub(crate) fn wrote(&mut self, end: End, bytes: u64) {
        let direction = self.of(end);
        direction.written += bytes;
        if direction.pending != ENDLESS {
            direction.pending -= bytes;
        }
        if direction.ends.front() == Some(&direction.written) {
            direction.ends.pop_front();
        }
    }

    /// Notes that `total` bytes have arrived at `end` so far; returns how many of them are new.
    pub(crate) fn arrive(&mut self, end: End, total: u64) -> u64 {
        let direction = self.of(end.other());
        let fresh = total - direction.arrived;
        direction.arrived = total;
        fresh
    }

    /// Notes the end of the stream towards `end`: everything written on it has arrived.
    pub(crate) fn end(&mut self, end: End) {
        let direction = self.of(end.other());
        direction.arrived = direction.written;
    }

    /// Returns the bytes of messages at `end` to be reported to the application, once all have arrived.
    pub(crate) fn take_arrived(&mut self, end: End) -> Option<u64> {
        let direction = self.of(end.other());
        let news = direction.arrived - direction.notified;
        if news == 0 || direction.streamed || !direction.has_arrived() {
            return None;
        }
        direction.notified = direction.arrived;
        Some(news)
    }

    /// Returns the end that the application closes if nothing is left to be written there but bytes are on their way.
    pub(crate) fn finishing(&self) -> Option<End> {
        match self.stage {
            Stage::Closing(end) if self.stands && self.wanted(end) == 0 => Some(end),
            _ => None,
        }
    }

    /// Completes the connection if that is due, and returns the end that closes it.
    pub(crate) fn take_completion(&mut self) -> Option<End> {
        let Stage::Closing(end) = self.stage else {
            return None;
        };
        let done = self.stands && self.directions.iter().all(Direction::has_arrived);
        done.then(|| {
            self.stage = Stage::Completed;
            end
        })
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.stage == Stage::Completed
    }
}
