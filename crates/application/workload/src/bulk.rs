//! Bulk transfer: the server sends as much as it can, until a number of bytes or a time.

use config::{FieldError, check_positive, table};
use units::random::RngStream;
use units::{Bytes, Duration, Instant};

use crate::application::{Application, Command, End, UNLIMITED};
use crate::workload::Settings;

table! {
    /// Transfer of as much as possible until the first of the limits; without a limit, until the run ends.
    pub struct Bulk {
        /// Time after the start of the flow at which it stops; unset: no such limit.
        pub stop: Option<Duration>,
        /// Payload after which it stops; unset: no such limit.
        pub bytes: Option<Bytes>,
    }
}

impl Settings for Bulk {
    fn check(&self) -> Result<(), FieldError> {
        self.stop
            .map_or(Ok(()), |stop| check_positive("stop", stop))?;
        self.bytes
            .map_or(Ok(()), |bytes| check_positive("bytes", bytes))
    }

    fn is_random(&self) -> bool {
        false
    }

    fn mean_period_ns(&self, _: f64) -> f64 {
        f64::INFINITY
    }

    fn application(&self, _: RngStream) -> Box<dyn Application> {
        Box::new(Transfer::new(self.clone()))
    }
}

/// Bulk transfer of a flow.
pub(crate) struct Transfer {
    bulk: Bulk,
    is_opened: bool,
}

impl Transfer {
    pub(crate) fn new(bulk: Bulk) -> Self {
        let is_opened = false;
        Self { bulk, is_opened }
    }
}

impl Application for Transfer {
    fn on_wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.is_opened {
            out.extend([
                Command::CancelUnsent(End::Server),
                Command::Close(End::Server),
            ]);
            return;
        }
        self.is_opened = true;
        out.push(Command::Open);
        out.push(match self.bulk.bytes.map(Bytes::get) {
            Some(bytes) => Command::Send(End::Server, bytes),
            None => Command::Stream(End::Server, UNLIMITED),
        });
        out.extend(self.bulk.stop.map(|stop| Command::WakeAt(now + stop)));
    }

    fn on_received(&mut self, _: Instant, _: End, _: u64, out: &mut Vec<Command>) {
        out.push(Command::Close(End::Server));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_bulk_transfer_opens_once_and_stops() {
        let mut transfer = Transfer::new(Bulk {
            stop: Some(Duration::from_secs(2)),
            bytes: None,
        });
        let mut out = Vec::new();
        transfer.on_wake(at(100), &mut out);
        let stream = Command::Stream(End::Server, UNLIMITED);
        assert_eq!(out, [Command::Open, stream, Command::WakeAt(at(2_100))]);
        out.clear();
        transfer.on_wake(at(2_100), &mut out);
        let closed = [
            Command::CancelUnsent(End::Server),
            Command::Close(End::Server),
        ];
        assert_eq!(out, closed);
    }

    #[test]
    fn a_transfer_of_some_bytes_closes_when_they_have_arrived() {
        let mut transfer = Transfer::new(Bulk {
            stop: None,
            bytes: Some(Bytes::new(5_000)),
        });
        let mut out = Vec::new();
        transfer.on_wake(at(0), &mut out);
        assert_eq!(out, [Command::Open, Command::Send(End::Server, 5_000)]);
        out.clear();
        transfer.on_received(at(80), End::Client, 5_000, &mut out);
        assert_eq!(out, [Command::Close(End::Server)]);
    }
}
