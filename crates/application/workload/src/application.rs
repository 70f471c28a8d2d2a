//! Application: a state machine with two ends and no sockets, and the commands that it answers with.

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

/// One end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The end at the flow's `to`, which takes the data of a download.
    Client,
    /// The end at the flow's `from`, which sends them under the flow's congestion control.
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

/// Number of bytes that stands for as many as the connection takes.
pub const ENDLESS: u64 = u64::MAX;

/// Command of an application.
///
/// An application with several connections at a time keeps each in a slot of its own; others use slot 0 only. All
/// commands but [`Command::WakeAt`] concern one slot: that of the call, or that of the latest [`Command::SelectSlot`]
/// in it. They do nothing once the connection there has been completed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Command {
    /// Selects the connection for the next commands.
    SelectSlot(usize),
    /// Opens a connection in the slot. Bytes that are written before its handshake is complete wait for it.
    Open,
    /// Writes a message of this many bytes at an end; [`Application::received`] reports when the other end has all of
    /// them.
    Send(End, u64),
    /// Writes this many bytes at an end, or [`ENDLESS`]ly, as a stream, whose arrival is not reported. Later messages
    /// of that end belong to the stream.
    Stream(End, u64),
    /// Takes back the bytes of an end that the connection has not taken yet.
    CancelUnsent(End),
    /// Closes the connection from that end, once all bytes of both ends have arrived.
    Close(End),
    /// Gives the connection up from that end: it takes nothing more, and the other end's bytes are in vain. The other
    /// end is notified by a FIN, and by a RST for each segment that still comes.
    Abandon(End),
    /// Reads at an end by request: so many bytes more. With the first one, which may be for none, the end ceases to
    /// read as bytes arrive, and its receive window closes when the buffer is full. [`Application::on_progress`] and
    /// [`Application::received`] are about bytes that have arrived, read or not.
    Read(End, u64),
    /// Records a figure: its name, which ends with the unit as names of columns do, and its value.
    Record(&'static str, f64),
    /// Calls [`Application::wake`] at this time.
    WakeAt(Instant),
}

/// Application: a state machine that is called with the time and the events of its connection, and appends its commands
/// to `out`.
pub trait Application: Send {
    /// Called at the start of the flow, and at the time of the latest [`Command::WakeAt`].
    fn wake(&mut self, now: Instant, out: &mut Vec<Command>);

    /// Returns whether [`Application::on_progress`] and [`Application::on_taken`] are to be called.
    fn wants_progress(&self) -> bool {
        false
    }

    /// Called before each other call with the slot of the connection that it is about; 0 if it is about none.
    fn select_slot(&mut self, _slot: usize) {}

    /// Called when `bytes` more have arrived at `end`, before [`Application::received`].
    fn on_progress(&mut self, _now: Instant, _end: End, _bytes: u64, _out: &mut Vec<Command>) {}

    /// Called when the connection has taken `bytes` more of those that were written at `end`.
    fn on_taken(&mut self, _end: End, _bytes: u64, _out: &mut Vec<Command>) {}

    /// Called when all messages that the other end has sent so far have arrived at `end`: `bytes` since the last call.
    fn received(&mut self, _now: Instant, _end: End, _bytes: u64, _out: &mut Vec<Command>) {}

    /// Called when the connection was closed, after all bytes of both ends had arrived.
    fn completed(&mut self, _now: Instant, _out: &mut Vec<Command>) {}

    /// Called at the end of the run; only figures may be recorded.
    fn stopped(&mut self, _now: Instant, _out: &mut Vec<Command>) {}
}
