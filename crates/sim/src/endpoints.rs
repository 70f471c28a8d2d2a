//! The ends of all connections, and their timers.

use net::{HostId, Packet};
use recorder::{ObservedPath, SenderState};
use tcp::Connection;
use units::{Deadlines, Instant};

/// Which end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// Sends the data.
    Sender,
    /// Opens the connection and takes the data.
    Receiver,
}

/// Both ends of a connection and their hosts.
#[derive(Debug)]
pub(crate) struct ConnectionEnds {
    pub(crate) sender: Connection,
    pub(crate) receiver: Connection,
    pub(crate) hosts: (HostId, HostId),
}

impl ConnectionEnds {
    pub(crate) fn end(&mut self, side: Side) -> &mut Connection {
        match side {
            Side::Sender => &mut self.sender,
            Side::Receiver => &mut self.receiver,
        }
    }
}

/// All connections of a run; number n has the timers 2n (sender) and 2n + 1 (receiver).
#[derive(Debug)]
pub(crate) struct Endpoints {
    connections: Vec<ConnectionEnds>,
    timers: Deadlines,
    room: usize,
    packets: u64,
}

impl Endpoints {
    pub(crate) fn new() -> Self {
        let room = 8;
        Self {
            connections: Vec::new(),
            timers: Deadlines::new(2 * room),
            room,
            packets: 0,
        }
    }

    /// Adds a connection and answers its number.
    pub(crate) fn add(&mut self, ends: ConnectionEnds) -> u32 {
        self.connections.push(ends);
        if self.connections.len() > self.room {
            self.room *= 2;
            let mut timers = Deadlines::new(2 * self.room);
            for timer in 0..2 * (self.connections.len() - 1) {
                timers.set(timer, self.timers.get(timer));
            }
            self.timers = timers;
        }
        self.connections.len() as u32 - 1
    }

    pub(crate) fn ends(&self, connection: u32) -> &ConnectionEnds {
        &self.connections[connection as usize]
    }

    /// What the sender of a connection tells of itself.
    pub(crate) fn state(&self, connection: u32) -> SenderState {
        self.ends(connection).sender.info().into()
    }

    pub(crate) fn end(&mut self, connection: u32, side: Side) -> &mut Connection {
        self.connections[connection as usize].end(side)
    }

    /// The next timer: when, which connection, which end.
    pub(crate) fn next_timer(&self) -> (Instant, u32, Side) {
        let (at, timer) = self.timers.earliest();
        let side = if timer % 2 == 0 {
            Side::Sender
        } else {
            Side::Receiver
        };
        (at, timer as u32 / 2, side)
    }

    /// Which end of `connection` is at `host`.
    pub(crate) fn side_at(&self, connection: u32, host: HostId) -> Side {
        if self.connections[connection as usize].hosts.0 == host {
            Side::Sender
        } else {
            Side::Receiver
        }
    }

    /// Puts what the end wants to send on the path, and sets its timer.
    pub(crate) fn flush(
        &mut self,
        now: Instant,
        connection: u32,
        side: Side,
        path: &mut ObservedPath,
    ) {
        let ends = &mut self.connections[connection as usize];
        let (source, destination) = match side {
            Side::Sender => ends.hosts,
            Side::Receiver => (ends.hosts.1, ends.hosts.0),
        };
        let end = ends.end(side);
        while let Some(segment) = end.poll_transmit() {
            let packet = Packet {
                id: self.packets,
                flow: connection,
                source,
                destination,
                size: segment.ip_len(),
                segment,
                sent_at: now,
                kind: net::Kind::Tcp,
            };
            self.packets += 1;
            path.inject(now, packet, &mut ());
        }
        let timer = 2 * connection as usize + usize::from(side == Side::Receiver);
        self.timers.set(timer, end.deadline());
    }
}
