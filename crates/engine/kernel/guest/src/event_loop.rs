//! Event loop of the guest: plays the workloads on sockets, samples their senders and carries out switches.

mod connect;
mod event_token;
mod selectors;
mod sockets;
mod switching;

use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;

use cca::SenderInfo;
use kernel_protocol::{GuestJob, KernelSettings, Message, Reply};
use linux_sockets::{Counters, PacingCap, options, read_sender};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::clock_gettime;
use selection::{CcaChoice, DEFAULT_CCA, Selectors};
use units::{Duration, Instant};
use workload::{Action, End, OpenedBy, Sessions, SwitchSchedule};

use self::event_token::{EventToken, watch};
use self::sockets::Connection;
use crate::connection::{self, CHUNK, EndSettings};
use crate::device::Device;
use crate::flows;
use crate::host::Host;
use crate::reader::Readers;

/// Interval at which the states of senders are sampled while segments are in flight. It is shorter if the table
/// `samples` has a shorter one.
const SENDER_INTERVAL: Duration = Duration::from_millis(10);

/// Number of successive samples without a segment in flight after which each further one doubles the interval.
const MAX_IDLE_SAMPLES: u32 = 100;

/// Largest number of doublings.
const MAX_DOUBLINGS: u32 = 10;

/// Events of a socket that cannot be written any more.
const WRITE_CLOSED: EpollFlags = EpollFlags::EPOLLERR.union(EpollFlags::EPOLLHUP);

/// Bytes of a message after which an application that wants progress is notified.
const PROGRESS_BYTES: u64 = 8_000;

/// State of a run in the guest.
pub(crate) struct EventLoop<'a> {
    device: Device,
    hosts: &'a [Host],
    job: &'a GuestJob,
    epoll: Epoll,
    timer: TimerFd,
    /// The kernel's time at time zero of the run.
    zero: Duration,
    end: Instant,
    /// Listeners, one per flow of the scenario.
    listeners: Vec<TcpListener>,
    sessions: Sessions,
    connections: Vec<Connection>,
    switches: SwitchSchedule<CcaChoice>,
    selectors: Selectors,
    slot: Duration,
    next_slot: Instant,
    sampling: Option<Duration>,
    next_sample: Instant,
    next_sender_sample: Instant,
    /// Successive samples of the senders without a segment in flight.
    idle_samples: u32,
    readers: Readers,
    chunk: Vec<u8>,
    /// Initial windows that selectors have set, by sender and destination.
    initial_windows: BTreeMap<(String, String), u32>,
}

impl<'a> EventLoop<'a> {
    /// Sets up the run. Time zero of the run is when this returns.
    pub(crate) fn new(
        mut device: Device,
        hosts: &'a [Host],
        job: &'a GuestJob,
    ) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::empty())?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::empty())?;
        watch(&epoll, &timer, EpollFlags::EPOLLIN, EventToken::Timer)?;
        let readers = Readers::new()?;
        watch(
            &epoll,
            &readers.signal,
            EpollFlags::EPOLLIN,
            EventToken::Readers,
        )?;
        let sampling = job.sampling_ns.map(Duration::from_nanos);
        let slot = Duration::from_nanos(job.slot_ns);
        let switches = flows::switches(job)?;
        let mut event_loop = Self {
            hosts,
            job,
            epoll,
            timer,
            zero: Duration::ZERO,
            end: Instant::ZERO + Duration::from_nanos(job.duration_ns),
            listeners: Vec::new(),
            sessions: flows::sessions(job)?,
            connections: Vec::new(),
            selectors: flows::selectors(job, &switches)?,
            switches,
            slot,
            next_slot: Instant::ZERO + slot,
            sampling,
            next_sample: sampling.map_or(Instant::NEVER, |interval| Instant::ZERO + interval),
            next_sender_sample: Instant::ZERO + SENDER_INTERVAL,
            idle_samples: 0,
            readers,
            chunk: vec![0; CHUNK],
            initial_windows: BTreeMap::new(),
            device: {
                device.send(&Message::Start)?;
                device
            },
        };
        for (number, flow) in job.flows.iter().enumerate() {
            // A selected flow has no CCA before its first connection.
            let current = event_loop.switches.current(number);
            let cca = current.fixed_cca().map_or(DEFAULT_CCA, |cca| cca.name);
            let (acceptor, listener_cca) = match flow.opens {
                OpenedBy::Receiver => (End::Server, Some(cca)),
                OpenedBy::Sender => (End::Client, None),
            };
            let host = event_loop.host_of(number, acceptor)?;
            host.enter()?;
            let address = host.address;
            let flow_error =
                |error| io::Error::other(format!("flow {:?}: {cca}: {error}", flow.name));
            let socket = connection::listener(
                address,
                number,
                listener_cca,
                event_loop.end_settings(number),
            )
            .map_err(flow_error)?;
            let source = EventToken::Listener(number);
            watch(&event_loop.epoll, &socket, EpollFlags::EPOLLIN, source)?;
            event_loop.listeners.push(socket);
        }
        let Reply::Clock(since) = event_loop.device.request(&Message::Clock)? else {
            return Err(io::Error::other("the path does not reply with its time"));
        };
        event_loop.zero = kernel_time()?.saturating_sub(Duration::from_nanos(since));
        Ok(event_loop)
    }

    fn host(&self, name: &str) -> io::Result<&'a Host> {
        let names = &self.job.hosts;
        let position = names.iter().position(|host| host == name);
        position
            .and_then(|index| self.hosts.get(index))
            .ok_or_else(|| io::Error::other(format!("there is no host {name:?}")))
    }

    fn end_settings(&self, flow: usize) -> EndSettings {
        let settings = &self.job.settings;
        EndSettings {
            mss: settings.mss,
            window: settings.window,
            nodelay: self.job.flows[flow].nodelay,
            max_pacing_rate: self.job.flows[flow].max_pacing_rate,
            user_timeout_ms: settings.user_timeout_ms,
            keepalive: settings.keepalive,
        }
    }

    fn now(&self) -> io::Result<Instant> {
        Ok(Instant::ZERO + kernel_time()?.saturating_sub(self.zero))
    }

    /// Processes events until the end of the run.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); 64];
        let mut armed = Instant::ZERO;
        loop {
            let now = self.now()?;
            if now >= self.end {
                return self.finish();
            }
            self.run_timers(now)?;
            let next = self.next_due().min(self.end);
            if next != armed {
                self.arm(next)?;
                armed = next;
            }
            let count = self.epoll.wait(&mut events, EpollTimeout::NONE)?;
            for event in &events[..count] {
                match EventToken::unpack(event.data()) {
                    // An absolute timer that has expired stays readable until it is set again.
                    EventToken::Timer => armed = Instant::ZERO,
                    EventToken::Listener(flow) => self.accept(flow)?,
                    EventToken::Readers => self.on_reports()?,
                    EventToken::Socket(number, end) => {
                        self.idle_samples = 0;
                        // epoll reports these events until the socket is removed, whatever events are registered.
                        if event.events().intersects(WRITE_CLOSED) {
                            self.leave_epoll(number, end)?;
                        }
                        self.on_writable(number, end)?;
                    }
                }
            }
        }
    }

    fn arm(&self, at: Instant) -> io::Result<()> {
        let time = self.zero + at.since_start();
        let spec = TimeSpec::from_duration(std::time::Duration::from_nanos(time.as_nanos().max(1)));
        let expiration = Expiration::OneShot(spec);
        Ok(self
            .timer
            .set(expiration, TimerSetTimeFlags::TFD_TIMER_ABSTIME)?)
    }

    fn next_due(&self) -> Instant {
        let pacing_caps = self
            .connections
            .iter()
            .filter_map(|connection| connection.cap.as_ref());
        pacing_caps
            .map(PacingCap::stage_end)
            .min()
            .unwrap_or(Instant::NEVER)
            .min(self.sessions.next_at())
            .min(self.switches.next_at())
            .min(self.selectors.next_sample())
            .min(self.next_slot)
            .min(self.next_sender_sample)
            .min(self.next_sample)
    }

    fn run_timers(&mut self, now: Instant) -> io::Result<()> {
        while self.sessions.next_at() <= now {
            self.idle_samples = 0;
            self.sessions.wake(now);
            self.carry_out()?;
        }
        while let Some(due) = self.switches.pop(now) {
            self.switch(now, &due)?;
        }
        if self.selectors.next_sample() <= now {
            self.select(now)?;
        }
        self.update_pacing_caps(now)?;
        self.send_estimates(now)?;
        if self.next_sender_sample <= now {
            self.clamp_windows()?;
        }
        let sample = self.next_sample <= now;
        if sample || self.next_sender_sample <= now {
            self.sample_senders(sample)?;
        }
        while let Some(interval) = self.sampling.filter(|_| self.next_sample <= now) {
            self.next_sample += interval;
        }
        let soon = now + SENDER_INTERVAL;
        let later = self.next_sender_sample.saturating_since(soon);
        if self.idle_samples == 0 && later > Duration::ZERO {
            // Activity ends the long intervals. Sample times stay multiples of the short interval.
            self.next_sender_sample =
                soon + Duration::from_nanos(later.as_nanos() % SENDER_INTERVAL.as_nanos());
        }
        if self.next_sender_sample <= now {
            let doublings = self.idle_samples.saturating_sub(MAX_IDLE_SAMPLES);
            let idle = SENDER_INTERVAL * (1 << doublings.min(MAX_DOUBLINGS));
            let interval = idle.min(self.slot).max(SENDER_INTERVAL);
            while self.next_sender_sample <= now {
                self.next_sender_sample += interval;
            }
            self.idle_samples += 1;
        }
        Ok(())
    }

    /// Carries out the actions of the sessions.
    fn carry_out(&mut self) -> io::Result<()> {
        while let Some(action) = self.sessions.next_action() {
            match action {
                Action::Open {
                    connection,
                    flow,
                    by,
                    at,
                } => self.open(at, connection, flow, by)?,
                Action::Read {
                    connection,
                    end,
                    bytes,
                } => self.read(connection, end, bytes)?,
                Action::Write { connection, end } => self.write(connection, end)?,
                Action::Finish { connection, end } => {
                    self.connections[connection as usize].end(end).finish()?;
                }
                Action::Record {
                    connection,
                    name,
                    value,
                } => self.device.send(&Message::AppMetric {
                    connection,
                    name: name.to_owned(),
                    value,
                })?,
                Action::ReadMore {
                    connection,
                    end,
                    bytes,
                } => {
                    let number = connection as usize;
                    let socket = self.connections[number].end(end);
                    socket.read(&self.readers, number, end, Some(bytes))?;
                }
                Action::Abandon { connection, end } => {
                    self.complete(connection)?;
                    self.connections[connection as usize].end(end).abandon()?;
                    self.close(connection, end)?;
                }
                Action::Complete { connection } => self.complete(connection)?,
                Action::Close { connection, end } => self.close(connection, end)?,
            }
        }
        Ok(())
    }

    /// Requests that many bytes more from an end, or all until its stream ends. A session that follows progress gets
    /// several reports.
    fn read(&mut self, connection: u32, end: End, bytes: Option<u64>) -> io::Result<()> {
        let number = connection as usize;
        let socket = self.connections[number].end(end);
        let mut left = bytes;
        if self.sessions.follows(connection) {
            while let Some(more) = left.filter(|bytes| *bytes > PROGRESS_BYTES) {
                socket.read(&self.readers, number, end, Some(PROGRESS_BYTES))?;
                left = Some(more - PROGRESS_BYTES);
            }
        }
        socket.read(&self.readers, number, end, left)
    }

    /// Ends the measurement of a connection.
    fn complete(&mut self, connection: u32) -> io::Result<()> {
        self.sample_senders(false)?;
        self.device.send(&Message::Complete { connection })?;
        self.selectors.close(connection);
        Ok(())
    }

    /// Closes an end, and the other end as soon as the stream towards it ends.
    fn close(&mut self, connection: u32, end: End) -> io::Result<()> {
        let (number, other) = (connection as usize, end.other());
        let ends = &mut self.connections[number];
        ends.end(end).close()?;
        ends.end(other)
            .close_after_peer(&self.readers, number, other)
    }

    /// Writes as many bytes as the session has to send and the send buffer has room for.
    fn write(&mut self, connection: u32, end: End) -> io::Result<()> {
        // The virtual clock moves on whenever it is read.
        let follows = self.sessions.follows_bytes(connection);
        let now = follows.then(|| self.now()).transpose()?;
        let socket = self.connections[connection as usize].end(end);
        let Some(file) = &socket.socket else {
            return Ok(());
        };
        let mut is_full = false;
        while !is_full {
            let write_bytes = self
                .sessions
                .next_write_bytes(connection, end)
                .min(CHUNK as u64);
            if write_bytes == 0 {
                break;
            }
            let written = match connection::write_some(file, &self.chunk[..write_bytes as usize]) {
                Err(error) if has_timed_out(&self.job.settings, &error) => {
                    return self.drop_socket(connection, end);
                }
                result => result?,
            };
            self.sessions.on_accepted(now, connection, end, written);
            is_full = written < write_bytes;
        }
        let source = EventToken::Socket(connection as usize, end);
        match socket.epollout_armed {
            None if is_full => watch(&self.epoll, file, EpollFlags::EPOLLOUT, source)?,
            Some(armed) if armed != is_full => {
                let flags = if is_full {
                    EpollFlags::EPOLLOUT
                } else {
                    EpollFlags::empty()
                };
                let mut event = EpollEvent::new(flags, source.pack());
                self.epoll.modify(file, &mut event)?;
            }
            None | Some(_) => return Ok(()),
        }
        socket.epollout_armed = Some(is_full);
        Ok(())
    }

    /// Drops a socket whose connection has timed out: nothing more is written.
    fn drop_socket(&mut self, connection: u32, end: End) -> io::Result<()> {
        let number = connection as usize;
        self.leave_epoll(number, end)?;
        self.connections[number].end(end).socket = None;
        Ok(())
    }

    /// Removes a socket from epoll.
    fn leave_epoll(&mut self, number: usize, end: End) -> io::Result<()> {
        let socket = self.connections[number].end(end);
        if let (Some(file), true) = (&socket.socket, socket.epollout_armed.take().is_some()) {
            self.epoll.delete(file)?;
        }
        Ok(())
    }

    /// Reports to the sessions what readers have read.
    fn on_reports(&mut self) -> io::Result<()> {
        for report in self.readers.fetch()? {
            let (number, end) = (report.connection, report.end);
            let now = self.now()?;
            self.idle_samples = 0;
            let connection = number as u32;
            let progress = match report.progress {
                Ok(progress) => progress,
                Err(error) if has_timed_out(&self.job.settings, &error) => {
                    self.drop_socket(connection, end)?;
                    continue;
                }
                // The client has abandoned the connection, and the server has received its RST.
                Err(_) if self.sessions.is_completed(connection) => {
                    self.sessions.on_fin(now, connection, end);
                    self.carry_out()?;
                    continue;
                }
                Err(error) => {
                    return Err(io::Error::other(format!("connection {number}: {error}")));
                }
            };
            self.sessions
                .on_received(now, connection, end, progress.total);
            if progress.has_ended {
                self.sessions.on_fin(now, connection, end);
            }
            self.carry_out()?;
        }
        Ok(())
    }

    /// Returns the state of the sender of a connection, if it is open.
    fn read_sender(&self, number: usize) -> io::Result<Option<SenderInfo>> {
        let connection = &self.connections[number];
        let socket = connection.sender();
        socket
            .map(|socket| read_sender(&socket, connection.cca))
            .transpose()
    }

    /// Caps the receive windows again. Linux resets the cap when it has measured the memory of a segment.
    fn clamp_windows(&self) -> io::Result<()> {
        let Some(window) = self.job.settings.window else {
            return Ok(());
        };
        for socket in self.connections.iter().flat_map(Connection::sockets) {
            options::clamp_window(socket, window)?;
        }
        Ok(())
    }

    /// Reports the states of all senders to the path.
    fn sample_senders(&mut self, sample: bool) -> io::Result<()> {
        let mut senders = Vec::new();
        for number in 0..self.connections.len() {
            senders.extend(
                self.read_sender(number)?
                    .map(|sender| (number as u32, sender)),
            );
        }
        if senders.iter().any(|(_, sender)| sender.packets_out > 0) {
            self.idle_samples = 0;
        }
        if senders.is_empty() {
            return Ok(());
        }
        self.device.send(&Message::Senders { sample, senders })
    }

    fn finish(mut self) -> io::Result<()> {
        self.sessions.stop(self.end);
        self.carry_out()?;
        self.sample_senders(false)?;
        self.send_estimates(self.end)?;
        let mut memory_pressures = 0;
        for (index, name) in self.job.hosts.iter().enumerate() {
            self.hosts[index].enter()?;
            let counters = Counters::read()?;
            memory_pressures += counters.memory_pressures as u32;
            let sends = |connection: &Connection| self.job.flows[connection.flow].from == *name;
            let senders: Vec<u32> = (0..)
                .zip(&self.connections)
                .filter(|(_, connection)| sends(connection))
                .map(|(number, _)| number)
                .collect();
            if let [connection] = senders[..] {
                self.device.send(&Message::Counters {
                    connection,
                    loss_probes: counters.loss_probes,
                    recoveries: counters.fast_recoveries,
                    undone: counters.undone,
                    timeouts: counters.timeouts,
                })?;
            }
        }
        self.device
            .send(&Message::MemoryPressures(memory_pressures))?;
        self.device.send(&Message::End)
    }
}

/// Returns the kernel's monotonic time.
fn kernel_time() -> io::Result<Duration> {
    let time = clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC)?;
    Ok(Duration::from_nanos(
        time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64,
    ))
}

/// Returns whether a socket error means that the connection has timed out. With a user timeout or keepalive that may have
/// been at the peer, which then sends a RST.
fn has_timed_out(settings: &KernelSettings, error: &io::Error) -> bool {
    let has_timeout = settings.user_timeout_ms.is_some() || settings.keepalive.is_some();
    match error.kind() {
        io::ErrorKind::TimedOut => true,
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => has_timeout,
        _ => false,
    }
}
