//! Telemetry of machines: a small message down and a larger one up on each connection.

use config::{Distribution, FieldContext, FieldError, check_positive, table};
use units::random::RngStream;
use units::{Bytes, Duration, Instant, Measure};

use crate::application::{Application, Command, End};
use crate::jitter::{DEFAULT_JITTER, Jitter, check_jitter, is_random_pause};
use crate::workload::{SECOND, Settings, at_least_one};

table! {
    /// Sessions of a machine, which is the sending node: on a connection of its own, the receiving node sends a
    /// question and the machine answers with its data (Kim 2016, section 3.4). The events "down_s" and "up_s" have the
    /// time from the start of the session to the last byte of the question, and from the first to the last byte of the data.
    pub struct Telemetry {
        /// Payload of the question, towards the machine; default 50B.
        pub down: Bytes = Bytes::new(50),
        /// Payload of the data, from the machine; default 1000B.
        pub up: Bytes = Bytes::new(1_000),
        /// Time from the last byte of the question at the machine to the first byte of its data; default 2ms.
        pub think: Duration = Duration::from_millis(2),
        /// Time within which the first session of each machine begins, at random; default 0s: all at once.
        pub within: Duration,
        /// Number of sessions of a machine, one after another; unset: as many as fit into the run.
        pub count: Option<u32>,
        /// Time from the end of a session to the start of the next; default exponential with a mean of 1s.
        pub gap: Distribution<Duration> = SECOND,
        /// Share by which a constant gap is shorter or longer at random, from 0 to 1; default 0.1, with which periodic
        /// flows do not stay in phase; 0: none.
        pub jitter: f64 = DEFAULT_JITTER,
    }
}

impl Settings for Telemetry {
    fn check(&self) -> Result<(), FieldError> {
        check_positive("down", self.down)?;
        check_positive("up", self.up)?;
        self.gap.check(true).in_table("gap")?;
        check_jitter(self.jitter)?;
        at_least_one("count", self.count, "1 session or more")
    }

    fn is_random(&self) -> bool {
        let gaps = self.count != Some(1) && is_random_pause(&self.gap, self.jitter);
        !self.within.is_zero() || gaps
    }

    fn mean_period_ns(&self, rtt_ns: f64) -> f64 {
        rtt_ns + self.think.to_base() + self.gap.mean()
    }

    fn application(&self, draws: RngStream) -> Box<dyn Application> {
        Box::new(M2mDevice::new(self.clone(), draws))
    }
}

/// Machine of a flow.
pub(crate) struct M2mDevice {
    telemetry: Telemetry,
    draws: RngStream,
    jitter: Jitter,
    /// Whether the wait for the first session has begun.
    has_started: bool,
    /// Whether the machine has the question, and thinks.
    has_requested: bool,
    sessions: u32,
    /// Start of the session or, once the machine answers, of its answer.
    since: Instant,
}

impl M2mDevice {
    pub(crate) fn new(telemetry: Telemetry, draws: RngStream) -> Self {
        Self {
            jitter: Jitter::new(telemetry.jitter, &draws),
            telemetry,
            draws,
            has_started: false,
            has_requested: false,
            sessions: 0,
            since: Instant::ZERO,
        }
    }

    /// Draws the wait before the first session.
    fn draw_start_delay(&mut self) -> Duration {
        let within = Distribution::Uniform {
            min: Duration::ZERO,
            max: self.telemetry.within,
        };
        within.draw(&mut self.draws)
    }
}

impl Application for M2mDevice {
    fn on_wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        if core::mem::take(&mut self.has_requested) {
            self.since = now;
            out.push(Command::Send(End::Server, self.telemetry.up.get()));
            return;
        }
        if !self.has_started {
            self.has_started = true;
            if !self.telemetry.within.is_zero() {
                let delay = self.draw_start_delay();
                out.push(Command::WakeAt(now + delay));
                return;
            }
        }
        self.sessions += 1;
        self.since = now;
        let bytes = self.telemetry.down.get();
        out.extend([Command::Open, Command::Send(End::Client, bytes)]);
    }

    fn on_received(&mut self, now: Instant, end: End, _: u64, out: &mut Vec<Command>) {
        let elapsed_s = now.saturating_since(self.since).as_nanos() as f64 / 1e9;
        match end {
            End::Server => {
                self.has_requested = true;
                let answer = Command::WakeAt(now + self.telemetry.think);
                out.extend([Command::Record("down_s", elapsed_s), answer]);
            }
            End::Client => out.extend([
                Command::Record("up_s", elapsed_s),
                Command::Close(End::Client),
            ]),
        }
    }

    fn on_completed(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self
            .telemetry
            .count
            .is_none_or(|count| self.sessions < count)
        {
            let gap = self.jitter.draw_pause(&self.telemetry.gap, &mut self.draws);
            out.push(Command::WakeAt(now + gap));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Purpose;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn machine(telemetry: Telemetry) -> M2mDevice {
        M2mDevice::new(telemetry, RngStream::new(1, Purpose::Workload, 0))
    }

    #[test]
    fn a_session_is_a_question_down_and_its_data_up() {
        let mut machine = machine(Telemetry {
            count: Some(1),
            ..Telemetry::default()
        });
        let mut out = Vec::new();
        machine.on_wake(at(0), &mut out);
        machine.on_received(at(40), End::Server, 50, &mut out);
        machine.on_wake(at(42), &mut out);
        machine.on_received(at(102), End::Client, 1_000, &mut out);
        machine.on_completed(at(100), &mut out);
        let expected = [
            Command::Open,
            Command::Send(End::Client, 50),
            Command::Record("down_s", 0.04),
            Command::WakeAt(at(42)),
            Command::Send(End::Server, 1_000),
            Command::Record("up_s", 0.06),
            Command::Close(End::Client),
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn sessions_begin_within_the_time_given() {
        let mut machine = machine(Telemetry {
            within: Duration::from_secs(2),
            ..Telemetry::default()
        });
        let mut out = Vec::new();
        machine.on_wake(at(100), &mut out);
        let &[Command::WakeAt(first)] = out.as_slice() else {
            panic!("{out:?}");
        };
        assert!(first >= at(100) && first <= at(2_100));
        machine.on_wake(first, &mut out);
        assert_eq!(out[1], Command::Open);
    }
}
