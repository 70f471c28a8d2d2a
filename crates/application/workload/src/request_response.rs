//! Request and response: the client asks, the server answers after a while, again and again on one connection.

use config::{Distribution, FieldContext, FieldError, invalid_value, table};
use units::random::RngStream;
use units::{Bytes, Duration, Instant};

use crate::application::{Application, Command, End};
use crate::jitter::{JITTER, Jitter, check_jitter, differ};
use crate::workload::{SECOND, Settings, at_least_one};

table! {
    /// Requests of the receiving node, each answered by the sending node before the next. The bytes of a flow in
    /// results are those of the responses. The event "response_s" of each response has the time from the request to the
    /// last byte of the response, "response_first_byte_s" that to its first byte (on the kernel engine to its first 8 kB,
    /// or all of it); the first one includes the handshake. A request without its whole response at the end of the run has
    /// the event "response_age_s", if it is older than any response took: nothing says that others would not have come.
    /// A ping: `request` and `response` of 64B, no `think`, a `gap` of 1s. TCP repeats what is lost, so that each loss is a
    /// response of a time-out or more.
    pub struct RequestResponse {
        /// Payload of each request; default 500B.
        pub request: Distribution<Bytes> = Distribution::Constant {
            value: Bytes::new(500),
        },
        /// Payload of each response; default 100kB.
        pub response: Distribution<Bytes> = Distribution::Constant {
            value: Bytes::new(100_000),
        },
        /// Time from the last byte of a request at the sending node to the first byte of the response; default 10ms.
        pub think: Distribution<Duration> = Distribution::Constant {
            value: Duration::from_millis(10),
        },
        /// Time from the end of a response to the next request; default exponential with a mean of 1s.
        pub gap: Distribution<Duration> = SECOND,
        /// Share by which a constant gap is shorter or longer at random, from 0 to 1; default 0.1, with which periodic
        /// flows do not stay in phase; 0: none.
        pub jitter: f64 = JITTER,
        /// Number of writes that make a response, such as one of its header and one of its body; unset: one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub writes: Option<u32>,
        /// Number of requests before the connection is closed; unset: as many as fit into the run.
        pub count: Option<u32>,
    }
}

impl Settings for RequestResponse {
    fn check(&self) -> Result<(), FieldError> {
        self.request.check(false).in_table("request")?;
        self.response.check(false).in_table("response")?;
        self.think.check(true).in_table("think")?;
        self.gap.check(true).in_table("gap")?;
        check_jitter(self.jitter)?;
        if let Some(writes) = self.writes
            && !(1..=1_000).contains(&writes)
        {
            return invalid_value("writes", writes, "1 to 1000 writes");
        }
        at_least_one("count", self.count, "1 request or more")
    }

    fn is_random(&self) -> bool {
        let sizes = self.request.is_random() || self.response.is_random();
        let gaps = self.count != Some(1) && differ(&self.gap, self.jitter);
        sizes || self.think.is_random() || gaps
    }

    fn round(&self, rtt: f64) -> f64 {
        rtt + self.think.mean() + self.gap.mean()
    }

    fn sets_nodelay(&self) -> bool {
        // Servers and clients of remote procedures set it, such as gRPC, Redis and Go's standard library.
        true
    }

    fn application(&self, draws: RngStream) -> Box<dyn Application> {
        Box::new(Requests::new(self.clone(), draws))
    }
}

/// Name of the figure for the time from a request to the last byte of its response, s.
const RESPONSE_TIME: &str = "response_s";

/// Name of the figure for the time from a request to the first byte of its response, s.
const FIRST_BYTE: &str = "response_first_byte_s";

/// Name of the figure for the age of a request at the end of the run that has not been answered, s.
const AGE: &str = "response_age_s";

/// State of the present request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The connection is not open.
    New,
    /// The client pauses.
    Pause,
    /// The request is on its way, the server thinks, or the response is on its way.
    Asked,
}

/// Requesting application of a flow.
pub(crate) struct Requests {
    config: RequestResponse,
    draws: RngStream,
    jitter: Jitter,
    stage: Stage,
    asked_at: Instant,
    /// Whether the first byte of the response has arrived.
    has_begun: bool,
    answered: u32,
    /// Longest time to a response.
    longest: Duration,
}

impl Requests {
    pub(crate) fn new(config: RequestResponse, draws: RngStream) -> Self {
        Self {
            jitter: Jitter::new(config.jitter, &draws),
            config,
            draws,
            stage: Stage::New,
            asked_at: Instant::ZERO,
            has_begun: false,
            answered: 0,
            longest: Duration::ZERO,
        }
    }

    fn record(&self, now: Instant, figure: &'static str, out: &mut Vec<Command>) {
        let waited = now.saturating_since(self.asked_at);
        out.push(Command::Record(figure, waited.as_nanos() as f64 / 1e9));
    }

    fn answer(&mut self, out: &mut Vec<Command>) {
        let bytes = self.config.response.draw(&mut self.draws).get().max(1);
        let writes = u64::from(self.config.writes.unwrap_or(1)).min(bytes);
        let each = bytes / writes;
        for _ in 1..writes {
            out.push(Command::Send(End::Server, each));
        }
        out.push(Command::Send(End::Server, bytes - each * (writes - 1)));
    }
}

impl Application for Requests {
    fn wants_progress(&self) -> bool {
        true
    }

    fn wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.stage == Stage::Asked {
            return self.answer(out);
        }
        if self.stage == Stage::New {
            out.push(Command::Open);
        }
        self.stage = Stage::Asked;
        self.has_begun = false;
        self.asked_at = now;
        let bytes = self.config.request.draw(&mut self.draws).get().max(1);
        out.push(Command::Send(End::Client, bytes));
    }

    fn on_progress(&mut self, now: Instant, end: End, _: u64, out: &mut Vec<Command>) {
        if end == End::Client && !core::mem::replace(&mut self.has_begun, true) {
            self.record(now, FIRST_BYTE, out);
        }
    }

    fn received(&mut self, now: Instant, end: End, _: u64, out: &mut Vec<Command>) {
        if end == End::Server {
            let think = self.config.think.draw(&mut self.draws);
            if think.is_zero() {
                self.answer(out);
            } else {
                out.push(Command::WakeAt(now + think));
            }
            return;
        }
        self.record(now, RESPONSE_TIME, out);
        self.longest = self.longest.max(now.saturating_since(self.asked_at));
        self.answered += 1;
        self.stage = Stage::Pause;
        out.push(match self.config.count {
            Some(count) if self.answered >= count => Command::Close(End::Client),
            _ => Command::WakeAt(now + self.jitter.pause(&self.config.gap, &mut self.draws)),
        });
    }

    fn stopped(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.stage == Stage::Asked && now.saturating_since(self.asked_at) > self.longest {
            self.record(now, AGE, out);
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

    fn requests(think_ms: u64) -> Requests {
        let bytes = |count| Distribution::Constant {
            value: Bytes::new(count),
        };
        let time = |ms| Distribution::Constant {
            value: Duration::from_millis(ms),
        };
        let config = RequestResponse {
            request: bytes(400),
            response: bytes(30_000),
            think: time(think_ms),
            gap: time(500),
            jitter: 0.0,
            writes: None,
            count: Some(2),
        };
        Requests::new(config, RngStream::new(1, Purpose::Workload, 0))
    }

    #[test]
    fn the_server_answers_after_it_has_thought_and_the_client_asks_again_after_the_gap() {
        let mut app = requests(20);
        let mut out = Vec::new();
        app.wake(at(0), &mut out);
        app.received(at(60), End::Server, 400, &mut out);
        app.wake(at(80), &mut out);
        app.received(at(150), End::Client, 30_000, &mut out);
        app.wake(at(650), &mut out);
        app.received(at(660), End::Server, 400, &mut out);
        app.wake(at(680), &mut out);
        app.received(at(700), End::Client, 30_000, &mut out);
        let (request, response) = (
            Command::Send(End::Client, 400),
            Command::Send(End::Server, 30_000),
        );
        let expected = [
            Command::Open,
            request,
            Command::WakeAt(at(80)),
            response,
            Command::Record("response_s", 0.15),
            Command::WakeAt(at(650)),
            request,
            Command::WakeAt(at(680)),
            response,
            Command::Record("response_s", 0.05),
            Command::Close(End::Client),
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn the_first_byte_of_each_response_has_a_time_and_those_after_it_have_none() {
        let mut app = requests(20);
        let mut out = Vec::new();
        app.wake(at(0), &mut out);
        app.on_progress(at(60), End::Server, 400, &mut out);
        app.received(at(60), End::Server, 400, &mut out);
        app.wake(at(80), &mut out);
        app.on_progress(at(140), End::Client, 1_000, &mut out);
        app.on_progress(at(150), End::Client, 29_000, &mut out);
        app.received(at(150), End::Client, 30_000, &mut out);
        app.wake(at(650), &mut out);
        app.on_progress(at(680), End::Client, 30_000, &mut out);
        let times: Vec<f64> = out
            .iter()
            .filter_map(|command| match command {
                Command::Record("response_first_byte_s", seconds) => Some(*seconds),
                _ => None,
            })
            .collect();
        assert_eq!(times, [0.14, 0.03]);
    }

    /// As of frames: one that is younger than a response took may still come.
    #[test]
    fn a_request_that_is_older_at_the_end_than_any_response_took_has_its_age() {
        let age_at = |end| {
            let mut app = requests(20);
            let mut out = Vec::new();
            app.wake(at(0), &mut out);
            app.received(at(60), End::Server, 400, &mut out);
            app.wake(at(80), &mut out);
            app.received(at(150), End::Client, 30_000, &mut out);
            app.stopped(at(600), &mut out);
            app.wake(at(650), &mut out);
            app.stopped(at(end), &mut out);
            out.iter().find_map(|command| match command {
                Command::Record("response_age_s", seconds) => Some(*seconds),
                _ => None,
            })
        };
        assert_eq!(age_at(800), None);
        assert_eq!(age_at(801), Some(0.151));
    }

    #[test]
    fn a_server_that_need_not_think_answers_at_once() {
        let mut app = requests(0);
        let mut out = Vec::new();
        app.wake(at(0), &mut out);
        app.received(at(60), End::Server, 400, &mut out);
        assert_eq!(out.last(), Some(&Command::Send(End::Server, 30_000)));
    }
}
