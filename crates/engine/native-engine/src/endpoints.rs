//! Endpoints: both ends of all connections, and their timers.

use cca::SenderInfo;
use measurement::ObservedPath;
use net::{HostId, Packet};
use results::OtherTimeouts;
use tcp::{Connection, Segment, State, reset_reply};
use units::{Deadlines, Instant};
use workload::End;

/// One connection: both its ends and their hosts, the server's first.
#[derive(Debug)]
pub(crate) struct ConnectionEnds {
    pub(crate) server: Connection,
    pub(crate) client: Connection,
    pub(crate) hosts: (HostId, HostId),
    /// The end whose application has aborted the connection.
    pub(crate) abandoned: Option<End>,
    /// Bytes that an end may still read; `None` for one that reads what arrives.
    pub(crate) read_budget: [Option<u64>; 2],
}

impl ConnectionEnds {
    /// Returns source and destination of what an end sends.
    fn route(&self, end: End) -> (HostId, HostId) {
        match end {
            End::Server => self.hosts,
            End::Client => (self.hosts.1, self.hosts.0),
        }
    }

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
    capacity: usize,
    packets: u64,
}

impl Endpoints {
    pub(crate) fn new() -> Self {
        let capacity = 4;
        Self {
            connections: Vec::new(),
            timers: Deadlines::new(2 * capacity),
            capacity,
            packets: 0,
        }
    }

    /// Adds a connection, which gets the next number.
    pub(crate) fn add(&mut self, ends: ConnectionEnds) {
        self.connections.push(ends);
        if self.connections.len() > self.capacity {
            self.capacity *= 2;
            let mut timers = Deadlines::new(2 * self.capacity);
            for timer in 0..2 * (self.connections.len() - 1) {
                timers.set(timer, self.timers.get(timer));
            }
            self.timers = timers;
        }
    }

    /// Closes an end whose application has aborted the connection.
    pub(crate) fn abandon(&mut self, now: Instant, connection: u32, end: End) {
        let ends = &mut self.connections[connection as usize];
        ends.abandoned = Some(end);
        ends.end(end).detach(now);
    }

    /// Returns the reset that answers a segment for an end that is closed because its application or its TCP has given
    /// the connection up.
    pub(crate) fn reset_reply(
        &self,
        connection: u32,
        end: End,
        segment: &Segment,
    ) -> Option<Segment> {
        let ends = &self.connections[connection as usize];
        let tcp = match end {
            End::Server => &ends.server,
            End::Client => &ends.client,
        };
        let given_up = ends.abandoned == Some(end) || tcp.failure().is_some();
        let rejects = tcp.state() == State::Closed && given_up;
        rejects.then(|| reset_reply(segment)).flatten()
    }

    /// Lets an end read `bytes` more; it reads by request from now on.
    pub(crate) fn allow_reading(&mut self, now: Instant, connection: u32, end: End, bytes: u64) {
        let ends = &mut self.connections[connection as usize];
        let budget = &mut ends.read_budget[end.index()];
        *budget = Some(budget.unwrap_or_default().saturating_add(bytes));
        ends.end(end).read(now, 0);
        self.read_within_budget(now, connection, end);
    }

    /// Reads what an end that reads by request may read.
    #[inline]
    pub(crate) fn read_within_budget(&mut self, now: Instant, connection: u32, end: End) {
        let ends = &mut self.connections[connection as usize];
        let Some(budget) = ends.read_budget[end.index()].filter(|budget| *budget > 0) else {
            return;
        };
        let read = ends.end(end).read(now, budget);
        ends.read_budget[end.index()] = Some(budget - read);
    }

    /// Returns the number of connections.
    pub(crate) fn count(&self) -> u32 {
        self.connections.len() as u32
    }

    /// Returns the sender's state of the server's end of a connection.
    #[inline]
    pub(crate) fn view(&self, connection: u32) -> SenderInfo {
        self.connections[connection as usize].server.view()
    }

    /// Returns the mode of the congestion control of the server's end of a connection.
    pub(crate) fn mode(&self, connection: u32) -> &'static str {
        self.connections[connection as usize].server.mode()
    }

    /// Returns the sender's state of the server's end of a connection, with its times under each limit until `now`.
    pub(crate) fn view_at(&self, connection: u32, now: Instant) -> SenderInfo {
        self.connections[connection as usize].server.view_at(now)
    }

    pub(crate) fn end(&mut self, connection: u32, end: End) -> &mut Connection {
        self.connections[connection as usize].end(end)
    }

    /// Returns the time-outs of a connection other than those of the sender of its data.
    pub(crate) fn other_timeouts(&self, connection: u32) -> OtherTimeouts {
        let ends = &self.connections[connection as usize];
        let handshake = ends.server.handshake_timeouts() + ends.client.handshake_timeouts();
        OtherTimeouts {
            far: ends.client.view().timeouts.unwrap_or_default(),
            handshake: u64::from(handshake),
        }
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

    /// Puts a segment of the host at an end on the path.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        (connection, end): (u32, End),
        segment: Segment,
        path: &mut ObservedPath,
    ) {
        let route = self.connections[connection as usize].route(end);
        inject(now, &mut self.packets, connection, route, segment, path);
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
        let route = ends.route(end);
        let timer = 2 * connection as usize + usize::from(end == End::Client);
        let socket = ends.end(end);
        while let Some(segment) = socket.poll_transmit() {
            inject(now, &mut self.packets, connection, route, segment, path);
        }
        let at = socket.deadline();
        if at < self.timers.get(timer) {
            self.timers.set(timer, at);
        }
    }
}

/// Puts a segment on the path, as the next of `packets`.
fn inject(
    now: Instant,
    packets: &mut u64,
    flow: u32,
    (source, destination): (HostId, HostId),
    segment: Segment,
    path: &mut ObservedPath,
) {
    let packet = Packet {
        id: *packets,
        flow,
        source,
        destination,
        size: segment.ip_len(),
        payload: segment.into(),
        sent_at: now,
    };
    *packets += 1;
    path.inject(now, packet, &mut ());
}
