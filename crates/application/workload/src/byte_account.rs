//! Bytes written, delivered and pending of a connection.

use std::collections::VecDeque;

use crate::application::{End, UNLIMITED};

/// State of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Open,
    /// The application closes it from that end.
    Closing(End),
    Completed,
}

/// Bytes that one end writes.
#[derive(Clone, Debug, Default)]
struct Direction {
    /// Bytes that the send buffer has not accepted yet; [`UNLIMITED`] for a stream without end.
    pending: u64,
    /// Bytes that it has accepted.
    written: u64,
    /// Stream offsets at which queued messages end; the last one ends with `pending`. Each is a write of its own.
    message_ends: VecDeque<u64>,
    /// Bytes that have arrived in order.
    arrived: u64,
    /// Bytes whose arrival was reported to the application.
    notified: u64,
    /// Whether the application is not notified of arriving bytes: they belong to a stream or to a cut message.
    is_silent: bool,
    /// Whether the other end reads by [`Command::Read`](crate::Command::Read) only.
    reads_manually: bool,
}

impl Direction {
    fn has_arrived(&self) -> bool {
        self.pending == 0 && self.written == self.arrived
    }
}

/// Byte counts and stage of one connection.
#[derive(Clone, Debug)]
pub(crate) struct ByteAccount {
    /// Index of the session that opened it.
    pub(crate) session: usize,
    /// Its slot there.
    pub(crate) slot: usize,
    stage: Stage,
    is_established: bool,
    /// Both directions, by the end that writes.
    directions: [Direction; 2],
}

impl ByteAccount {
    pub(crate) fn new(session: usize, slot: usize) -> Self {
        Self {
            session,
            slot,
            stage: Stage::Open,
            is_established: false,
            directions: Default::default(),
        }
    }

    /// Returns the direction of the bytes that `end` writes.
    fn written_at(&mut self, end: End) -> &mut Direction {
        &mut self.directions[end.index()]
    }

    /// Returns the direction of the bytes that `end` reads.
    fn read_at(&mut self, end: End) -> &mut Direction {
        self.written_at(end.other())
    }

    /// Adds a message of `bytes` to be written at `end`; returns whether a read of as many bytes has to be queued at the
    /// other end.
    pub(crate) fn send(&mut self, end: End, bytes: u64) -> bool {
        let direction = self.written_at(end);
        if direction.pending > 0 {
            direction
                .message_ends
                .push_back(direction.written.saturating_add(direction.pending));
        }
        direction.pending = direction.pending.saturating_add(bytes);
        !direction.is_silent && !direction.reads_manually
    }

    /// Adds `bytes` of a stream to be written at `end`; returns whether a read until the stream ends has to be queued at
    /// the other end. That read goes on, so later calls return false.
    pub(crate) fn stream(&mut self, end: End, bytes: u64) -> bool {
        let direction = self.written_at(end);
        direction.pending = direction.pending.saturating_add(bytes);
        !core::mem::replace(&mut direction.is_silent, true) && !direction.reads_manually
    }

    /// Notes that `end` reads by [`Command::Read`](crate::Command::Read) only.
    pub(crate) fn set_manual_read(&mut self, end: End) {
        self.read_at(end).reads_manually = true;
    }

    /// Aborts the connection: discards the pending bytes.
    pub(crate) fn abort(&mut self) {
        self.stage = Stage::Completed;
        for direction in &mut self.directions {
            direction.pending = 0;
            direction.message_ends.clear();
        }
    }

    /// Discards the pending bytes of `end`. A message that this cuts is never reported as arrived.
    pub(crate) fn cancel_unsent(&mut self, end: End) {
        let direction = self.written_at(end);
        direction.is_silent |= direction.pending > 0;
        direction.pending = 0;
        direction.message_ends.clear();
    }

    pub(crate) fn close(&mut self, end: End) {
        if self.stage == Stage::Open {
            self.stage = Stage::Closing(end);
        }
    }

    /// Notes that the handshake is complete.
    pub(crate) fn on_established(&mut self) {
        self.is_established = true;
    }

    /// Returns the number of bytes of the next write at `end`.
    pub(crate) fn next_write_bytes(&self, end: End) -> u64 {
        let direction = &self.directions[end.index()];
        let first = direction.message_ends.front();
        first.map_or(direction.pending, |first| first - direction.written)
    }

    /// Notes that the send buffer of `end` has accepted `bytes`.
    pub(crate) fn on_accepted(&mut self, end: End, bytes: u64) {
        let direction = self.written_at(end);
        direction.written += bytes;
        if direction.pending != UNLIMITED {
            direction.pending -= bytes;
        }
        if direction.message_ends.front() == Some(&direction.written) {
            direction.message_ends.pop_front();
        }
    }

    /// Notes that `total` bytes have arrived at `end` so far; returns how many of them are new.
    pub(crate) fn on_arrived(&mut self, end: End, total: u64) -> u64 {
        let direction = self.read_at(end);
        let new_bytes = total - direction.arrived;
        direction.arrived = total;
        new_bytes
    }

    /// Notes the FIN towards `end`: all bytes of the other end have arrived.
    pub(crate) fn on_fin(&mut self, end: End) {
        let direction = self.read_at(end);
        direction.arrived = direction.written;
    }

    /// Returns the bytes of messages at `end` to be reported to the application, once all have arrived.
    pub(crate) fn take_arrived(&mut self, end: End) -> Option<u64> {
        let direction = self.read_at(end);
        let unnotified = direction.arrived - direction.notified;
        if unnotified == 0 || direction.is_silent || !direction.has_arrived() {
            return None;
        }
        direction.notified = direction.arrived;
        Some(unnotified)
    }

    /// Returns the end that may send its FIN, once all its bytes are written.
    pub(crate) fn half_closing(&self) -> Option<End> {
        match self.stage {
            Stage::Closing(end) if self.is_established && self.next_write_bytes(end) == 0 => {
                Some(end)
            }
            _ => None,
        }
    }

    /// Completes the connection if that is due, and returns the end that closes it.
    pub(crate) fn take_completion(&mut self) -> Option<End> {
        let Stage::Closing(end) = self.stage else {
            return None;
        };
        let done = self.is_established && self.directions.iter().all(Direction::has_arrived);
        done.then(|| {
            self.stage = Stage::Completed;
            end
        })
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.stage == Stage::Completed
    }
}
