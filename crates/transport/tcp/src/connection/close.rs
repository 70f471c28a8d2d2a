//! End of a connection by failures, resets, and closed or shut-down sockets; options of the socket.

use units::{Duration, Instant};

use super::{Connection, State};
use crate::reset::reset_reply;
use crate::segment::{Flags, Segment};

/// Reason for which a connection has failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The peer has reset the connection.
    Reset,
    /// The peer refuses connections.
    Refused,
    /// The peer has sent a FIN, and later a reset (`EPIPE`).
    Pipe,
    /// The peer does not answer.
    TimedOut,
    /// A router has no route to the host (ICMP).
    HostUnreachable,
    /// A router has no route to the network (ICMP).
    NetworkUnreachable,
}

impl Connection {
    /// Returns the failure that has ended the connection.
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// Returns whether the peer's FIN and all data before it have arrived.
    pub fn has_ended(&self) -> bool {
        let receiver = self.receiver.as_ref();
        receiver.is_some_and(crate::receiver::Receiver::fin_received)
    }

    /// Runs the timers that are due; returns whether one of them has timed the connection out.
    pub fn run_timers(&mut self, now: Instant) -> bool {
        let had_failed = self.failure.is_some();
        self.on_deadline(now);
        !had_failed && self.failure == Some(Failure::TimedOut)
    }

    /// Ends the connection with a failure.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
        self.set_closed();
    }

    /// Enters CLOSED, and stops the timers of the states before.
    fn set_closed(&mut self) {
        self.state = State::Closed;
        self.handshake_deadline = Instant::NEVER;
        self.time_wait_until = Instant::NEVER;
    }

    /// Closes the connection at once; the peer gets a reset (RFC 9293 §3.10.5; the kernel's
    /// `tcp_disconnect`).
    pub fn abort(&mut self, now: Instant) {
        if self.is_synchronised() && self.state != State::TimeWait {
            self.push_reset(now);
        }
        self.set_closed();
    }

    /// Closes the socket: a FIN follows the data, and data that still arrives is answered by a reset (RFC 1122
    /// §4.2.2.13).
    pub fn detach(&mut self, now: Instant) {
        self.socket_closed = true;
        self.close(now);
    }

    /// Ends reading (`SHUT_RD`): reads no longer block, though data that arrives can be read. After this end's FIN, new
    /// data is answered by a reset (the kernel's `tcp_rcv_state_process`).
    pub fn shutdown_read(&mut self) {
        self.read_shutdown = true;
    }

    /// Returns whether the application has ended reading.
    pub fn is_read_shutdown(&self) -> bool {
        self.read_shutdown
    }

    /// Returns whether the segment brings new data after the application has closed the socket or ended reading.
    pub(super) fn is_data_after_close(&self, seq: u64, segment: &Segment) -> bool {
        let rcv_nxt = self
            .receiver
            .as_ref()
            .map_or(0, |receiver| receiver.rcv_nxt);
        (self.socket_closed || self.read_shutdown)
            && segment.len > 0
            && seq + u64::from(segment.len) > rcv_nxt
            && matches!(
                self.state,
                State::FinWait1 | State::FinWait2 | State::Closing
            )
    }

    /// Answers a segment by a reset and drops the connection unless it is still opening.
    pub(super) fn reset_unexpected(&mut self, segment: &Segment) {
        self.out.extend(reset_reply(segment));
        if self.is_synchronised() {
            self.set_closed();
        }
    }

    /// Handles an ICMP message that the peer cannot be reached. It fails a connection in SYN-SENT only.
    pub fn on_unreachable(&mut self, failure: Failure) {
        if self.state == State::SynSent {
            self.fail(failure);
        }
    }

    /// Changes the time without an acknowledgement after which the connection times out (`TCP_USER_TIMEOUT`).
    pub fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        self.config.user_timeout = timeout;
        self.sender.set_user_timeout(timeout);
    }

    /// Turns Nagle's algorithm on, or off (`TCP_NODELAY`).
    pub fn set_nagle(&mut self, now: Instant, nagle: bool) {
        self.sender.set_nagle(now, nagle);
        self.flush(now);
    }

    /// Holds short segments back or releases them (`TCP_CORK`).
    pub fn set_cork(&mut self, now: Instant, cork: bool) {
        self.sender.set_cork(now, cork);
        self.flush(now);
    }

    /// Changes the memory that the send buffer may take, bytes (`SO_SNDBUF`).
    pub fn set_send_buffer(&mut self, bytes: u64) {
        self.sender.set_send_buffer(bytes);
    }

    /// Acknowledges each segment at once for a while (`TCP_QUICKACK`).
    pub fn set_quickack(&mut self, now: Instant) {
        if let Some(receiver) = &mut self.receiver {
            receiver.set_quickack();
        }
        self.flush(now);
    }

    /// Sends a reset.
    pub(super) fn push_reset(&mut self, now: Instant) {
        let flags = Flags::RST | Flags::ACK;
        let ack = self.current_ack(now);
        self.out.extend(ack.map(|ack| Segment { flags, ..ack }));
    }
}
