//! Chunked client: requests a chunk of a video at regular times, on one connection.

use config::{FieldError, check_positive, table};
use units::random::RngStream;
use units::{Bytes, Duration, Instant, Measure};

use crate::application::{Application, Command, End};
use crate::jitter::{DEFAULT_JITTER, Jitter, check_jitter};
use crate::workload::{Settings, at_least_one};

table! {
    /// Client that asks for a piece every so often (Kim 2016, section 4.3.2). A piece that takes longer is followed by
    /// the next at once.
    pub struct Chunked {
        /// Payload of each request; default 500B.
        pub request: Bytes = Bytes::new(500),
        /// Size of a piece; default 2.5MB, which is 2 Mbit/s.
        pub piece: Bytes = Bytes::new(2_500_000),
        /// Time from request to request; default 10s.
        pub period: Duration = Duration::from_secs(10),
        /// Share by which the period is shorter or longer at random, from 0 to 1; default 0.1, with which periodic
        /// flows do not stay in phase; 0: none.
        pub jitter: f64 = DEFAULT_JITTER,
        /// Number of pieces; unset: as many as fit into the run.
        pub count: Option<u32>,
    }
}

impl Settings for Chunked {
    fn check(&self) -> Result<(), FieldError> {
        check_positive("request", self.request)?;
        check_positive("piece", self.piece)?;
        check_positive("period", self.period)?;
        check_jitter(self.jitter)?;
        at_least_one("count", self.count, "1 piece or more")
    }

    fn is_random(&self) -> bool {
        self.count != Some(1) && self.jitter > 0.0
    }

    fn mean_period_ns(&self, rtt_ns: f64) -> f64 {
        self.period.to_base().max(rtt_ns)
    }

    fn application(&self, draws: RngStream) -> Box<dyn Application> {
        Box::new(Client {
            jitter: Jitter::new(self.jitter, &draws),
            config: self.clone(),
            requests: 0,
            requested_at: Instant::ZERO,
        })
    }
}

/// Chunked client of a flow.
struct Client {
    config: Chunked,
    jitter: Jitter,
    requests: u32,
    requested_at: Instant,
}

impl Application for Client {
    fn on_wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.requests == 0 {
            out.push(Command::Open);
        }
        self.requests += 1;
        self.requested_at = now;
        out.push(Command::Send(End::Client, self.config.request.get()));
    }

    fn on_received(&mut self, now: Instant, end: End, _: u64, out: &mut Vec<Command>) {
        out.push(match end {
            End::Server => Command::Send(End::Server, self.config.piece.get()),
            End::Client
                if self
                    .config
                    .count
                    .is_some_and(|count| self.requests >= count) =>
            {
                Command::Close(End::Client)
            }
            End::Client => {
                let period = self.jitter.draw_around(self.config.period);
                Command::WakeAt(now.max(self.requested_at + period))
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Purpose;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn a_piece_is_asked_for_every_period_or_as_soon_as_the_last_one_is_there() {
        let config = Chunked {
            jitter: 0.0,
            ..Chunked::default()
        };
        let mut client = config.application(RngStream::new(1, Purpose::Workload, 0));
        let mut out = Vec::new();
        client.on_wake(at(0), &mut out);
        client.on_received(at(1), End::Server, 500, &mut out);
        client.on_received(at(4), End::Client, 2_500_000, &mut out);
        assert_eq!(out.last(), Some(&Command::WakeAt(at(10))));
        client.on_wake(at(10), &mut out);
        client.on_received(at(23), End::Client, 2_500_000, &mut out);
        assert_eq!(out.last(), Some(&Command::WakeAt(at(23))));
    }
}
