//! Requests and responses: the client sends requests on one connection, and the server answers each after a think time.

use config::{Distribution, FieldContext, FieldError, check_positive, invalid_value, table};
use units::random::RngStream;
use units::{Bytes, Duration, Instant};

use crate::application::{Application, Command, End};
use crate::jitter::{DEFAULT_JITTER, Jitter, check_jitter, is_random_pause};
use crate::workload::{SECOND, Settings, at_least_one};

table! {
    /// Requests of the receiving node, each answered by the sending node before the next. The bytes of a flow in
    /// results are those of the responses. The event "response_s" of each response has the time from the request to the
    /// last byte of the response, "response_first_byte_s" that to its first byte (on the kernel engine to its first 8 kB,
    /// or all of it); the first one includes the handshake. A request without its whole response at the end of the run has
    /// its age as the event "response_age_s", unless a response took as long: then it might still have been answered.
    /// To imitate ping: `request` and `response` of 64B, no `think`, a `gap` of 1s. TCP retransmits, so that a loss
    /// shows as a response time of an RTO or more.
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
        /// Jitter of a constant gap: uniform within ± this share of it, from 0 to 1; default 0.1, which keeps periodic
        /// flows from staying in phase; 0: none.
        pub jitter: f64 = DEFAULT_JITTER,
        /// Number of writes that make a response, such as one of its header and one of its body; unset: one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub writes: Option<u32>,
        /// Time from a request by which its whole response must have come, such as that of a service level; unset: none.
        /// CCAs then rank by the share of late responses.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub deadline: Option<Duration>,
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
        if let Some(deadline) = self.deadline {
            check_positive("deadline", deadline)?;
        }
        at_least_one("count", self.count, "1 request or more")
    }

    fn is_random(&self) -> bool {
        let sizes_vary = self.request.is_random() || self.response.is_random();
        let gaps_vary = self.count != Some(1) && is_random_pause(&self.gap, self.jitter);
        sizes_vary || self.think.is_random() || gaps_vary
    }

    fn mean_period_ns(&self, rtt_ns: f64) -> f64 {
        rtt_ns + self.think.mean() + self.gap.mean()
    }

    fn sets_nodelay(&self) -> bool {
        // RPC clients and servers set TCP_NODELAY: gRPC, Redis, Go's standard library.
        true
    }

    fn application(&self, draws: RngStream) -> Box<dyn Application> {
        Box::new(Requests::new(self.clone(), draws))
    }
}

/// Metric: time from a request to the last byte of its response, s.
const RESPONSE_TIME: &str = "response_s";

/// Metric: time from a request to the first byte of its response, s.
const FIRST_BYTE: &str = "response_first_byte_s";

/// Metric: age of an unanswered request at the end of the run, s.
const AGE: &str = "response_age_s";

/// State of the current request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The connection is not open.
    New,
    /// The client pauses.
    Pause,
    /// The request is on its way, the server thinks, or the response is on its way.
    AwaitingResponse,
}

/// Requesting application of a flow.
pub(crate) struct Requests {
    config: RequestResponse,
    draws: RngStream,
    jitter: Jitter,
    stage: Stage,
    requested_at: Instant,
    /// Whether the first byte of the response has arrived.
    response_started: bool,
    responses: u32,
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
            requested_at: Instant::ZERO,
            response_started: false,
            responses: 0,
            longest: Duration::ZERO,
        }
    }

    fn record(&self, now: Instant, metric: &'static str, out: &mut Vec<Command>) {
        let waited = now.saturating_since(self.requested_at);
        out.push(Command::Record(metric, waited.as_nanos() as f64 / 1e9));
    }

    fn send_response(&mut self, out: &mut Vec<Command>) {
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

    fn on_wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.stage == Stage::AwaitingResponse {
            return self.send_response(out);
        }
        if self.stage == Stage::New {
            out.push(Command::Open);
        }
        self.stage = Stage::AwaitingResponse;
        self.response_started = false;
        self.requested_at = now;
        let bytes = self.config.request.draw(&mut self.draws).get().max(1);
        out.push(Command::Send(End::Client, bytes));
    }

    fn on_progress(&mut self, now: Instant, end: End, _: u64, out: &mut Vec<Command>) {
        if end == End::Client && !core::mem::replace(&mut self.response_started, true) {
            self.record(now, FIRST_BYTE, out);
        }
    }

    fn on_received(&mut self, now: Instant, end: End, _: u64, out: &mut Vec<Command>) {
        if end == End::Server {
            let think = self.config.think.draw(&mut self.draws);
            if think.is_zero() {
                self.send_response(out);
            } else {
                out.push(Command::WakeAt(now + think));
            }
            return;
        }
        self.record(now, RESPONSE_TIME, out);
        self.longest = self.longest.max(now.saturating_since(self.requested_at));
        self.responses += 1;
        self.stage = Stage::Pause;
        out.push(match self.config.count {
            Some(count) if self.responses >= count => Command::Close(End::Client),
            _ => Command::WakeAt(now + self.jitter.draw_pause(&self.config.gap, &mut self.draws)),
        });
    }

    fn on_stopped(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.stage == Stage::AwaitingResponse
            && now.saturating_since(self.requested_at) > self.longest
        {
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
            deadline: None,
            count: Some(2),
        };
        Requests::new(config, RngStream::new(1, Purpose::Workload, 0))
    }

    #[test]
    fn the_server_answers_after_it_has_thought_and_the_client_asks_again_after_the_gap() {
        let mut app = requests(20);
        let mut out = Vec::new();
        app.on_wake(at(0), &mut out);
        app.on_received(at(60), End::Server, 400, &mut out);
        app.on_wake(at(80), &mut out);
        app.on_received(at(150), End::Client, 30_000, &mut out);
        app.on_wake(at(650), &mut out);
        app.on_received(at(660), End::Server, 400, &mut out);
        app.on_wake(at(680), &mut out);
        app.on_received(at(700), End::Client, 30_000, &mut out);
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
        app.on_wake(at(0), &mut out);
        app.on_progress(at(60), End::Server, 400, &mut out);
        app.on_received(at(60), End::Server, 400, &mut out);
        app.on_wake(at(80), &mut out);
        app.on_progress(at(140), End::Client, 1_000, &mut out);
        app.on_progress(at(150), End::Client, 29_000, &mut out);
        app.on_received(at(150), End::Client, 30_000, &mut out);
        app.on_wake(at(650), &mut out);
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

    /// As for frames: a request younger than the longest response time may still be answered.
    #[test]
    fn a_request_that_is_older_at_the_end_than_any_response_took_has_its_age() {
        let age_at = |end| {
            let mut app = requests(20);
            let mut out = Vec::new();
            app.on_wake(at(0), &mut out);
            app.on_received(at(60), End::Server, 400, &mut out);
            app.on_wake(at(80), &mut out);
            app.on_received(at(150), End::Client, 30_000, &mut out);
            app.on_stopped(at(600), &mut out);
            app.on_wake(at(650), &mut out);
            app.on_stopped(at(end), &mut out);
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
        app.on_wake(at(0), &mut out);
        app.on_received(at(60), End::Server, 400, &mut out);
        assert_eq!(out.last(), Some(&Command::Send(End::Server, 30_000)));
    }
}
