//! On-off source: the server sends and pauses in turn, on one connection.

use config::{Distribution, FieldContext, FieldError, check_positive, table};
use units::random::RngStream;
use units::{Bytes, Duration, Instant, Rate};

use crate::application::{Application, Command, End, UNLIMITED};
use crate::jitter::{DEFAULT_JITTER, Jitter, check_jitter, is_random_pause};
use crate::workload::{SECOND, Settings};

/// Size of the pieces in which a source writes at a rate.
const PIECE: Bytes = Bytes::new(1448);

table! {
    /// Sends and pauses in turn.
    pub struct OnOff {
        /// Length of the periods of sending; default exponential with a mean of 1s.
        pub on: Distribution<Duration> = SECOND,
        /// Length of the pauses; default exponential with a mean of 1s.
        pub off: Distribution<Duration> = SECOND,
        /// Share by which a constant pause is shorter or longer at random, from 0 to 1; default 0.1, with which
        /// periodic flows do not stay in phase; 0: none.
        pub jitter: f64 = DEFAULT_JITTER,
        /// Rate at which the application writes while on; unset: as much as it can.
        pub rate: Option<Rate>,
    }
}

impl Settings for OnOff {
    fn check(&self) -> Result<(), FieldError> {
        self.on.check(false).in_table("on")?;
        self.off.check(true).in_table("off")?;
        check_jitter(self.jitter)?;
        self.rate
            .map_or(Ok(()), |rate| check_positive("rate", rate))
    }

    fn is_random(&self) -> bool {
        self.on.is_random() || is_random_pause(&self.off, self.jitter)
    }

    fn mean_period_ns(&self, _: f64) -> f64 {
        self.on.mean() + self.off.mean()
    }

    fn application(&self, draws: RngStream) -> Box<dyn Application> {
        Box::new(Source::new(self.clone(), draws))
    }
}

/// On-off source of a flow.
pub(crate) struct Source {
    on_off: OnOff,
    draws: RngStream,
    jitter: Jitter,
    /// End of the current period; `None` before the first one.
    period_ends: Option<Instant>,
    is_on: bool,
}

impl Source {
    pub(crate) fn new(on_off: OnOff, draws: RngStream) -> Self {
        Self {
            jitter: Jitter::new(on_off.jitter, &draws),
            on_off,
            draws,
            period_ends: None,
            is_on: false,
        }
    }
}

impl Application for Source {
    fn on_wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.period_ends.is_none() {
            out.push(Command::Open);
        }
        let mut ends = self.period_ends.unwrap_or(now);
        if now >= ends {
            self.is_on = !self.is_on;
            let length = if self.is_on {
                self.on_off.on.draw(&mut self.draws)
            } else {
                self.jitter.draw_pause(&self.on_off.off, &mut self.draws)
            };
            ends = now + length.max(Duration::from_nanos(1));
            self.period_ends = Some(ends);
        }
        match self.on_off.rate {
            _ if !self.is_on => {
                out.extend([Command::CancelUnsent(End::Server), Command::WakeAt(ends)])
            }
            None => out.extend([
                Command::Stream(End::Server, UNLIMITED),
                Command::WakeAt(ends),
            ]),
            Some(rate) => out.extend([
                Command::Stream(End::Server, PIECE.get()),
                Command::WakeAt((now + rate.time_to_send(PIECE)).min(ends)),
            ]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Purpose;

    #[test]
    fn an_on_off_source_writes_at_its_rate_while_on() {
        let period = Distribution::Constant {
            value: Duration::from_secs(1),
        };
        let on_off = OnOff {
            on: period,
            off: period,
            jitter: 0.0,
            rate: Some(Rate::from_mbps(5.0)),
        };
        let mut source = Source::new(on_off, RngStream::new(1, Purpose::Workload, 0));
        let (mut now, mut written, mut opened) = (Instant::ZERO, 0, 0);
        while now < Instant::ZERO + Duration::from_secs(10) {
            let mut out = Vec::new();
            source.on_wake(now, &mut out);
            let mut next = Instant::NEVER;
            for command in out {
                match command {
                    Command::Open => opened += 1,
                    Command::Stream(End::Server, bytes) => {
                        assert_eq!(now.as_nanos() / 1_000_000_000 % 2, 0, "writes at {now:?}");
                        written += bytes;
                    }
                    Command::WakeAt(at) => next = at,
                    Command::CancelUnsent(End::Server) => {}
                    other => panic!("{other:?}"),
                }
            }
            now = next;
        }
        assert_eq!(opened, 1);
        // The source sends in five of ten seconds, at 5 Mbit/s.
        assert!(
            (written as f64 / (5.0 * 5e6 / 8.0) - 1.0).abs() < 0.01,
            "{written}"
        );
    }
}
