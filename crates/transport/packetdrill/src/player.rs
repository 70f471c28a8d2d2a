//! Player: the events of a script in virtual time.

mod arrivals;
mod blocked_calls;
mod calls;
mod command_line;
mod expect;
mod options;
mod readiness;
mod socket;
mod transfer;

use std::collections::{BTreeMap, VecDeque};

use tcp::Segment;
use units::{Duration, Instant};

use crate::compare::packet_text;
use crate::parser::MAX_SECONDS;
use crate::script::{Event, EventKind, Script, Time};
use crate::settings::Settings;
use crate::{Assertion, Difference, Report, Verdict, info, shell, supported};
use blocked_calls::BlockedCall;
use socket::{Role, Socket};

/// Virtual time at which scripts start: timestamps begin well above zero.
const START: Duration = Duration::from_secs(100);
/// Longest wait for a packet whose time is not limited.
const MAX_WAIT: Duration = Duration::from_secs(3_600);

/// Reason for which a script ends early.
enum PlayError {
    Failed(Difference),
    NotApplicable(u32, String),
}

/// Packet that TCP has sent: all segments of one burst, as a device with segmentation offload sees them.
struct SentPacket {
    at: Instant,
    /// Socket that sent it, or for which the host did.
    from: usize,
    packet: Segment,
}

impl SentPacket {
    /// Appends the next segment of a burst. The packet gets its flags.
    fn append(&mut self, next: &Segment) {
        self.packet.len += next.len;
        self.packet.flags = next.flags;
    }
}

/// Host under test and the position in the script.
struct Player {
    now: Instant,
    settings: Settings,
    tolerance: Duration,
    /// Tolerance of a packet's time relative to the time since the previous event, per mille.
    per_mille: i64,
    /// Ticks of the timestamp clock that the script counts in; zero if it does not check timestamps.
    tick: Duration,
    sockets: Vec<Socket>,
    descriptors: BTreeMap<i64, usize>,
    /// Socket whose packets the script shows.
    under_test: Option<usize>,
    departures: VecDeque<SentPacket>,
    waiting: Option<BlockedCall>,
    /// Script time that relative times count from, microseconds: that of the previous event.
    previous: i64,
    /// Whether bursts are merged up to the length of the packet in the script.
    joins_bursts: bool,
    assertions: Vec<Assertion>,
}

/// Plays a script.
pub fn play(script: &Script) -> Report {
    let mut player = Player::new();
    let verdict = match player.run(script) {
        Ok(()) => Verdict::Passed,
        Err(PlayError::Failed(difference)) => Verdict::Failed(difference),
        Err(PlayError::NotApplicable(line, reason)) => Verdict::NotApplicable { line, reason },
    };
    Report {
        verdict,
        assertions: player.assertions,
    }
}

impl Player {
    fn new() -> Self {
        Self {
            now: Instant::ZERO + START,
            settings: Settings::default(),
            tolerance: Duration::from_millis(4),
            per_mille: 10,
            tick: Duration::ZERO,
            sockets: Vec::new(),
            descriptors: BTreeMap::new(),
            under_test: None,
            departures: VecDeque::new(),
            waiting: None,
            previous: 0,
            joins_bursts: true,
            assertions: Vec::new(),
        }
    }

    fn run(&mut self, script: &Script) -> Result<(), PlayError> {
        self.take_options(script)?;
        if let Some((line, reason)) = supported::missing(script) {
            return Err(PlayError::NotApplicable(line, reason));
        }
        for event in &script.events {
            self.play_event(event)?;
        }
        self.finish_waiting()
    }

    fn set(&mut self, key: &str, value: &str, line: u32) -> Result<(), PlayError> {
        self.settings
            .set(key, value)
            .map_err(|reason| PlayError::NotApplicable(line, reason))
    }

    fn play_event(&mut self, event: &Event) -> Result<(), PlayError> {
        let (start, end) = self.span(event.time);
        if end as f64 > MAX_SECONDS * 1e6 {
            let reason = format!("times after {MAX_SECONDS} s");
            return Err(PlayError::NotApplicable(event.line, reason));
        }
        if let EventKind::Out(packet) = &event.kind {
            return self.expect(event, packet);
        }
        let at = match event.time {
            Time::Any => self.now,
            _ => instant(start),
        };
        self.advance(at)?;
        let now = self.script_time();
        let previous = core::mem::replace(&mut self.previous, now);
        match &event.kind {
            EventKind::In(packet) => self.arrive(packet),
            EventKind::Icmp(icmp) => self.icmp(event.line, icmp)?,
            EventKind::Call(call) => self.call(event.line, call, previous)?,
            EventKind::Command(command) => {
                let done = shell::run(command, &mut self.settings);
                done.map_err(|reason| PlayError::NotApplicable(event.line, reason))?;
            }
            EventKind::Code(code) => self.assert(event.line, code)?,
            EventKind::Out(_) | EventKind::Unsupported(_) => {}
        }
        self.retry_waiting()
    }

    /// Returns the first and the last script time of an event, microseconds.
    fn span(&self, time: Time) -> (i64, i64) {
        match time {
            Time::Any => (self.script_time(), self.script_time()),
            Time::Absolute(at) => (at, at),
            Time::Relative(after) => (self.previous + after, self.previous + after),
            Time::AbsoluteRange(from, to) => (from, to),
            Time::RelativeRange(from, to) => (self.previous + from, self.previous + to),
        }
    }

    /// Returns the current time as the script counts it, microseconds.
    fn script_time(&self) -> i64 {
        script_time(self.now)
    }

    /// Advances the virtual time to `to`, and runs the timers that are due before.
    fn advance(&mut self, to: Instant) -> Result<(), PlayError> {
        while let Some(at) = self.next_deadline()
            && at < to
        {
            self.run_timers(at)?;
        }
        self.now = self.now.max(to);
        Ok(())
    }

    fn next_deadline(&self) -> Option<Instant> {
        let deadlines = self.sockets.iter().filter_map(Socket::deadline);
        deadlines.min().filter(|at| *at < Instant::NEVER)
    }

    fn run_timers(&mut self, at: Instant) -> Result<(), PlayError> {
        self.now = self.now.max(at);
        for index in 0..self.sockets.len() {
            if self.sockets[index]
                .deadline()
                .is_some_and(|due| due <= self.now)
                && let Role::Connection(peer) = &mut self.sockets[index].role
            {
                peer.tcp.on_deadline(self.now);
                self.collect(index);
            }
        }
        self.retry_waiting()
    }

    /// Collects the packets that a connection has sent; with segmentation offload, a burst is one packet.
    fn collect(&mut self, index: usize) {
        let Role::Connection(peer) = &mut self.sockets[index].role else {
            return;
        };
        let mut burst = false;
        while let Some(mut packet) = peer.tcp.poll_transmit() {
            packet.seq = packet.seq.wrapping_add(peer.offset);
            let joins = burst && self.settings.offload;
            burst = core::mem::take(&mut packet.more_in_burst);
            if joins && let Some(last) = self.departures.back_mut() {
                last.append(&packet);
            } else {
                self.departures.push_back(SentPacket {
                    at: self.now,
                    from: index,
                    packet,
                });
            }
        }
    }

    /// Records an assertion with the values of the socket under test.
    fn assert(&mut self, line: u32, code: &str) -> Result<(), PlayError> {
        let connection = self
            .under_test
            .and_then(|index| self.sockets[index].connection());
        let Some(peer) = connection else {
            return Err(PlayError::NotApplicable(
                line,
                "assertions on a socket that is no connection".to_owned(),
            ));
        };
        let fields = info::fields(self.now, &peer.tcp);
        self.assertions.push(Assertion {
            line,
            code: code.to_owned(),
            fields,
        });
        Ok(())
    }

    fn failed<T>(
        line: u32,
        expected: impl Into<String>,
        actual: impl Into<String>,
        reason: &str,
    ) -> Result<T, PlayError> {
        Err(PlayError::Failed(Difference {
            line,
            expected: expected.into(),
            actual: actual.into(),
            reason: reason.to_owned(),
        }))
    }

    /// Returns an event as the script writes it, for reports.
    fn expected_text(&self, event: &Event, packet: &crate::script::Packet) -> String {
        let (from, to) = self.span(event.time);
        let seconds = |micros: i64| format!("{:.6}", micros as f64 * 1e-6);
        let time = match (event.time, from == to) {
            (Time::Any, _) => "*".to_owned(),
            (_, true) => seconds(from),
            (_, false) => format!("{}~{}", seconds(from), seconds(to)),
        };
        format!("{time} > {}", packet_text(packet))
    }
}

/// Returns the instant of a script time.
fn instant(micros: i64) -> Instant {
    Instant::ZERO + START + Duration::from_micros(micros.max(0).unsigned_abs())
}

/// Returns the script time of an instant, microseconds.
fn script_time(at: Instant) -> i64 {
    at.since_start().saturating_sub(START).as_micros() as i64
}
