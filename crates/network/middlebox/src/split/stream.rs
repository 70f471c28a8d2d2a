//! Stream: the shared buffer of one direction of a split connection.
//!
//! The buffer is the receive buffer of one leg and the send buffer of the other leg at once (Kim 2016, figures 35 and
//! 41). Its bytes are received, then transferred to the other leg, then confirmed by the far end. It holds the payload of
//! unconfirmed bytes if packets have payload; otherwise only ranges.

use std::collections::VecDeque;

use tcp::{Connection, Segment};
use units::Instant;

use crate::policies::{Policy, Progress};

/// Data of one direction between the two legs.
pub(crate) struct Stream {
    /// Maximum number of bytes in the split host.
    capacity: u64,
    pub(crate) policy: Box<dyn Policy>,
    /// Initial sequence number of the sender plus one.
    first_seq: u32,
    /// Number of bytes received in order, written to the other leg, and confirmed by the far end.
    received: u64,
    written: u64,
    confirmed: u64,
    /// Whether the other leg has been closed after the end of the data.
    is_closed: bool,
    /// End of each range of data, and the time at which the sender sent it.
    sent: VecDeque<(u64, Instant)>,
    /// Payload from `confirmed` on, also beyond holes.
    bytes: VecDeque<u8>,
}

impl Stream {
    /// Creates the stream of a sender with the initial sequence number `iss`.
    pub(crate) fn new(capacity: u64, iss: u32, policy: Box<dyn Policy>) -> Self {
        Self {
            capacity,
            policy,
            first_seq: iss.wrapping_add(1),
            received: 0,
            written: 0,
            confirmed: 0,
            is_closed: false,
            sent: VecDeque::with_capacity(64),
            bytes: VecDeque::new(),
        }
    }

    /// Returns the bytes in the split host.
    pub(crate) fn buffered(&self) -> u64 {
        self.received - self.confirmed
    }

    /// Returns the position of a sequence number in the stream. It is unique, as windows are far smaller than 2 GiB.
    fn position(&self, seq: u32) -> Option<u64> {
        let near = self.first_seq.wrapping_add(self.received as u32);
        let distance = i64::from(seq.wrapping_sub(near) as i32);
        self.received.checked_add_signed(distance)
    }

    /// Stores payload and sending time of a segment.
    pub(crate) fn store(&mut self, segment: &Segment, sent_at: Instant, payload: Option<Vec<u8>>) {
        let Some(start) = self.position(segment.seq) else {
            return;
        };
        let end = start + u64::from(segment.len);
        if end > self.confirmed + self.capacity + u64::from(u16::MAX) {
            return;
        }
        if self.sent.back().is_none_or(|&(last, _)| end > last) {
            self.sent.push_back((end, sent_at));
        }
        let Some(payload) = payload else {
            return;
        };
        let skipped = self.confirmed.saturating_sub(start) as usize;
        let Some(unconfirmed) = payload.get(skipped..) else {
            return;
        };
        let offset = (start + skipped as u64 - self.confirmed) as usize;
        if self.bytes.len() < offset + unconfirmed.len() {
            self.bytes.resize(offset + unconfirmed.len(), 0);
        }
        for (slot, byte) in self.bytes.range_mut(offset..).zip(unconfirmed) {
            *slot = *byte;
        }
    }

    /// Returns when the sender sent the data of `segment`, and its bytes if the stream stores any.
    pub(crate) fn look_up(&self, segment: &Segment) -> Option<(Instant, Option<Vec<u8>>)> {
        let start = self.position(segment.seq)?;
        let range = self.sent.partition_point(|&(end, _)| end <= start);
        let (_, sent_at) = *self.sent.get(range)?;
        let offset = start.checked_sub(self.confirmed)? as usize;
        let end = offset + segment.len as usize;
        let bytes =
            (end <= self.bytes.len()).then(|| self.bytes.range(offset..end).copied().collect());
        Some((sent_at, bytes))
    }

    /// Moves data from the leg on which it arrives to the other one, and confirmations in the opposite direction.
    pub(crate) fn transfer(
        &mut self,
        now: Instant,
        inbound: &mut Connection,
        outbound: &mut Connection,
    ) {
        let received = inbound.received();
        let has_new_data = received > self.received;
        self.received = received;
        if received > self.written {
            self.written += outbound.write(now, received - self.written);
        }
        let confirmed = outbound.delivered();
        let all_confirmed = confirmed == received;
        let is_progress = confirmed > self.confirmed;
        if is_progress {
            self.remove_confirmed(confirmed);
            let progress = Progress {
                confirmed,
                all_confirmed,
                rtt: outbound.srtt(),
            };
            inbound.confirm(self.policy.acknowledges(&progress));
            inbound.set_window_limit(confirmed + self.capacity);
        }
        if has_new_data {
            self.policy.on_data(now, inbound, outbound.srtt());
        }
        if is_progress {
            self.policy.on_confirmed(now, inbound, all_confirmed);
        }
        if !self.is_closed && inbound.has_ended() && self.written == received {
            self.is_closed = true;
            outbound.close(now);
        }
    }

    /// Removes data that the far end has confirmed.
    fn remove_confirmed(&mut self, confirmed: u64) {
        let removed = (confirmed - self.confirmed) as usize;
        self.bytes.drain(..removed.min(self.bytes.len()));
        self.confirmed = confirmed;
        while self.sent.front().is_some_and(|&(end, _)| end <= confirmed) {
            self.sent.pop_front();
        }
    }

    /// Offers the whole buffer on a leg that has just opened.
    pub(crate) fn offer_window(&self, inbound: &mut Connection) {
        inbound.set_window_limit(self.capacity);
    }
}
