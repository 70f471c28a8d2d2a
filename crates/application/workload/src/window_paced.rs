//! Window-paced client: downloads a video on one connection, and limits the server by its receive window.

use config::{FieldError, check_number, check_positive, table};
use units::random::RngStream;
use units::{Bytes, Duration, Instant, Measure};

use crate::application::{Application, Command, End};
use crate::jitter::{DEFAULT_JITTER, Jitter, check_jitter};
use crate::workload::Settings;

table! {
    /// Client that reads a burst, then lets its receive window close, and reads a little now and then until the next
    /// burst (Kim 2016, section 4.3.1). The server probes the closed window. `tcp.receive_buffer_max` sets the window.
    pub struct WindowPaced {
        /// Payload of the request; default 500B.
        pub request: Bytes = Bytes::new(500),
        /// Size of the video; default 30MB.
        pub video: Bytes = Bytes::new(30_000_000),
        /// Bytes that the client reads in a burst; default 4.5MB.
        pub burst: Bytes = Bytes::new(4_500_000),
        /// Time from burst to burst; default 50s.
        pub period: Duration = Duration::from_secs(50),
        /// Share by which the time between two reads is shorter or longer at random, from 0 to 1; default 0.1, with
        /// which periodic flows do not stay in phase; 0: none.
        pub jitter: f64 = DEFAULT_JITTER,
        /// Number of small reads between bursts; default 3.
        pub reads: u32 = 3,
        /// Size of each; default 82kB, the window of such a client.
        pub read: Bytes = Bytes::new(82_000),
    }
}

impl Settings for WindowPaced {
    fn check(&self) -> Result<(), FieldError> {
        check_positive("request", self.request)?;
        check_positive("video", self.video)?;
        check_positive("burst", self.burst)?;
        check_positive("period", self.period)?;
        check_positive("read", self.read)?;
        check_jitter(self.jitter)?;
        check_number("reads", self.reads, 0, 1_000)
    }

    fn is_random(&self) -> bool {
        self.jitter > 0.0
    }

    fn mean_period_ns(&self, _: f64) -> f64 {
        self.period.to_base() / f64::from(self.reads + 1)
    }

    fn application(&self, draws: RngStream) -> Box<dyn Application> {
        Box::new(Reader {
            jitter: Jitter::new(self.jitter, &draws),
            config: self.clone(),
            step: 0,
        })
    }
}

/// Window-paced client of a flow.
struct Reader {
    config: WindowPaced,
    jitter: Jitter,
    /// Reads since the answer began, bursts included.
    step: u32,
}

impl Reader {
    /// Reads a burst or a little, and plans the next read.
    fn read(&mut self, now: Instant, out: &mut Vec<Command>) {
        let steps = self.config.reads + 1;
        let bytes = if self.step.is_multiple_of(steps) {
            self.config.burst
        } else {
            self.config.read
        };
        self.step += 1;
        let pause = self
            .jitter
            .draw_around(self.config.period / u64::from(steps));
        out.extend([
            Command::Read(End::Client, bytes.get()),
            Command::WakeAt(now + pause),
        ]);
    }
}

impl Application for Reader {
    fn on_wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.step > 0 {
            return self.read(now, out);
        }
        out.extend([
            Command::Open,
            Command::Read(End::Client, 0),
            Command::Send(End::Client, self.config.request.get()),
        ]);
    }

    fn on_received(&mut self, now: Instant, end: End, _: u64, out: &mut Vec<Command>) {
        match end {
            End::Server => {
                out.push(Command::Send(End::Server, self.config.video.get()));
                self.read(now, out);
            }
            End::Client => out.extend([
                Command::Read(End::Client, self.config.video.get()),
                Command::Close(End::Client),
            ]),
        }
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
    fn a_burst_is_followed_by_small_reads() {
        let mut reader =
            WindowPaced::default().application(RngStream::new(1, Purpose::Workload, 0));
        let mut out = Vec::new();
        reader.on_wake(at(0), &mut out);
        assert_eq!(out[1], Command::Read(End::Client, 0));
        reader.on_received(at(1), End::Server, 500, &mut out);
        let mut reads = Vec::new();
        for _ in 0..5 {
            let Some(Command::WakeAt(next)) = out.pop() else {
                panic!("no next read");
            };
            reads.push(out.pop());
            reader.on_wake(next, &mut out);
        }
        let read = |bytes| Some(Command::Read(End::Client, bytes));
        let (burst, little) = (read(4_500_000), read(82_000));
        assert_eq!(reads, [burst, little, little, little, burst]);
    }
}
