//! Fluid network: a link whose rate changes in steps, shared equally by the requests that run.

use units::{Duration, Instant};
use video::{Client, ClientCommand, Log};

/// Link between the server and a client.
#[derive(Clone, Debug)]
pub struct Link {
    /// Durations and rates in bit/s, repeated.
    pub steps: Vec<(Duration, u64)>,
    /// Time from a request to its first bytes, and from an attempt to open a connection to its success.
    pub rtt: Duration,
    /// Time between two reports of the progress of a request.
    pub tick: Duration,
    /// Times at which the first connection breaks.
    pub breaks: Vec<Instant>,
}

impl Link {
    /// Returns a link of a constant rate in bit/s.
    pub fn constant(rate: u64) -> Self {
        Self {
            steps: vec![(Duration::from_secs(3_600), rate)],
            rtt: Duration::ZERO,
            tick: Duration::from_millis(50),
            breaks: Vec::new(),
        }
    }

    /// Returns the rate at a time, and the time of the next step.
    fn at(&self, now: Instant) -> (u64, Instant) {
        let total: u64 = self.steps.iter().map(|(time, _)| time.as_nanos()).sum();
        let mut rest = now.as_nanos() % total;
        for (time, rate) in &self.steps {
            if rest < time.as_nanos() {
                return (*rate, now + Duration::from_nanos(time.as_nanos() - rest));
            }
            rest -= time.as_nanos();
        }
        unreachable!("the rest is less than the total")
    }
}

/// Nanoseconds in a second, times the bits of a byte: the unit of what a connection has carried of a byte.
const BYTE: u128 = 8_000_000_000;

/// State of a connection.
#[derive(Clone, Copy, Debug)]
enum State {
    Opening(Instant),
    Idle,
    Asked(Instant, u64),
    /// Bytes that are left, and the part of a byte that has been carried.
    Flowing(u64, u128),
}

/// Session that is being played.
struct Session<'a, F> {
    client: &'a mut Client,
    link: &'a Link,
    states: Vec<State>,
    now: Instant,
    wake: Instant,
    is_done: bool,
    look: F,
}

impl<F: FnMut(&Client, Instant, &[ClientCommand])> Session<'_, F> {
    /// Calls the client, and carries out its orders.
    fn call(&mut self, call: impl FnOnce(&mut Client, Instant, &mut Vec<ClientCommand>)) {
        let mut out = Vec::new();
        call(self.client, self.now, &mut out);
        (self.look)(self.client, self.now, &out);
        for order in out {
            match order {
                ClientCommand::Request {
                    connection, bytes, ..
                } => {
                    self.states[connection] = State::Asked(self.now + self.link.rtt, bytes.get());
                }
                ClientCommand::Abandon { connection } => {
                    self.states[connection] = State::Opening(self.now + self.link.rtt);
                }
                ClientCommand::WakeAt(at) => self.wake = at,
                ClientCommand::Done(_) => self.is_done = true,
            }
        }
    }

    /// Returns the rate in bit/s of each request that runs.
    fn share(&self) -> u128 {
        let flowing = self
            .states
            .iter()
            .filter(|state| matches!(state, State::Flowing(..)));
        u128::from(self.link.at(self.now).0) / flowing.count().max(1) as u128
    }

    /// Returns the time of the next event of a connection.
    fn due(&self, state: State, share: u128) -> Instant {
        match state {
            State::Opening(at) | State::Asked(at, _) => at,
            State::Flowing(left, carried) if share > 0 => {
                let needs = (u128::from(left) * BYTE - carried).div_ceil(share);
                self.now + Duration::from_nanos(needs as u64)
            }
            State::Idle | State::Flowing(..) => Instant::NEVER,
        }
    }

    /// Carries out what is due on a connection.
    fn run(&mut self, connection: usize, is_tick: bool) {
        match self.states[connection] {
            State::Opening(at) if at <= self.now => {
                self.states[connection] = State::Idle;
                self.call(|client, now, out| client.opened(now, connection, out));
            }
            State::Asked(at, bytes) if at <= self.now => {
                self.states[connection] = State::Flowing(bytes, 0)
            }
            State::Flowing(left, carried) => {
                let bytes = ((carried / BYTE) as u64).min(left);
                if bytes == 0 || !(is_tick || bytes == left) {
                    return;
                }
                self.states[connection] = match left - bytes {
                    0 => State::Idle,
                    left => State::Flowing(left, carried - u128::from(bytes) * BYTE),
                };
                self.call(|client, now, out| client.arrived(now, connection, bytes, out));
            }
            _ => {}
        }
    }
}

/// Plays a session until its end, or until a time; calls `look` after each event with the orders that it gave.
pub fn watch(
    client: &mut Client,
    connections: usize,
    link: &Link,
    until: Instant,
    look: impl FnMut(&Client, Instant, &[ClientCommand]),
) -> Log {
    let mut session = Session {
        client,
        link,
        states: vec![State::Opening(Instant::ZERO + link.rtt); connections],
        now: Instant::ZERO,
        wake: Instant::NEVER,
        is_done: false,
        look,
    };
    let mut breaks = link.breaks.iter().copied().peekable();
    let mut tick = Instant::ZERO + link.tick;
    session.call(Client::start);
    while !session.is_done {
        let share = session.share();
        let mut next = session
            .wake
            .min(tick)
            .min(link.at(session.now).1)
            .min(until);
        next = next.min(breaks.peek().copied().unwrap_or(Instant::NEVER));
        for state in &session.states {
            next = next.min(session.due(*state, share));
        }
        let next = next.max(session.now);
        let passed = u128::from((next - session.now).as_nanos());
        session.now = next;
        for state in &mut session.states {
            if let State::Flowing(_, carried) = state {
                *carried += share * passed;
            }
        }
        if next >= until {
            session.call(Client::stop);
            break;
        }
        let is_tick = tick <= next;
        if is_tick {
            tick = next + link.tick;
        }
        if breaks.next_if(|at| *at <= next).is_some() {
            session.states[0] = State::Opening(next + link.rtt);
            session.call(|client, now, out| client.closed(now, 0, out));
        }
        for connection in 0..connections {
            session.run(connection, is_tick);
        }
        if session.wake <= next && !session.is_done {
            session.wake = Instant::NEVER;
            session.call(Client::wake);
        }
    }
    session.client.log()
}
