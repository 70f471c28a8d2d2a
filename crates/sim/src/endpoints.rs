//! Endpoints: both ends of all connections, and their timers.

use cca::SenderView;
use net::{HostId, Packet};
use recorder::ObservedPath;
use tcp::Connection;
use units::{Deadlines, Instant};
use workload::End;

/// One connection: both its ends and their hosts, the server's first.
#[derive(Debug)]
pub(crate) struct ConnectionEnds {
    pub(crate) server: Connection,
    pub(crate) client: Connection,
    pub(crate) hosts: (HostId, HostId),
}

impl ConnectionEnds {
    pub(crate) fn end(&mut self, end: End) -> &mut Connection {
        match end {
            End::Server => &mut self.server,
            End::Client => &mut self.client,
        }
    }
}

/// All connections of a run; number n has the timers 2n (server) and 2n + 1 (client).
#[derive(Debug)]
pub(crate) struct Endpoints {
    connections: Vec<ConnectionEnds>,
    /// Times at which a timer may expire. One that has been put off is found late, when its earlier time comes.
    timers: Deadlines,
    room: usize,
    packets: u64,
}

impl Endpoints {
    pub(crate) fn new() -> Self {
        let room = 4;
        Self {
            connections: Vec::new(),
            timers: Deadlines::new(2 * room),
            room,
            packets: 0,
        }
    }

    /// Adds a connection, which gets the next number.
    pub(crate) fn add(&mut self, ends: ConnectionEnds) {
        self.connections.push(ends);
        if self.connections.len() > self.room {
            self.room *= 2;
            let mut timers = Deadlines::new(2 * self.room);
            for timer in 0..2 * (self.connections.len() - 1) {
                timers.set(timer, self.timers.get(timer));
            }
            self.timers = timers;
        }
    }

    /// Returns the number of connections.
    pub(crate) fn count(&self) -> u32 {
        self.connections.len() as u32
    }

    /// Returns the sender's state of the server's end of a connection.
    #[inline]
    pub(crate) fn view(&self, connection: u32) -> SenderView {
        self.connections[connection as usize].server.view()
    }

    pub(crate) fn end(&mut self, connection: u32, end: End) -> &mut Connection {
        self.connections[connection as usize].end(end)
    }

    /// Returns the earliest time at which a timer may expire.
    pub(crate) fn next_timer(&self) -> Instant {
        self.timers.earliest().0
    }

    /// Returns connection and end of the next timer if it expires at `now`; otherwise it was put off.
    pub(crate) fn expired(&mut self, now: Instant) -> Option<(u32, End)> {
        let (_, timer) = self.timers.earliest();
        let end = if timer % 2 == 0 {
            End::Server
        } else {
            End::Client
        };
        let connection = timer as u32 / 2;
        let at = self.end(connection, end).deadline();
        self.timers.set(timer, at);
        (at <= now).then_some((connection, end))
    }

    /// Returns the end of `connection` that is at `host`.
    pub(crate) fn end_at(&self, connection: u32, host: HostId) -> End {
        if self.connections[connection as usize].hosts.0 == host {
            End::Server
        } else {
            End::Client
        }
    }

    /// Puts the segments that the end has ready on the path, and sets its timer.
    pub(crate) fn flush(
        &mut self,
        now: Instant,
        connection: u32,
        end: End,
        path: &mut ObservedPath,
    ) {
        let ends = &mut self.connections[connection as usize];
        let (source, destination) = match end {
            End::Server => ends.hosts,
            End::Client => (ends.hosts.1, ends.hosts.0),
        };
        let socket = ends.end(end);
        while let Some(segment) = socket.poll_transmit() {
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
        let timer = 2 * connection as usize + usize::from(end == End::Client);
        let at = socket.deadline();
        if at < self.timers.get(timer) {
            self.timers.set(timer, at);
        }
    }
}
