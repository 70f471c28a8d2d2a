//! Sockets: descriptors, listening sockets and connections of the host under test.

use std::collections::VecDeque;

use cca::{CongestionState, cca_by_name};
use tcp::{Connection, Failure, State};
use units::Instant;
use units::random::{Purpose, RngStream};

use super::Player;
use super::options::Options;
use crate::settings::Settings;

/// Socket of the application.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) role: Role,
    pub(super) options: Options,
    pub(super) nonblocking: bool,
    /// Whether a descriptor refers to it, or it waits for `accept`.
    pub(super) open: bool,
}

/// State of a socket.
#[derive(Debug)]
pub(super) enum Role {
    /// Neither listening nor connected.
    Fresh,
    /// Listening, with the connections that were not accepted yet.
    Listener(VecDeque<usize>),
    /// Connection.
    Connection(Box<TestConnection>),
}

/// Connection with its numbers in the script.
#[derive(Debug)]
pub(super) struct TestConnection {
    pub(super) tcp: Connection,
    /// Sequence number of the script less that of the connection.
    pub(super) offset: u32,
    /// Timestamps that were sent: the script's value and the actual one.
    pub(super) clocks: Vec<(u32, u32)>,
    /// Whether the failure has been reported to the application.
    pub(super) error_reported: bool,
    /// Whether the application has closed its end or shut it down.
    pub(super) shut: bool,
    /// Whether `connect` has returned success.
    pub(super) connected: bool,
}

impl TestConnection {
    pub(super) fn new(tcp: Connection) -> Self {
        Self {
            tcp,
            offset: 0,
            clocks: Vec::new(),
            error_reported: false,
            shut: false,
            connected: false,
        }
    }

    /// Returns whether the host no longer knows the connection.
    pub(super) fn is_gone(&self) -> bool {
        self.tcp.state() == State::Closed
    }

    /// Returns our timestamp that stands for a value of the script.
    pub(super) fn own_clock(&self, script: u32) -> u32 {
        let known = self.clocks.iter().rev().find(|(value, _)| *value == script);
        let known = known.map(|(_, actual)| *actual);
        known.unwrap_or_else(|| {
            let (first, actual) = self.clocks.first().copied().unwrap_or_default();
            script.wrapping_sub(first).wrapping_add(actual)
        })
    }

    /// Removes and returns the failure of the connection, which a call returns once.
    pub(super) fn take_failure(&mut self) -> Option<&'static str> {
        if self.error_reported {
            return None;
        }
        let errno = match self.tcp.failure()? {
            Failure::Reset => "ECONNRESET",
            Failure::Refused => "ECONNREFUSED",
            Failure::Pipe => "EPIPE",
            Failure::TimedOut => "ETIMEDOUT",
            Failure::HostUnreachable => "EHOSTUNREACH",
            Failure::NetworkUnreachable => "ENETUNREACH",
        };
        self.error_reported = true;
        Some(errno)
    }
}

impl Socket {
    pub(super) fn new(role: Role) -> Self {
        Self {
            role,
            options: Options::default(),
            nonblocking: false,
            open: true,
        }
    }

    pub(super) fn connection(&self) -> Option<&TestConnection> {
        match &self.role {
            Role::Connection(peer) => Some(peer),
            Role::Fresh | Role::Listener(_) => None,
        }
    }

    pub(super) fn connection_mut(&mut self) -> Option<&mut TestConnection> {
        match &mut self.role {
            Role::Connection(peer) => Some(peer),
            Role::Fresh | Role::Listener(_) => None,
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.connection().map(|peer| peer.tcp.deadline())
    }
}

/// Returns a connection as the options of its socket and the settings of the host make it.
pub(super) fn connection(settings: &Settings, options: &Options) -> Connection {
    let mut config = settings.config(options.receive_buffer);
    options.apply(&mut config);
    let name = options
        .congestion_control
        .as_deref()
        .unwrap_or(settings.congestion_control());
    // Names are checked where they are set.
    let built = cca_by_name(name)
        .or_else(|_| cca_by_name("cubic"))
        .expect("cubic is a CCA of ours");
    let draws = RngStream::new(1, Purpose::CongestionControl, 0);
    let mut window = config.initial_window(draws);
    if let Some(clamp) = settings.window_clamp() {
        window.cwnd_clamp = clamp;
    }
    let mut tcp = Connection::new(config, CongestionState::new(window, built), 0, 0);
    if let Some(bytes) = options.send_buffer {
        tcp.set_send_buffer(bytes);
    }
    // The application reads by request.
    tcp.read(Instant::ZERO, 0);
    tcp
}

impl Player {
    /// Creates the connection of a request that arrives at a listening socket.
    pub(super) fn open_passively(&mut self, listener: usize) {
        let options = self.sockets[listener].options.clone();
        let mut tcp = connection(&self.settings, &options);
        tcp.listen();
        let mut socket = Socket::new(Role::Connection(Box::new(TestConnection::new(tcp))));
        socket.options = options;
        let index = self.sockets.len();
        self.sockets.push(socket);
        if let Role::Listener(queue) = &mut self.sockets[listener].role {
            queue.push_back(index);
        }
        self.under_test = Some(index);
    }
}
