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
    /// Bytes that may be in the split host at once.
    buffer: u64,
    pub(crate) policy: Box<dyn Policy>,
    /// Initial sequence number of the sender plus one.
    first: u32,
    /// Bytes received in order, passed on, and confirmed by the far end.
    received: u64,
    written: u64,
    confirmed: u64,
    /// Whether the other leg has been closed after the end of the data.
    ended: bool,
    /// Ends of ranges, and when the sender has sent each.
    sent: VecDeque<(u64, Instant)>,
    /// Bytes from `confirmed` on, those beyond holes included.
    bytes: VecDeque<u8>,
}

impl Stream {
    /// Creates the stream of a sender with the initial sequence number `iss`.
    pub(crate) fn new(buffer: u64, iss: u32, policy: Box<dyn Policy>) -> Self {
        Self {
            buffer,
            policy,
            first: iss.wrapping_add(1),
            received: 0,
            written: 0,
            confirmed: 0,
            ended: false,
            sent: VecDeque::with_capacity(64),
            bytes: VecDeque::new(),
        }
    }

    /// Returns the bytes in the split host.
    pub(crate) fn buffered(&self) -> u64 {
        self.received - self.confirmed
    }

    /// Returns the position of a sequence number in the stream, whose window is far less than 2 GiB.
    fn position(&self, seq: u32) -> Option<u64> {
        let near = self.first.wrapping_add(self.received as u32);
        let distance = i64::from(seq.wrapping_sub(near) as i32);
        self.received.checked_add_signed(distance)
    }

    /// Keeps what is needed of a segment that the sender sent at `sent_at`.
    pub(crate) fn keep(&mut self, segment: &Segment, sent_at: Instant, payload: Option<Vec<u8>>) {
        let Some(start) = self.position(segment.seq) else {
            return;
        };
        let end = start + u64::from(segment.len);
        if end > self.confirmed + self.buffer + u64::from(u16::MAX) {
            return;
        }
        if self.sent.back().is_none_or(|&(known, _)| end > known) {
            self.sent.push_back((end, sent_at));
        }
        let Some(payload) = payload else {
            return;
        };
        let skipped = self.confirmed.saturating_sub(start) as usize;
        let Some(fresh) = payload.get(skipped..) else {
            return;
        };
        let at = (start + skipped as u64 - self.confirmed) as usize;
        if self.bytes.len() < at + fresh.len() {
            self.bytes.resize(at + fresh.len(), 0);
        }
        for (slot, byte) in self.bytes.range_mut(at..).zip(fresh) {
            *slot = *byte;
        }
    }

    /// Returns when the sender sent the data of `segment`, and its bytes if the stream stores any.
    pub(crate) fn look_up(&self, segment: &Segment) -> Option<(Instant, Option<Vec<u8>>)> {
        let start = self.position(segment.seq)?;
        let range = self.sent.partition_point(|&(end, _)| end <= start);
        let (_, sent_at) = *self.sent.get(range)?;
        let at = start.checked_sub(self.confirmed)? as usize;
        let end = at + segment.len as usize;
        let bytes = (end <= self.bytes.len()).then(|| self.bytes.range(at..end).copied().collect());
        Some((sent_at, bytes))
    }

    /// Moves data from the leg on which it comes to the other one, and reports to the first what the far end has
    /// confirmed.
    pub(crate) fn transfer(
        &mut self,
        now: Instant,
        inbound: &mut Connection,
        outbound: &mut Connection,
    ) {
        let received = inbound.received();
        let fresh = received > self.received;
        self.received = received;
        if received > self.written {
            self.written += outbound.write(now, received - self.written);
        }
        let confirmed = outbound.delivered();
        let progress = confirmed > self.confirmed;
        if progress {
            self.confirm(confirmed);
            let progress = Progress {
                confirmed,
                all_confirmed: confirmed == received,
                rtt: outbound.srtt(),
            };
            inbound.confirm(self.policy.acknowledges(&progress));
            inbound.set_window_limit(confirmed + self.buffer);
        }
        if fresh {
            self.policy.on_data(now, inbound);
        }
        if progress {
            let all_confirmed = confirmed == received;
            self.policy.on_confirmed(now, inbound, all_confirmed);
        }
        if !self.ended && inbound.has_ended() && self.written == received {
            self.ended = true;
            outbound.close(now);
        }
    }

    /// Removes data that the far end has confirmed.
    fn confirm(&mut self, confirmed: u64) {
        let gone = (confirmed - self.confirmed) as usize;
        self.bytes.drain(..gone.min(self.bytes.len()));
        self.confirmed = confirmed;
        while self.sent.front().is_some_and(|&(end, _)| end <= confirmed) {
            self.sent.pop_front();
        }
    }

    /// Offers the room of the buffer on a leg that has just opened.
    pub(crate) fn begin(&self, inbound: &mut Connection) {
        inbound.set_window_limit(self.buffer);
    }
}
