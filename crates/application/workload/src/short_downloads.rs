//! Short downloads, one after another, each on a connection of its own.

use config::{Distribution, FieldContext, FieldError, table};
use units::random::RngStream;
use units::{Bytes, Duration, Instant};

use crate::application::{Application, Command, End};
use crate::jitter::{DEFAULT_JITTER, Jitter, check_jitter, is_random_pause};
use crate::workload::{SECOND, Settings, at_least_one};

table! {
    /// Short flows one after another.
    pub struct ShortDownloads {
        /// Payload of each flow; default 100kB.
        pub size: Distribution<Bytes> = Distribution::Constant {
            value: Bytes::new(100_000),
        },
        /// Number of flows; unset: as many as fit into the run.
        pub count: Option<u32>,
        /// Time from the end of one to the start of the next; default exponential with a mean of 1s.
        pub gap: Distribution<Duration> = SECOND,
        /// Share by which a constant gap is shorter or longer at random, from 0 to 1; default 0.1, with which periodic
        /// flows do not stay in phase; 0: none.
        pub jitter: f64 = DEFAULT_JITTER,
        /// Time from the start of the flow to the first; default 0s.
        pub first: Duration,
    }
}

impl Settings for ShortDownloads {
    fn check(&self) -> Result<(), FieldError> {
        self.size.check(false).in_table("size")?;
        self.gap.check(true).in_table("gap")?;
        check_jitter(self.jitter)?;
        at_least_one("count", self.count, "1 flow or more")
    }

    fn is_random(&self) -> bool {
        let gaps = self.count != Some(1) && is_random_pause(&self.gap, self.jitter);
        self.size.is_random() || gaps
    }

    fn mean_period_ns(&self, rtt_ns: f64) -> f64 {
        rtt_ns + self.gap.mean()
    }

    fn application(&self, draws: RngStream) -> Box<dyn Application> {
        Box::new(Downloads::new(self.clone(), draws))
    }
}

/// Client of the downloads of a flow.
pub(crate) struct Downloads {
    sequence: ShortDownloads,
    draws: RngStream,
    jitter: Jitter,
    /// Whether the wake-up at `sequence.first` has been requested.
    has_started: bool,
    /// Number of connections opened so far.
    opened: u32,
}

impl Downloads {
    pub(crate) fn new(sequence: ShortDownloads, draws: RngStream) -> Self {
        Self {
            has_started: sequence.first.is_zero(),
            jitter: Jitter::new(sequence.jitter, &draws),
            sequence,
            draws,
            opened: 0,
        }
    }
}

impl Application for Downloads {
    fn on_wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        if !self.has_started {
            self.has_started = true;
            out.push(Command::WakeAt(now + self.sequence.first));
            return;
        }
        self.opened += 1;
        let bytes = self.sequence.size.draw(&mut self.draws).get().max(1);
        out.extend([Command::Open, Command::Send(End::Server, bytes)]);
    }

    fn on_received(&mut self, _: Instant, _: End, _: u64, out: &mut Vec<Command>) {
        out.push(Command::Close(End::Server));
    }

    fn on_completed(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.sequence.count.is_none_or(|count| self.opened < count) {
            let gap = self.jitter.draw_pause(&self.sequence.gap, &mut self.draws);
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

    #[test]
    fn short_flows_follow_each_other_after_the_gap() {
        let sequence = ShortDownloads {
            size: Distribution::Constant {
                value: Bytes::new(1_000_000),
            },
            count: Some(2),
            gap: Distribution::Constant {
                value: Duration::from_millis(100),
            },
            jitter: 0.0,
            first: Duration::from_millis(500),
        };
        let mut downloads = Downloads::new(sequence, RngStream::new(1, Purpose::Workload, 0));
        let opened = [Command::Open, Command::Send(End::Server, 1_000_000)];
        let mut out = Vec::new();
        let mut commands_after = |event: &dyn Fn(&mut Downloads, &mut Vec<Command>)| {
            event(&mut downloads, &mut out);
            core::mem::take(&mut out)
        };
        assert_eq!(
            commands_after(&|app, out| app.on_wake(at(0), out)),
            [Command::WakeAt(at(500))]
        );
        assert_eq!(
            commands_after(&|app, out| app.on_wake(at(500), out)),
            opened
        );
        assert_eq!(
            commands_after(&|app, out| app.on_received(at(900), End::Client, 1_000_000, out)),
            [Command::Close(End::Server)]
        );
        assert_eq!(
            commands_after(&|app, out| app.on_completed(at(900), out)),
            [Command::WakeAt(at(1_000))]
        );
        assert_eq!(
            commands_after(&|app, out| app.on_wake(at(1_000), out)),
            opened
        );
        assert_eq!(
            commands_after(&|app, out| app.on_completed(at(1_500), out)),
            []
        );
    }
}
