//! Abandoning client: takes a video as fast as it comes, over many connections that it gives up one after another.

use config::{Distribution, FieldContext, FieldError, positive, table};
use units::random::RngStream;
use units::{Bytes, Duration, Instant, Measure};

use crate::application::{Application, Command, End};
use crate::jitter::{JITTER, Jitter, check_jitter};
use crate::workload::Settings;

table! {
    /// Client that asks for the rest of a video, gives the connection up after some of the answer, and asks again on a
    /// new one (Kim 2016, section 4.2). What is on its way then is thrown away.
    pub struct Abandoning {
        /// Payload of each request; default 500B.
        pub request: Bytes = Bytes::new(500),
        /// Size of the video; default 20MB.
        pub video: Bytes = Bytes::new(20_000_000),
        /// What the client takes of each answer; default exponential with a mean of 268kB.
        pub keep: Distribution<Bytes> = Distribution::Exponential {
            mean: Bytes::new(268_000),
        },
        /// Time from giving a connection up to the next request; default 0s.
        pub pause: Duration,
        /// Share by which the pause is shorter or longer at random, from 0 to 1; default 0.1, with which periodic flows
        /// do not stay in phase; 0: none.
        pub jitter: f64 = JITTER,
    }
}

impl Settings for Abandoning {
    fn check(&self) -> Result<(), FieldError> {
        positive("request", self.request)?;
        positive("video", self.video)?;
        self.keep.check(false).in_table("keep")?;
        check_jitter(self.jitter)
    }

    fn is_random(&self) -> bool {
        self.keep.is_random() || self.jitter > 0.0 && !self.pause.is_zero()
    }

    fn round(&self, rtt: f64) -> f64 {
        rtt + self.pause.to_base()
    }

    fn application(&self, draws: RngStream) -> Box<dyn Application> {
        Box::new(Client {
            left: self.video.get(),
            keep: 0,
            jitter: Jitter::new(self.jitter, &draws),
            config: self.clone(),
            draws,
        })
    }
}

/// Abandoning client of a flow.
struct Client {
    config: Abandoning,
    draws: RngStream,
    jitter: Jitter,
    /// Bytes of the video that the client does not have.
    left: u64,
    /// Bytes of the present answer after which it gives the connection up.
    keep: u64,
}

impl Client {
    fn ask(&mut self, out: &mut Vec<Command>) {
        self.keep = self.config.keep.draw(&mut self.draws).get().max(1);
        out.extend([
            Command::Open,
            Command::Send(End::Client, self.config.request.get()),
        ]);
    }
}

impl Application for Client {
    fn wake(&mut self, _: Instant, out: &mut Vec<Command>) {
        self.ask(out);
    }

    fn wants_progress(&self) -> bool {
        true
    }

    fn on_progress(&mut self, now: Instant, end: End, bytes: u64, out: &mut Vec<Command>) {
        if end == End::Server {
            return;
        }
        self.left = self.left.saturating_sub(bytes);
        self.keep = self.keep.saturating_sub(bytes);
        if self.left > 0 && self.keep == 0 {
            out.push(Command::Abandon(End::Client));
            if self.config.pause.is_zero() {
                self.ask(out);
            } else {
                let pause = self.jitter.around(self.config.pause);
                out.push(Command::WakeAt(now + pause));
            }
        }
    }

    fn received(&mut self, _: Instant, end: End, _: u64, out: &mut Vec<Command>) {
        out.push(match end {
            End::Server => Command::Send(End::Server, self.left),
            End::Client => Command::Close(End::Client),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Purpose;

    #[test]
    fn the_client_asks_for_the_rest_on_a_new_connection() {
        let config = Abandoning {
            video: Bytes::new(1_000),
            keep: Distribution::Constant {
                value: Bytes::new(600),
            },
            ..Abandoning::default()
        };
        let mut client = config.application(RngStream::new(1, Purpose::Workload, 0));
        let (now, mut out) = (Instant::ZERO, Vec::new());
        client.wake(now, &mut out);
        client.received(now, End::Server, 500, &mut out);
        client.on_progress(now, End::Client, 400, &mut out);
        client.on_progress(now, End::Client, 300, &mut out);
        client.received(now, End::Server, 500, &mut out);
        client.on_progress(now, End::Client, 300, &mut out);
        client.received(now, End::Client, 300, &mut out);
        let ask = [Command::Open, Command::Send(End::Client, 500)];
        let expected = [
            ask[0],
            ask[1],
            Command::Send(End::Server, 1_000),
            Command::Abandon(End::Client),
            ask[0],
            ask[1],
            Command::Send(End::Server, 300),
            Command::Close(End::Client),
        ];
        assert_eq!(out, expected);
    }
}
