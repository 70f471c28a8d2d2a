//! Aborting client: downloads a video over a series of connections, each of which it aborts.

use config::{Distribution, FieldContext, FieldError, check_positive, table};
use units::random::RngStream;
use units::{Bytes, Duration, Instant, Measure};

use crate::application::{Application, Command, End};
use crate::jitter::{DEFAULT_JITTER, Jitter, check_jitter};
use crate::workload::Settings;

table! {
    /// Client that requests the rest of a video, aborts the connection after part of the response, and requests again
    /// on a new one (Kim 2016, section 4.2). Bytes in flight are then discarded.
    pub struct AbortingClient {
        /// Payload of each request; default 500B.
        pub request: Bytes = Bytes::new(500),
        /// Size of the video; default 20MB.
        pub video: Bytes = Bytes::new(20_000_000),
        /// Bytes of each response after which the client aborts; default exponential with a mean of 268kB.
        pub keep: Distribution<Bytes> = Distribution::Exponential {
            mean: Bytes::new(268_000),
        },
        /// Time from aborting a connection to the next request; default 0s.
        pub pause: Duration,
        /// Jitter of the pause: uniform within ± this share of it, from 0 to 1; default 0.1, which keeps periodic flows
        /// from staying in phase; 0: none.
        pub jitter: f64 = DEFAULT_JITTER,
    }
}

impl Settings for AbortingClient {
    fn check(&self) -> Result<(), FieldError> {
        check_positive("request", self.request)?;
        check_positive("video", self.video)?;
        self.keep.check(false).in_table("keep")?;
        check_jitter(self.jitter)
    }

    fn is_random(&self) -> bool {
        self.keep.is_random() || self.jitter > 0.0 && !self.pause.is_zero()
    }

    fn mean_period_ns(&self, rtt_ns: f64) -> f64 {
        rtt_ns + self.pause.to_base()
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

/// Aborting client of a flow.
struct Client {
    config: AbortingClient,
    draws: RngStream,
    jitter: Jitter,
    /// Bytes of the video that the client does not have yet.
    left: u64,
    /// Bytes of the current response to keep before the client aborts, less those that have arrived.
    keep: u64,
}

impl Client {
    fn send_request(&mut self, out: &mut Vec<Command>) {
        self.keep = self.config.keep.draw(&mut self.draws).get().max(1);
        out.extend([
            Command::Open,
            Command::Send(End::Client, self.config.request.get()),
        ]);
    }
}

impl Application for Client {
    fn on_wake(&mut self, _: Instant, out: &mut Vec<Command>) {
        self.send_request(out);
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
            out.push(Command::Abort(End::Client));
            if self.config.pause.is_zero() {
                self.send_request(out);
            } else {
                let pause = self.jitter.draw_around(self.config.pause);
                out.push(Command::WakeAt(now + pause));
            }
        }
    }

    fn on_received(&mut self, _: Instant, end: End, _: u64, out: &mut Vec<Command>) {
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
    fn the_client_requests_the_rest_on_a_new_connection() {
        let config = AbortingClient {
            video: Bytes::new(1_000),
            keep: Distribution::Constant {
                value: Bytes::new(600),
            },
            ..AbortingClient::default()
        };
        let mut client = config.application(RngStream::new(1, Purpose::Workload, 0));
        let (now, mut out) = (Instant::ZERO, Vec::new());
        client.on_wake(now, &mut out);
        client.on_received(now, End::Server, 500, &mut out);
        client.on_progress(now, End::Client, 400, &mut out);
        client.on_progress(now, End::Client, 300, &mut out);
        client.on_received(now, End::Server, 500, &mut out);
        client.on_progress(now, End::Client, 300, &mut out);
        client.on_received(now, End::Client, 300, &mut out);
        let request = [Command::Open, Command::Send(End::Client, 500)];
        let expected = [
            request[0],
            request[1],
            Command::Send(End::Server, 1_000),
            Command::Abort(End::Client),
            request[0],
            request[1],
            Command::Send(End::Server, 300),
            Command::Close(End::Client),
        ];
        assert_eq!(out, expected);
    }
}
