//! Endpoint of a split-TCP proxy, which decides when it acknowledges data.

use units::{Duration, Instant};

use super::Connection;
use crate::receiver::Receiver;
use crate::segment::Segment;
use crate::sequence::unwrap;

impl Connection {
    /// Value for [`Self::set_unacked_tail`]: ACKs cover [confirmed](Self::confirm) data only. The window field of this
    /// connection then includes the unacknowledged bytes.
    pub const CONFIRMED_ONLY: u64 = u64::MAX;

    /// Makes the connection one of a proxy: ACKs leave out the last `bytes` of the data until they are
    /// [confirmed](Self::confirm) or [released](Self::release).
    pub fn set_unacked_tail(&mut self, bytes: u64) {
        self.unacked_tail = Some(bytes);
        if let Some(receiver) = &mut self.receiver {
            receiver.set_unacked_tail(bytes);
        }
    }

    /// Notes that the first `bytes` of the payload have reached the other host. Further ACKs may cover them.
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

    /// Sends an ACK at once.
    pub fn acknowledge(&mut self, now: Instant) {
        if let Some(receiver) = &mut self.receiver {
            receiver.acknowledge_now();
        }
        if self.is_synchronised() {
            self.flush(now);
        }
    }

    /// Withdraws the offered window from the next ACK on (`is_frozen`), or offers one again.
    pub fn set_frozen(&mut self, is_frozen: bool) {
        if let Some(receiver) = &mut self.receiver {
            receiver.set_frozen(is_frozen);
        }
    }

    /// Stops sending data, because the link to the peer is interrupted. The congestion state stays, and the timers of the
    /// sender stop.
    pub fn suspend(&mut self, now: Instant) {
        self.sender.suspend(now);
    }

    /// Sends data again after [`Connection::suspend`].
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

    /// Sets the right edge of the offered window to at most the stream offset `offset`.
    pub fn set_window_limit(&mut self, offset: u64) {
        if let Some(receiver) = &mut self.receiver {
            receiver.set_window_limit(offset);
        }
    }

    /// Returns whether the window that could be offered is at least twice the offered one, so that a window update is due.
    pub fn window_update_due(&self) -> bool {
        self.receiver
            .as_ref()
            .is_some_and(Receiver::window_update_due)
    }

    /// Returns whether the window that could be offered is larger than the offered one by two segments or more.
    pub fn window_grew(&self) -> bool {
        self.receiver.as_ref().is_some_and(Receiver::window_grew)
    }

    /// Returns the window that is offered beyond the data that has arrived, bytes.
    pub fn offered_window(&self) -> u64 {
        self.receiver.as_ref().map_or(0, Receiver::offered_window)
    }

    /// Returns the bytes of sequence space that have arrived in order and are neither acknowledged nor
    /// [released](Self::release).
    pub fn withheld(&self) -> u64 {
        self.receiver.as_ref().map_or(0, Receiver::withheld)
    }

    /// Returns whether an ACK that left now would cover more than all before and than what is [released](Self::release).
    pub fn could_acknowledge_more(&self) -> bool {
        self.receiver
            .as_ref()
            .is_some_and(Receiver::could_acknowledge_more)
    }

    /// Returns whether a segment repeats data of the unacknowledged tail.
    pub fn repeats(&self, segment: &Segment) -> bool {
        let receiver = self.receiver.as_ref();
        receiver.is_some_and(|receiver| {
            self.repeats_withheld(unwrap(receiver.rcv_nxt, segment.seq), segment)
        })
    }

    /// Returns whether a segment with data that begins at `seq` ends in the unacknowledged tail. Its timestamp is not
    /// echoed, so that the peer can tell that its time-out was spurious (RFC 3522).
    pub(super) fn repeats_withheld(&self, seq: u64, segment: &Segment) -> bool {
        let end = seq + u64::from(segment.sequence_len());
        self.receiver.as_ref().is_some_and(|receiver| {
            segment.len > 0 && end <= receiver.rcv_nxt && end > receiver.ack_number()
        })
    }
}
