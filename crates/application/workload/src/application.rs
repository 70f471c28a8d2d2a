//! Application: a state machine with two ends and no sockets, and the commands that it returns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Instant;

/// Node of a flow that opens its connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum OpenedBy {
    /// The node that receives.
    #[default]
    #[serde(rename = "to")]
    Receiver,
    /// The node that sends.
    #[serde(rename = "from")]
    Sender,
}

impl OpenedBy {
    /// Returns the end at that node.
    pub fn end(self) -> End {
        match self {
            Self::Receiver => End::Client,
            Self::Sender => End::Server,
        }
    }
}

/// End of a connection. `Client` is at the flow's `to`, `Server` at its `from`, whichever opens the connection
/// ([`OpenedBy`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Receiver of a download (the flow's `to`).
    Client,
    /// Sender of a download (the flow's `from`), with the flow's CCA.
    Server,
}

impl End {
    /// Returns the end on the other side of the connection.
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// Returns the index of the end in a pair of values.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Byte count of an unlimited write.
pub const UNLIMITED: u64 = u64::MAX;

/// Command of an application.
///
/// An application with several connections at a time has each in a slot of its own; others use slot 0 only. All
/// commands but [`Command::WakeAt`] concern one slot: that of the callback, or that of the latest
/// [`Command::SelectSlot`] in it. In a slot whose connection was completed or aborted, only [`Command::Open`] has an
/// effect.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Command {
    /// Selects the connection for the next commands.
    SelectSlot(usize),
    /// Opens a connection in the slot. Bytes that are written before its handshake is complete wait for it.
    Open,
    /// Writes a message of this many bytes at an end. [`Application::on_received`] is called when the other end has all
    /// of them.
    Send(End, u64),
    /// Writes this many bytes ([`UNLIMITED`]: until the end) at an end as a stream; their arrival is not notified.
    /// Later messages of that end belong to the stream.
    Stream(End, u64),
    /// Discards the bytes of an end that its send buffer has not accepted yet.
    CancelUnsent(End),
    /// Closes the connection from that end: its FIN follows its last byte. The connection is completed once all bytes of
    /// both ends have arrived.
    Close(End),
    /// Aborts the connection at that end: arriving bytes are discarded. The other end receives a FIN, and then a RST
    /// for each segment that still arrives.
    Abort(End),
    /// Reads this many more bytes at an end. The first `Read`, of 0 bytes or more, ends automatic reading: the receive
    /// window then closes when the buffer is full. [`Application::on_progress`] and [`Application::on_received`] count
    /// bytes that have arrived, read or not.
    Read(End, u64),
    /// Records a metric: its name, which ends with the unit as names of columns do, and its value.
    Record(&'static str, f64),
    /// Calls [`Application::on_wake`] at this time.
    WakeAt(Instant),
}

/// Application: a state machine that is called with the time and the events of its connection, and appends its commands
/// to `out`.
pub trait Application: Send {
    /// Called at the start of the flow, and at the time of the latest [`Command::WakeAt`].
    fn on_wake(&mut self, now: Instant, out: &mut Vec<Command>);

    /// Returns whether [`Application::on_progress`] and [`Application::on_accepted`] are to be called.
    fn wants_progress(&self) -> bool {
        false
    }

    /// Called before each callback with the slot of its connection; 0 if it has none.
    fn select_slot(&mut self, _slot: usize) {}

    /// Called when `bytes` more have arrived at `end`, before [`Application::on_received`].
    fn on_progress(&mut self, _now: Instant, _end: End, _bytes: u64, _out: &mut Vec<Command>) {}

    /// Called when the send buffer has accepted `bytes` more of those that were written at `end`.
    fn on_accepted(&mut self, _end: End, _bytes: u64, _out: &mut Vec<Command>) {}

    /// Called when all messages that the other end has sent so far have arrived at `end`: `bytes` since the last call.
    fn on_received(&mut self, _now: Instant, _end: End, _bytes: u64, _out: &mut Vec<Command>) {}

    /// Called when the connection was closed, after all bytes of both ends had arrived.
    fn on_completed(&mut self, _now: Instant, _out: &mut Vec<Command>) {}

    /// Called at the end of the run; only metrics may be recorded.
    fn on_stopped(&mut self, _now: Instant, _out: &mut Vec<Command>) {}
}
