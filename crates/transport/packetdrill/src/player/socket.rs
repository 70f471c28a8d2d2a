//! Sockets: descriptors, listening sockets and connections of the host under test.

use std::collections::VecDeque;

use cca::{CongestionState, cca_by_name};
use tcp::{Connection, Failure};
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
    pub(super) is_nonblocking: bool,
    /// Whether a descriptor refers to the socket, or it waits for `accept`.
    pub(super) is_open: bool,
}

/// Role of a socket.
#[derive(Debug)]
pub(super) enum Role {
    /// Neither listening nor connected.
    Fresh,
    /// Listening, with the connections that were not accepted yet.
    Listener(VecDeque<usize>),
    /// Connected or connecting.
    Connection(Box<TestConnection>),
}

/// Connection, with the offset of its sequence numbers in the script.
#[derive(Debug)]
pub(super) struct TestConnection {
    pub(super) tcp: Connection,
    /// Sequence number of the script less that of the connection.
    pub(super) seq_offset: u32,
    /// Timestamps that were sent: value in the script and actual value.
    pub(super) timestamps: Vec<(u32, u32)>,
    /// Whether the failure has been reported to the application.
    pub(super) is_error_reported: bool,
    /// Whether the application has ended writing (`SHUT_WR`).
    pub(super) is_write_shutdown: bool,
    /// Whether `connect` has returned success.
    pub(super) has_connect_returned: bool,
}

impl TestConnection {
    pub(super) fn new(tcp: Connection) -> Self {
        Self {
            tcp,
            seq_offset: 0,
            timestamps: Vec::new(),
            is_error_reported: false,
            is_write_shutdown: false,
            has_connect_returned: false,
        }
    }

    /// Returns our actual timestamp for one in the script.
    pub(super) fn actual_timestamp(&self, script: u32) -> u32 {
        let sent = self
            .timestamps
            .iter()
            .rev()
            .find(|(value, _)| *value == script);
        sent.map(|(_, actual)| *actual).unwrap_or_else(|| {
            let (first, actual) = self.timestamps.first().copied().unwrap_or_default();
            script.wrapping_sub(first).wrapping_add(actual)
        })
    }

    /// Returns the name of the error by which the connection has failed; once, as a call does.
    pub(super) fn take_failure(&mut self) -> Option<&'static str> {
        if self.is_error_reported {
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
        self.is_error_reported = true;
        Some(errno)
    }
}

impl Socket {
    pub(super) fn new(role: Role) -> Self {
        Self {
            role,
            options: Options::default(),
            is_nonblocking: false,
            is_open: true,
        }
    }

    pub(super) fn connection(&self) -> Option<&TestConnection> {
        match &self.role {
            Role::Connection(connection) => Some(connection),
            Role::Fresh | Role::Listener(_) => None,
        }
    }

    pub(super) fn connection_mut(&mut self) -> Option<&mut TestConnection> {
        match &mut self.role {
            Role::Connection(connection) => Some(connection),
            Role::Fresh | Role::Listener(_) => None,
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.connection()
            .map(|connection| connection.tcp.deadline())
    }
}

/// Returns a connection with the options of its socket and the settings of the host.
pub(super) fn new_connection(settings: &Settings, options: &Options) -> Connection {
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
    let rng = RngStream::new(1, Purpose::CongestionControl, 0);
    let mut window = config.initial_window(rng);
    if let Some(clamp) = settings.cwnd_clamp() {
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
    /// Creates the connection for a SYN that arrives at a listening socket.
    pub(super) fn open_passive(&mut self, listener: usize) {
        let options = self.sockets[listener].options.clone();
        let mut tcp = new_connection(&self.settings, &options);
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
