//! What applications do, without sockets: an [`Application`] is told the time and the end of its
//! transfers, and answers when to be called and what to do with its connection.

mod selection;
mod switches;

use scenario::{Bulk, OnOff, Sequence, Workload};
use units::random::{Purpose, Stream};
use units::{Bytes, Duration, Instant, Rate};

pub use selection::{Selection, SelectionError, decision_row, takeover_after};
pub use switches::{Due, Switches};

/// An application that writes at a rate does so in pieces of this size.
const PIECE: Bytes = Bytes::new(1448);

/// What to do with the connection of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// Open a new one and send that many bytes on it; `None` for as many as it takes.
    Open(Option<u64>),
    /// Send that many more bytes.
    Write(u64),
    /// Send as many as it takes.
    WriteEndlessly,
    /// Write nothing for now.
    Pause,
    /// No more will be written.
    Close,
}

/// One application.
#[derive(Clone, Debug)]
pub struct Application {
    workload: Workload,
    draws: Stream,
    next_at: Instant,
    opened: u32,
    on: bool,
    period_ends: Instant,
}

impl Application {
    /// An application that starts at `start`; its draws are those of number `entity` under `seed`.
    pub fn new(workload: &Workload, start: Instant, seed: u64, entity: u32) -> Self {
        let first = match workload {
            Workload::Sequence(sequence) => sequence.first,
            Workload::Bulk(_) | Workload::OnOff(_) => Duration::ZERO,
        };
        Self {
            workload: workload.clone(),
            draws: Stream::new(seed, Purpose::Workload, entity),
            next_at: start + first,
            opened: 0,
            on: false,
            period_ends: Instant::NEVER,
        }
    }

    /// When [`Application::wake`] wants to be called; [`Instant::NEVER`] for not at all.
    pub fn next_at(&self) -> Instant {
        self.next_at
    }

    /// The time has come.
    pub fn wake(&mut self, now: Instant) -> Command {
        match self.workload.clone() {
            Workload::Bulk(bulk) => self.bulk(now, &bulk),
            Workload::Sequence(sequence) => self.sequence(&sequence),
            Workload::OnOff(on_off) => self.on_off(now, &on_off),
        }
    }

    /// The other side has received everything that was to be sent on the present connection.
    pub fn completed(&mut self, now: Instant) {
        if let Workload::Sequence(sequence) = &self.workload
            && sequence.count.is_none_or(|count| self.opened < count)
        {
            self.next_at = now + sequence.gap.draw(&mut self.draws);
        }
    }

    fn bulk(&mut self, now: Instant, bulk: &Bulk) -> Command {
        if self.opened > 0 {
            self.next_at = Instant::NEVER;
            return Command::Close;
        }
        self.opened = 1;
        self.next_at = bulk.stop.map_or(Instant::NEVER, |stop| now + stop);
        Command::Open(bulk.bytes.map(Bytes::get))
    }

    fn sequence(&mut self, sequence: &Sequence) -> Command {
        self.opened += 1;
        self.next_at = Instant::NEVER;
        Command::Open(Some(sequence.size.draw(&mut self.draws).get().max(1)))
    }

    fn on_off(&mut self, now: Instant, on_off: &OnOff) -> Command {
        if self.opened == 0 {
            self.opened = 1;
            self.next_at = now;
            self.period_ends = now;
            return Command::Open(Some(0));
        }
        if now >= self.period_ends {
            self.on = !self.on;
            let length = if self.on { &on_off.on } else { &on_off.off };
            self.period_ends = now + length.draw(&mut self.draws).max(Duration::from_nanos(1));
            self.next_at = self.period_ends;
            if !self.on {
                return Command::Pause;
            }
            if on_off.rate.is_none() {
                return Command::WriteEndlessly;
            }
        }
        let spacing = on_off
            .rate
            .map_or(Duration::MAX, |rate: Rate| rate.time_to_send(PIECE));
        self.next_at = (now + spacing).min(self.period_ends);
        Command::Write(PIECE.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Distribution;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_bulk_transfer_opens_once_and_stops() {
        let bulk = Bulk {
            stop: Some(Duration::from_secs(2)),
            bytes: None,
        };
        let mut app = Application::new(&Workload::Bulk(bulk), at(100), 1, 0);
        assert_eq!(app.next_at(), at(100));
        assert_eq!(app.wake(at(100)), Command::Open(None));
        assert_eq!(app.next_at(), at(2_100));
        assert_eq!(app.wake(at(2_100)), Command::Close);
        assert_eq!(app.next_at(), Instant::NEVER);
    }

    #[test]
    fn short_flows_follow_each_other_after_the_gap() {
        let sequence = Sequence {
            size: Distribution::Constant {
                value: Bytes::new(1_000_000),
            },
            count: Some(2),
            gap: Distribution::Constant {
                value: Duration::from_millis(100),
            },
            first: Duration::from_millis(500),
        };
        let mut app = Application::new(&Workload::Sequence(sequence), at(0), 1, 0);
        assert_eq!(app.next_at(), at(500));
        assert_eq!(app.wake(at(500)), Command::Open(Some(1_000_000)));
        assert_eq!(app.next_at(), Instant::NEVER);
        app.completed(at(900));
        assert_eq!(app.next_at(), at(1_000));
        assert_eq!(app.wake(at(1_000)), Command::Open(Some(1_000_000)));
        app.completed(at(1_500));
        assert_eq!(app.next_at(), Instant::NEVER);
    }

    #[test]
    fn an_on_off_source_writes_at_its_rate_while_on() {
        let period = Distribution::Constant {
            value: Duration::from_secs(1),
        };
        let on_off = OnOff {
            on: period,
            off: period,
            rate: Some(Rate::from_mbps(5.0)),
        };
        let mut app = Application::new(&Workload::OnOff(on_off), at(0), 1, 0);
        assert_eq!(app.wake(at(0)), Command::Open(Some(0)));
        let mut written = 0;
        while app.next_at() < at(10_000) {
            let now = app.next_at();
            if let Command::Write(bytes) = app.wake(now) {
                assert_eq!(now.as_nanos() / 1_000_000_000 % 2, 0, "writes at {now:?}");
                written += bytes;
            }
        }
        // Five of ten seconds at 5 Mbit/s.
        assert!(
            (written as f64 / (5.0 * 5e6 / 8.0) - 1.0).abs() < 0.01,
            "{written}"
        );
    }
}
