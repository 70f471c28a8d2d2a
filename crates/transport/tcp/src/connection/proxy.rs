//! Endpoint of a split-TCP proxy, which decides what it acknowledges.

use units::{Duration, Instant};

use super::Connection;
use crate::receiver::Receiver;
use crate::segment::Segment;
use crate::sequence::unwrap;

impl Connection {
    /// Reserve of a connection whose ACKs cover only what is [confirmed](Self::confirm). Its window counts from there.
    pub const KEEPS_ALL: u64 = u64::MAX;

    /// Makes the connection one of a proxy: ACKs leave `reserve` bytes at the end of the data out until they are
    /// [confirmed](Self::confirm) or [released](Self::release).
    pub fn relay(&mut self, reserve: u64) {
        self.reserve = Some(reserve);
        if let Some(receiver) = &mut self.receiver {
            receiver.relay(reserve);
        }
    }

    /// Notes that the first `bytes` of the payload have reached the other host. ACKs may cover them, but none is sent.
    pub fn confirm(&mut self, bytes: u64) {
        self.note_far_progress(bytes);
        if let Some(receiver) = &mut self.receiver {
            receiver.confirm(bytes);
        }
    }

    /// Lets further ACKs cover `bytes` more of the unacknowledged tail.
    pub fn release(&mut self, bytes: u64) {
        if let Some(receiver) = &mut self.receiver {
            receiver.release(bytes);
        }
    }

    /// Acknowledges at once what may be acknowledged.
    pub fn acknowledge(&mut self, now: Instant) {
        if let Some(receiver) = &mut self.receiver {
            receiver.acknowledge_now();
        }
        if self.is_synchronised() {
            self.flush(now);
        }
    }

    /// Withdraws the offered window from the next ACK on, or offers one again.
    pub fn freeze(&mut self, frozen: bool) {
        if let Some(receiver) = &mut self.receiver {
            receiver.freeze(frozen);
        }
    }

    /// Sends no data while the link to the peer is interrupted. The congestion state stays, and timers of the sender
    /// stand still.
    pub fn suspend(&mut self, now: Instant) {
        self.sender.suspend(now);
    }

    /// Goes on sending after [`Connection::suspend`].
    pub fn resume(&mut self, now: Instant) {
        self.sender.resume(now);
        if self.is_synchronised() {
            self.flush(now);
        }
    }

    /// Returns the smoothed RTT to the peer; zero before the first sample.
    pub fn srtt(&self) -> Duration {
        self.view().srtt.unwrap_or(Duration::ZERO)
    }

    /// Bounds the windows of further ACKs to the first `bytes` of the payload.
    pub fn set_window_limit(&mut self, bytes: u64) {
        if let Some(receiver) = &mut self.receiver {
            receiver.set_room(bytes);
        }
    }

    /// Returns whether the window that could be offered is so much larger than the offered one that the peer
    /// should hear of it.
    pub fn window_update_due(&self) -> bool {
        self.receiver.as_ref().is_some_and(Receiver::opens)
    }

    /// Returns whether the window that could be offered is larger than the offered one by two segments or more.
    pub fn window_grew(&self) -> bool {
        self.receiver.as_ref().is_some_and(Receiver::grows)
    }

    /// Returns the window that is offered beyond the data that has arrived, bytes.
    pub fn offered_window(&self) -> u64 {
        self.receiver.as_ref().map_or(0, Receiver::offered)
    }

    /// Returns the sequence space that has arrived in order and that no ACK has covered.
    pub fn withheld(&self) -> u64 {
        self.receiver.as_ref().map_or(0, Receiver::withheld)
    }

    /// Returns whether an ACK that left now would cover more than all before.
    pub fn could_acknowledge_more(&self) -> bool {
        self.receiver.as_ref().is_some_and(Receiver::has_ack_news)
    }

    /// Returns whether a segment repeats data of the unacknowledged tail.
    pub fn repeats(&self, segment: &Segment) -> bool {
        let receiver = self.receiver.as_ref();
        receiver.is_some_and(|receiver| {
            self.repeats_withheld(unwrap(receiver.rcv_nxt, segment.seq), segment)
        })
    }

    /// Returns whether a segment that begins at `seq` has only data of the unacknowledged tail. Its timestamp
    /// is not echoed, so that the peer can tell that its time-out was spurious (RFC 3522).
    pub(super) fn repeats_withheld(&self, seq: u64, segment: &Segment) -> bool {
        let end = seq + u64::from(segment.sequence_len());
        self.receiver.as_ref().is_some_and(|receiver| {
            let next = receiver.rcv_nxt;
            segment.len > 0 && end <= next && end > receiver.ack_number()
        })
    }
}
