//! Sessions: the bookkeeping between the applications of a run and the engine that carries their bytes.
//!
//! An engine reports what happens to connections, then takes [`Action`]s until there are none. It keeps no account of
//! its own of bytes to be written, arrived bytes or completed connections.

use std::collections::VecDeque;

use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

use crate::application::{Application, Command, End};
use crate::byte_account::ByteAccount;
use crate::workload::Workload;

/// One step for the engine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Action {
    /// Opens a connection, which has the next number.
    Open {
        /// Index of the connection.
        connection: u32,
        /// Index of its flow in the scenario.
        flow: usize,
        /// The end that opens it; the other accepts it.
        by: End,
        /// Time of the request.
        at: Instant,
    },
    /// Reads at an end: this many bytes more, or all until the stream ends. An engine that reads bytes as they arrive
    /// ignores this action.
    Read {
        /// Index of the connection.
        connection: u32,
        /// The end that reads.
        end: End,
        /// Bytes to read.
        bytes: Option<u64>,
    },
    /// [`Sessions::next_write_bytes`] has changed: writes as many of these bytes as the connection takes.
    Write {
        /// Index of the connection.
        connection: u32,
        /// The end that writes.
        end: End,
    },
    /// Ends the stream of an end that writes nothing more but has bytes on their way, if the reader waits for the end
    /// of the stream. Other engines ignore this action, since [`Action::Close`] follows when the bytes have arrived.
    Finish {
        /// Index of the connection.
        connection: u32,
        /// The end that has written everything.
        end: End,
    },
    /// Records a metric as an event of the connection.
    Record {
        /// Index of the connection.
        connection: u32,
        /// Name of the metric.
        name: &'static str,
        /// Value of the metric.
        value: f64,
    },
    /// Reads at an end that reads by request from now on: this many bytes more, as they arrive.
    ReadMore {
        /// Index of the connection.
        connection: u32,
        /// The end that reads.
        end: End,
        /// Bytes to read.
        bytes: u64,
    },
    /// Closes an end whose application has aborted the connection: it reads nothing more, and answers segments
    /// by resets. The other end follows by itself.
    Abandon {
        /// Index of the connection.
        connection: u32,
        /// The end to close.
        end: End,
    },
    /// Completes a connection: all bytes of both ends have arrived, and the application has asked to close it.
    Complete {
        /// Index of the connection.
        connection: u32,
    },
    /// Closes an end, which needs no more reports.
    Close {
        /// Index of the connection.
        connection: u32,
        /// The end to close.
        end: End,
    },
}

/// Plan of the sessions of one flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowPlan<'a> {
    /// Choice of the application.
    pub workload: &'a Workload,
    /// The end that opens connections.
    pub opens: End,
    /// Earliest start of the sessions.
    pub start: Instant,
    /// Interval after it within which each session starts at a time of its own, drawn uniformly; zero: all start at once.
    pub start_spread: Duration,
    /// Number of sessions that do the same in parallel.
    pub count: u32,
}

/// An application and its connection.
struct Session {
    application: Box<dyn Application>,
    /// Whether it is notified of each arrival.
    follows: bool,
    /// Index of its flow in the scenario.
    flow: usize,
    /// The end that opens its connections.
    opens: End,
    next_at: Instant,
    /// Its connections by slot, each until it is completed.
    connections: Vec<Option<u32>>,
}

impl Session {
    /// Returns the connection of a slot.
    fn connection(&self, slot: usize) -> Option<u32> {
        self.connections.get(slot).copied().flatten()
    }

    /// Notes the connection of a slot.
    fn set(&mut self, slot: usize, connection: Option<u32>) {
        if slot >= self.connections.len() {
            self.connections.resize(slot + 1, None);
        }
        self.connections[slot] = connection;
    }
}

/// Earliest wake-up of all sessions.
#[derive(Clone, Copy)]
struct NextWake {
    at: Instant,
    /// Index of the session.
    session: usize,
}

/// The sessions of a run, in the order of their flows, and all of their connections.
pub struct Sessions {
    sessions: Vec<Session>,
    accounts: Vec<ByteAccount>,
    /// Time of the next wake-up, and the number of its session.
    next_wake: NextWake,
    commands: Vec<Command>,
    actions: VecDeque<Action>,
}

impl Sessions {
    /// Returns the sessions of these flows, numbered in this order.
    pub fn new<'a>(flows: impl IntoIterator<Item = FlowPlan<'a>>, seed: u64) -> Self {
        let mut sessions = Self::default();
        for (index, flow) in flows.into_iter().enumerate() {
            for _ in 0..flow.count {
                let entity = sessions.sessions.len() as u32;
                let draws = RngStream::new(seed, Purpose::Workload, entity);
                let application = flow.workload.application(draws);
                let delay = RngStream::new(seed, Purpose::SessionStart, entity)
                    .duration_below(flow.start_spread);
                sessions.add(index, flow.opens, flow.start + delay, application);
            }
        }
        sessions
    }

    /// Adds a session of a flow. It starts at `start`, and its end `opens` opens the connections.
    pub fn add(
        &mut self,
        flow: usize,
        opens: End,
        start: Instant,
        application: Box<dyn Application>,
    ) {
        self.sessions.push(Session {
            follows: application.wants_progress(),
            application,
            flow,
            opens,
            next_at: start,
            connections: Vec::new(),
        });
        self.find_next_wake();
    }

    /// Returns the time of the next wake-up; [`Instant::NEVER`] without one.
    pub fn next_at(&self) -> Instant {
        self.next_wake.at
    }

    /// Wakes the next session that is due; of several, the first.
    pub fn wake(&mut self, now: Instant) {
        let NextWake { at, session: index } = self.next_wake;
        if at <= now && at < Instant::NEVER {
            self.sessions[index].next_at = Instant::NEVER;
            self.notify(now, index, 0, |application, out| {
                application.on_wake(now, out)
            });
            self.find_next_wake();
        }
    }

    /// Returns the next step for the engine.
    pub fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Returns the flow of a connection, by its number in the scenario.
    pub fn flow(&self, connection: u32) -> usize {
        self.sessions[self.account(connection).session].flow
    }

    /// Returns whether the application of a connection is notified of each arrival.
    pub fn follows(&self, connection: u32) -> bool {
        self.sessions[self.account(connection).session].follows
    }

    /// Returns whether a connection was completed or aborted.
    pub fn is_completed(&self, connection: u32) -> bool {
        self.account(connection).is_completed()
    }

    /// Returns the connections of a flow that are open, in the order of its sessions.
    pub fn open_connections(&self, flow: usize) -> impl Iterator<Item = u32> {
        let of_flow = self.sessions.iter().filter(move |each| each.flow == flow);
        of_flow.flat_map(|session| session.connections.iter().copied().flatten())
    }

    /// Returns how many bytes are to be written at an end, [`UNLIMITED`](crate::UNLIMITED) for as many as the
    /// connection takes.
    pub fn next_write_bytes(&self, connection: u32, end: End) -> u64 {
        self.account(connection).next_write_bytes(end)
    }

    /// Returns whether the application of a connection follows its bytes, and so needs the time of
    /// [`Self::on_accepted`].
    pub fn follows_bytes(&self, connection: u32) -> bool {
        self.sessions[self.accounts[connection as usize].session].follows
    }

    /// Notes that the send buffer of `end` has accepted `bytes`; an application that follows its bytes is notified.
    /// `now` is the time for it, and may be `None` for others ([`Self::follows_bytes`]).
    pub fn on_accepted(&mut self, now: Option<Instant>, connection: u32, end: End, bytes: u64) {
        let account = &mut self.accounts[connection as usize];
        account.on_accepted(end, bytes);
        let (session, slot) = (account.session, account.slot);
        if let Some(now) = now.filter(|_| self.sessions[session].follows) {
            self.notify(now, session, slot, |application, out| {
                application.on_accepted(end, bytes, out);
            });
        }
        self.finish(connection);
    }

    /// Notes that the handshake of a connection is complete at both ends.
    pub fn on_established(&mut self, connection: u32) {
        self.accounts[connection as usize].on_established();
        self.finish(connection);
    }

    /// Notes that `total` bytes have arrived in order at `end` so far; returns how many of them are new.
    #[inline]
    pub fn on_received(&mut self, now: Instant, connection: u32, end: End, total: u64) -> u64 {
        let account = &mut self.accounts[connection as usize];
        if account.is_completed() {
            return 0;
        }
        let new_bytes = account.on_arrived(end, total);
        // Most segments at the sender bring no data.
        if new_bytes > 0 {
            self.progress(now, connection, end, new_bytes);
        }
        new_bytes
    }

    /// Tells the application of a connection that `new_bytes` more bytes have arrived at `end`.
    fn progress(&mut self, now: Instant, connection: u32, end: End, new_bytes: u64) {
        let account = self.account(connection);
        let (session, slot) = (account.session, account.slot);
        if self.sessions[session].follows {
            self.notify(now, session, slot, |application, out| {
                application.on_progress(now, end, new_bytes, out);
            });
        }
        self.notify_arrival(now, connection, end);
    }

    /// Notes that the stream towards `end` has ended, since the other end was closed.
    pub fn on_fin(&mut self, now: Instant, connection: u32, end: End) {
        if !self.account(connection).is_completed() {
            self.accounts[connection as usize].on_fin(end);
            self.notify_arrival(now, connection, end);
        }
        if self.account(connection).is_completed() {
            self.actions.push_back(Action::Close { connection, end });
        }
    }

    /// Notes the end of the run: applications record their last metrics.
    pub fn stop(&mut self, now: Instant) {
        for index in 0..self.sessions.len() {
            self.notify(now, index, 0, |application, out| {
                application.on_stopped(now, out)
            });
        }
    }

    fn account(&self, connection: u32) -> &ByteAccount {
        &self.accounts[connection as usize]
    }

    #[inline]
    fn notify_arrival(&mut self, now: Instant, connection: u32, end: End) {
        let account = &mut self.accounts[connection as usize];
        if account.is_completed() {
            return;
        }
        let (session, slot) = (account.session, account.slot);
        if let Some(bytes) = account.take_arrived(end) {
            self.notify(now, session, slot, |application, out| {
                application.on_received(now, end, bytes, out);
            });
        }
        self.complete_if_arrived(now, connection);
    }

    /// Calls the application of a session for its connection in `slot`, and executes its commands.
    fn notify(
        &mut self,
        now: Instant,
        index: usize,
        mut slot: usize,
        callback: impl FnOnce(&mut dyn Application, &mut Vec<Command>),
    ) {
        let mut commands = core::mem::take(&mut self.commands);
        let application = &mut *self.sessions[index].application;
        application.select_slot(slot);
        callback(application, &mut commands);
        for command in commands.drain(..) {
            match command {
                Command::SelectSlot(to) => slot = to,
                _ => self.execute(now, index, slot, command),
            }
        }
        self.commands = commands;
    }

    fn execute(&mut self, now: Instant, index: usize, slot: usize, command: Command) {
        match command {
            Command::WakeAt(at) => {
                self.sessions[index].next_at = at;
                return self.find_next_wake();
            }
            Command::Open => {
                let connection = self.accounts.len() as u32;
                self.accounts.push(ByteAccount::new(index, slot));
                let session = &mut self.sessions[index];
                session.set(slot, Some(connection));
                return self.actions.push_back(Action::Open {
                    connection,
                    flow: session.flow,
                    by: session.opens,
                    at: now,
                });
            }
            _ => {}
        }
        let Some(connection) = self.sessions[index].connection(slot) else {
            return;
        };
        let account = &mut self.accounts[connection as usize];
        let mut read = |end: End, bytes| {
            let end = end.other();
            self.actions.push_back(Action::Read {
                connection,
                end,
                bytes,
            });
        };
        let end = match command {
            Command::Send(end, bytes) => {
                if account.send(end, bytes) {
                    read(end, Some(bytes));
                }
                end
            }
            Command::Stream(end, bytes) => {
                if account.stream(end, bytes) {
                    read(end, None);
                }
                end
            }
            Command::CancelUnsent(end) => {
                account.cancel_unsent(end);
                end
            }
            Command::Record(name, value) => {
                return self.actions.push_back(Action::Record {
                    connection,
                    name,
                    value,
                });
            }
            Command::Read(end, bytes) => {
                account.set_manual_read(end);
                return self.actions.push_back(Action::ReadMore {
                    connection,
                    end,
                    bytes,
                });
            }
            Command::Abort(end) => {
                account.abort();
                self.sessions[index].set(slot, None);
                return self.actions.push_back(Action::Abandon { connection, end });
            }
            Command::Close(end) => {
                account.close(end);
                self.complete_if_arrived(now, connection);
                return self.finish(connection);
            }
            Command::Open | Command::WakeAt(_) | Command::SelectSlot(_) => return,
        };
        self.actions.push_back(Action::Write { connection, end });
    }

    /// Ends the stream of an end that is being closed, once nothing is left to be written there.
    fn finish(&mut self, connection: u32) {
        if let Some(end) = self.account(connection).half_closing() {
            self.actions.push_back(Action::Finish { connection, end });
        }
    }

    /// Completes a connection that is being closed, once all its bytes have arrived.
    #[inline]
    fn complete_if_arrived(&mut self, now: Instant, connection: u32) {
        let completion = self.accounts[connection as usize].take_completion();
        if let Some(end) = completion {
            self.complete(now, connection, end);
        }
    }

    /// Completes a connection, which `end` closes.
    #[cold]
    fn complete(&mut self, now: Instant, connection: u32, end: End) {
        let account = self.account(connection);
        let (index, slot) = (account.session, account.slot);
        let steps = [
            Action::Complete { connection },
            Action::Close { connection, end },
        ];
        self.actions.extend(steps);
        self.sessions[index].set(slot, None);
        self.notify(now, index, slot, |application, out| {
            application.on_completed(now, out);
        });
    }

    fn find_next_wake(&mut self) {
        let wakes = self.sessions.iter().map(|session| session.next_at);
        let (at, session) = wakes.zip(0..).min().unwrap_or((Instant::NEVER, 0));
        self.next_wake = NextWake { at, session };
    }
}

impl Default for Sessions {
    /// Returns no sessions.
    fn default() -> Self {
        Self {
            sessions: Vec::new(),
            accounts: Vec::new(),
            next_wake: NextWake {
                at: Instant::NEVER,
                session: 0,
            },
            commands: Vec::new(),
            actions: VecDeque::new(),
        }
    }
}
