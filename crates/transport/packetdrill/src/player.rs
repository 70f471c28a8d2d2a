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
/// Longest wait for a packet without a time.
const MAX_WAIT: Duration = Duration::from_secs(3_600);

/// Reason for which a script ends early.
enum PlayError {
    Failed(Difference),
    NotApplicable(u32, String),
}

/// Packet that TCP has sent: with segmentation offload, all segments of a burst.
struct SentPacket {
    sent_at: Instant,
    /// Index of the socket that sent it, or for which the host sent a reset.
    socket: usize,
    packet: Segment,
}

impl SentPacket {
    /// Appends the next segment of a burst. The packet gets its flags.
    fn append(&mut self, next: &Segment) {
        self.packet.len += next.len;
        self.packet.flags = next.flags;
    }
}

/// Host under test, and the state of the script.
struct Player {
    now: Instant,
    settings: Settings,
    tolerance: Duration,
    /// Tolerance of a packet's time, per mille of the time since the previous event.
    tolerance_per_mille: i64,
    /// Tick of the script's timestamps; zero if it does not check them.
    timestamp_tick: Duration,
    sockets: Vec<Socket>,
    /// Index of the socket of each descriptor.
    descriptors: BTreeMap<i64, usize>,
    /// Index of the socket whose packets the script shows.
    under_test: Option<usize>,
    sent_packets: VecDeque<SentPacket>,
    blocked_call: Option<BlockedCall>,
    /// Script time of the previous event, which relative times count from, microseconds.
    previous_us: i64,
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
            tolerance_per_mille: 10,
            timestamp_tick: Duration::ZERO,
            sockets: Vec::new(),
            descriptors: BTreeMap::new(),
            under_test: None,
            sent_packets: VecDeque::new(),
            blocked_call: None,
            previous_us: 0,
            joins_bursts: true,
            assertions: Vec::new(),
        }
    }

    fn run(&mut self, script: &Script) -> Result<(), PlayError> {
        self.apply_options(script)?;
        if let Some((line, reason)) = supported::missing(script) {
            return Err(PlayError::NotApplicable(line, reason));
        }
        for event in &script.events {
            self.play_event(event)?;
        }
        self.finish_blocked_call()
    }

    fn set(&mut self, key: &str, value: &str, line: u32) -> Result<(), PlayError> {
        self.settings
            .set(key, value)
            .map_err(|reason| PlayError::NotApplicable(line, reason))
    }

    fn play_event(&mut self, event: &Event) -> Result<(), PlayError> {
        let (start, end) = self.time_range(event.time);
        if end as f64 > MAX_SECONDS * 1e6 {
            let reason = format!("times after {MAX_SECONDS} s");
            return Err(PlayError::NotApplicable(event.line, reason));
        }
        if let EventKind::Out(packet) = &event.kind {
            return self.expect_packet(event, packet);
        }
        let at = match event.time {
            Time::Any => self.now,
            _ => instant(start),
        };
        self.advance(at)?;
        let now = self.script_time();
        let previous = core::mem::replace(&mut self.previous_us, now);
        match &event.kind {
            EventKind::In(packet) => self.receive_packet(packet),
            EventKind::Icmp(icmp) => self.icmp(event.line, icmp)?,
            EventKind::Call(call) => self.call(event.line, call, previous)?,
            EventKind::Command(command) => {
                let done = shell::run(command, &mut self.settings);
                done.map_err(|reason| PlayError::NotApplicable(event.line, reason))?;
            }
            EventKind::Code(code) => self.assert(event.line, code)?,
            EventKind::Out(_) | EventKind::Unsupported(_) => {}
        }
        self.retry_blocked_call()
    }

    /// Returns the earliest and the latest script time of an event, microseconds.
    fn time_range(&self, time: Time) -> (i64, i64) {
        match time {
            Time::Any => (self.script_time(), self.script_time()),
            Time::Absolute(at) => (at, at),
            Time::Relative(after) => (self.previous_us + after, self.previous_us + after),
            Time::AbsoluteRange(from, to) => (from, to),
            Time::RelativeRange(from, to) => (self.previous_us + from, self.previous_us + to),
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
                && let Role::Connection(connection) = &mut self.sockets[index].role
            {
                connection.tcp.on_deadline(self.now);
                self.collect(index);
            }
        }
        self.retry_blocked_call()
    }

    /// Collects the packets that a connection has sent.
    fn collect(&mut self, index: usize) {
        let Role::Connection(connection) = &mut self.sockets[index].role else {
            return;
        };
        let mut is_in_burst = false;
        while let Some(mut packet) = connection.tcp.poll_transmit() {
            packet.seq = packet.seq.wrapping_add(connection.seq_offset);
            let joins_last = is_in_burst && self.settings.offload;
            is_in_burst = core::mem::take(&mut packet.more_in_burst);
            if joins_last && let Some(last) = self.sent_packets.back_mut() {
                last.append(&packet);
            } else {
                self.sent_packets.push_back(SentPacket {
                    sent_at: self.now,
                    socket: index,
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
        let Some(connection) = connection else {
            return Err(PlayError::NotApplicable(
                line,
                "assertions on a socket that is no connection".to_owned(),
            ));
        };
        let fields = info::fields(self.now, &connection.tcp);
        self.assertions.push(Assertion {
            line,
            code: code.to_owned(),
            fields,
        });
        Ok(())
    }

    fn fail<T>(
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

    /// Returns an expected packet and its time as the script writes them, for reports.
    fn expected_text(&self, event: &Event, packet: &crate::script::Packet) -> String {
        let (from, to) = self.time_range(event.time);
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
