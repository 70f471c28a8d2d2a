//! The loop of the guest: applications, sockets, samples and switches until the end of the run.

mod opening;
mod selecting;
mod source;
mod switching;

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{Shutdown, shutdown};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::clock_gettime;
use scenario::{Flow, Samples, Scenario};
use select::DEFAULT_CCA;
use sidechannel::{Answer, Message};
use units::{Duration, Instant};
use workload::{Application, Command, Selection, Switches};

use self::source::{Source, watch};
use crate::connection::{self, EndSettings, PIECE};
use crate::counters;
use crate::device::Device;
use crate::hold::Hold;
use crate::host::Host;
use crate::info::{Look, look};
use crate::receiver::Receivers;

/// The states of senders are looked at as often as this, or more often if samples are.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
/// A sample per ACK cannot be had from sockets; this often instead.
const DENSE_INTERVAL: Duration = Duration::from_millis(1);

/// One flow of the scenario at work.
struct Running {
    flow: Flow,
    /// Its number in the scenario.
    number: usize,
    application: Application,
    /// The connection of the present transfer.
    connection: Option<usize>,
    /// Bytes still to be written; `None` for as many as it takes.
    budget: Option<u64>,
    closing: bool,
}

/// A connection.
struct Connection {
    running: usize,
    sender: Option<OwnedFd>,
    /// Whether epoll is asked for room in the sender's buffer.
    asks_for_room: bool,
    cca: &'static str,
    hold: Option<Hold>,
}

/// The run as the guest sees it.
pub(crate) struct Play<'a> {
    device: Device,
    hosts: &'a [Host],
    scenario: &'a Scenario,
    names: &'a [String],
    epoll: Epoll,
    timer: TimerFd,
    /// The kernel's time at time zero of the run.
    zero: Duration,
    end: Instant,
    /// One per flow of the scenario.
    listeners: Vec<TcpListener>,
    running: Vec<Running>,
    connections: Vec<Connection>,
    switches: Switches,
    selection: Selection,
    next_slot: Instant,
    sampling: Option<Duration>,
    next_sample: Instant,
    next_look: Instant,
    receivers: Receivers,
    piece: Vec<u8>,
}

impl<'a> Play<'a> {
    /// Gets everything ready; time zero is when this returns.
    pub(crate) fn new(
        mut device: Device,
        hosts: &'a [Host],
        names: &'a [String],
        scenario: &'a Scenario,
        seed: u64,
        start_jitter: Duration,
    ) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::empty())?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::empty())?;
        watch(&epoll, &timer, EpollFlags::EPOLLIN, Source::Timer)?;
        let receivers = Receivers::new()?;
        watch(
            &epoll,
            &receivers.signal,
            EpollFlags::EPOLLIN,
            Source::Receivers,
        )?;
        let mut running = Vec::new();
        for (number, flow) in scenario.flows.iter().enumerate() {
            for _ in 0..flow.count {
                let start = Instant::ZERO + flow.start + start_jitter;
                let entity = running.len() as u32;
                running.push(Running {
                    application: Application::new(&flow.workload, start, seed, entity),
                    flow: flow.clone(),
                    number,
                    connection: None,
                    budget: Some(0),
                    closing: false,
                });
            }
        }
        let sampling = match scenario.samples {
            Samples::Off => None,
            Samples::EveryAck => Some(DENSE_INTERVAL),
            Samples::Interval(interval) => Some(interval),
        };
        let mut play = Self {
            hosts,
            scenario,
            names,
            epoll,
            timer,
            zero: Duration::ZERO,
            end: Instant::ZERO + scenario.duration,
            listeners: Vec::new(),
            running,
            connections: Vec::new(),
            switches: Switches::new(scenario),
            selection: Selection::new(scenario, seed).map_err(io::Error::other)?,
            next_slot: Instant::ZERO + scenario.slot,
            sampling,
            next_sample: sampling.map_or(Instant::NEVER, |interval| Instant::ZERO + interval),
            next_look: Instant::ZERO + LOOK_INTERVAL,
            receivers,
            piece: vec![0; PIECE],
            device: {
                device.tell(&Message::Start)?;
                device
            },
        };
        for (number, flow) in scenario.flows.iter().enumerate() {
            let host = play.host(&flow.from)?;
            host.enter()?;
            let address = host.address;
            // A selected flow has none before its first connection.
            let present = play.switches.present(number);
            let cca = if present.auto().is_some() {
                DEFAULT_CCA
            } else {
                present.name
            };
            let socket =
                connection::listener(address, number, cca, play.ends()).map_err(|error| {
                    io::Error::other(format!("flow {:?}: {cca}: {error}", flow.name))
                })?;
            let source = Source::Listener(number);
            watch(&play.epoll, &socket, EpollFlags::EPOLLIN, source)?;
            play.listeners.push(socket);
        }
        let Answer::Clock(since) = play.device.ask(&Message::Clock)? else {
            return Err(io::Error::other("the path does not tell the time"));
        };
        play.zero = kernel_time()?.saturating_sub(Duration::from_nanos(since));
        Ok(play)
    }

    fn host(&self, name: &str) -> io::Result<&'a Host> {
        let position = self.names.iter().position(|known| known == name);
        position
            .and_then(|index| self.hosts.get(index))
            .ok_or_else(|| io::Error::other(format!("there is no host {name:?}")))
    }

    fn ends(&self) -> EndSettings {
        let tcp = &self.scenario.tcp;
        EndSettings {
            mss: tcp.mss.map(|mss| mss.get() as u32),
            window: tcp.receive_window_max.map(|window| window.get() as u32),
        }
    }

    fn now(&self) -> io::Result<Instant> {
        Ok(Instant::ZERO + kernel_time()?.saturating_sub(self.zero))
    }

    /// Plays to the end.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); 64];
        let mut armed = Instant::ZERO;
        loop {
            let now = self.now()?;
            if now >= self.end {
                return self.finish();
            }
            self.do_due(now)?;
            let next = self.next_due().min(self.end);
            if next != armed {
                self.arm(next)?;
                armed = next;
            }
            let count = self.epoll.wait(&mut events, EpollTimeout::NONE)?;
            for event in &events[..count] {
                match Source::unpack(event.data()) {
                    // An absolute timer that has expired stays readable until it is set again.
                    Source::Timer => armed = Instant::ZERO,
                    Source::Listener(flow) => self.accept(flow)?,
                    Source::Receivers => self.receive()?,
                    Source::Sender(number) => self.write(self.connections[number].running)?,
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
        let applications = self.running.iter().map(|each| each.application.next_at());
        let holds = self
            .connections
            .iter()
            .filter_map(|each| each.hold.as_ref());
        applications
            .chain(holds.map(Hold::next))
            .min()
            .unwrap_or(Instant::NEVER)
            .min(self.switches.next_at())
            .min(self.selection.next())
            .min(self.next_slot)
            .min(self.next_look)
            .min(self.next_sample)
    }

    fn do_due(&mut self, now: Instant) -> io::Result<()> {
        for index in 0..self.running.len() {
            while self.running[index].application.next_at() <= now {
                self.wake(now, index)?;
            }
        }
        while let Some(due) = self.switches.pop(now) {
            self.switch(now, &due)?;
        }
        if self.selection.next() <= now {
            self.select(now)?;
        }
        self.lift_holds(now)?;
        self.tell_estimates(now)?;
        let sample = self.next_sample <= now;
        if sample || self.next_look <= now {
            self.look_at_senders(sample)?;
        }
        while let Some(interval) = self.sampling.filter(|_| self.next_sample <= now) {
            self.next_sample += interval;
        }
        while self.next_look <= now {
            self.next_look += LOOK_INTERVAL;
        }
        Ok(())
    }

    fn wake(&mut self, now: Instant, index: usize) -> io::Result<()> {
        let running = &mut self.running[index];
        match running.application.wake(now) {
            Command::Open(budget) => {
                running.budget = budget;
                return self.open(now, index);
            }
            Command::Write(bytes) => running.budget = running.budget.map(|budget| budget + bytes),
            Command::WriteEndlessly => running.budget = None,
            Command::Pause => running.budget = Some(0),
            Command::Close => {
                running.budget = Some(0);
                running.closing = true;
            }
        }
        self.write(index)
    }

    /// Writes what the application has and the connection takes.
    fn write(&mut self, index: usize) -> io::Result<()> {
        let running = &mut self.running[index];
        let Some(number) = running.connection else {
            return Ok(());
        };
        let connection = &mut self.connections[number];
        let Some(socket) = &connection.sender else {
            return Ok(());
        };
        let mut full = false;
        while running.budget != Some(0) && !full {
            let wanted = running
                .budget
                .map_or(PIECE, |left| left.min(PIECE as u64) as usize);
            let taken = connection::give(socket, &self.piece[..wanted])?;
            running.budget = running.budget.map(|left| left - taken);
            full = taken < wanted as u64;
        }
        if running.closing && running.budget == Some(0) {
            shutdown(socket.as_raw_fd(), Shutdown::Write)?;
            running.closing = false;
        }
        if connection.asks_for_room != full {
            connection.asks_for_room = full;
            let flags = if full {
                EpollFlags::EPOLLOUT
            } else {
                EpollFlags::empty()
            };
            let mut event = EpollEvent::new(flags, Source::Sender(number).pack());
            self.epoll.modify(socket, &mut event)?;
        }
        Ok(())
    }

    /// Ends transfers whose last byte has arrived.
    fn receive(&mut self) -> io::Result<()> {
        for received in self.receivers.fetch()? {
            let connection = received.connection;
            received
                .outcome
                .map_err(|error| io::Error::other(format!("connection {connection}: {error}")))?;
            let now = self.now()?;
            self.look_at_senders(false)?;
            self.device.tell(&Message::Complete {
                connection: connection as u32,
            })?;
            let ended = &mut self.connections[connection];
            // The sender closes; the receiver does when it sees the end of the stream.
            ended.sender = None;
            let running = &mut self.running[ended.running];
            self.selection.close(connection as u32, &running.flow.to);
            running.connection = None;
            running.application.completed(now);
        }
        Ok(())
    }

    fn look(&self, number: usize) -> io::Result<Option<Look>> {
        let connection = &self.connections[number];
        let socket = connection.sender.as_ref();
        socket
            .map(|socket| look(socket, number as u32, connection.cca == "bbr"))
            .transpose()
    }

    /// Tells the path how senders are.
    fn look_at_senders(&mut self, sample: bool) -> io::Result<()> {
        let mut states = Vec::new();
        for number in 0..self.connections.len() {
            states.extend(self.look(number)?.map(|look| look.report));
        }
        if states.is_empty() {
            return Ok(());
        }
        self.device.tell(&Message::States { sample, states })
    }

    fn finish(mut self) -> io::Result<()> {
        self.look_at_senders(false)?;
        self.tell_estimates(self.end)?;
        for (index, name) in self.names.iter().enumerate() {
            let of_host =
                |each: &&(usize, &Connection)| self.running[each.1.running].flow.from == *name;
            let all: Vec<(usize, &Connection)> = self.connections.iter().enumerate().collect();
            let senders: Vec<usize> = all.iter().filter(of_host).map(|each| each.0).collect();
            if let [only] = senders[..] {
                self.hosts[index].enter()?;
                let message = counters::counters(only as u32)?;
                self.device.tell(&message)?;
            }
        }
        self.device.tell(&Message::End)
    }
}

/// The kernel's monotonic time.
fn kernel_time() -> io::Result<Duration> {
    let time = clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC)?;
    Ok(Duration::from_nanos(
        time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64,
    ))
}
