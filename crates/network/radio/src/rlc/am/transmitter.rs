//! Transmitting side of acknowledged mode: sequence numbers, polls and the window (clauses 5.1.3.1 and 5.2.2).

use super::Forwarding;
use super::retransmission::Retransmissions;
use crate::rlc::buffer::Buffer;
use crate::rlc::{Block, DataPdu, Sdu, Segment, StatusPdu};
use crate::settings::Rlc;
use std::collections::VecDeque;
use units::Instant;

/// AMD PDU of the transmitting window, acknowledged or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    /// Index of its first segment since the start.
    first: u64,
    segments: u32,
    /// Bytes of its data field.
    pub(super) data: u32,
    /// RETX_COUNT; `None` before the first retransmission.
    retransmissions: Option<u32>,
    is_acknowledged: bool,
}

/// Transmitting side of an entity. Sequence numbers do not wrap here; PDUs carry them modulo.
#[derive(Clone, Debug)]
pub(super) struct Transmitter {
    config: Rlc,
    buffer: Buffer,
    /// PDUs from VT(A) to VT(S).
    window: VecDeque<Outstanding>,
    /// VT(A), the first sequence number that is not acknowledged.
    acknowledged: u64,
    /// Segments of the PDUs in the window.
    segments: VecDeque<Segment>,
    /// Number of segments removed from the front since the start.
    removed_segments: u64,
    retransmissions: Retransmissions,
    pdus_without_poll: u32,
    bytes_without_poll: u64,
    /// POLL_SN.
    polled: u64,
    /// Time at which t-PollRetransmit expires; [`Instant::NEVER`] if it does not run.
    poll_retransmit: Instant,
    poll_now: bool,
    has_failed: bool,
}

impl Transmitter {
    pub(super) fn new(config: Rlc) -> Self {
        Self {
            config,
            buffer: Buffer::new(config.buffer),
            window: VecDeque::new(),
            acknowledged: 0,
            segments: VecDeque::new(),
            removed_segments: 0,
            retransmissions: Retransmissions::default(),
            pdus_without_poll: 0,
            bytes_without_poll: 0,
            polled: 0,
            poll_retransmit: Instant::NEVER,
            poll_now: false,
            has_failed: false,
        }
    }

    pub(super) fn enqueue(&mut self, sdu: Sdu) -> bool {
        self.buffer.push(sdu)
    }

    /// Discards SDUs of which nothing has been sent. If that empties the buffer, the PDU that would have polled for a
    /// status report is discarded, too: t-PollRetransmit is started to retransmit the last PDU.
    pub(super) fn discard(
        &mut self,
        now: Instant,
        is_discarded: &dyn Fn(u64) -> bool,
        out: &mut Vec<u64>,
    ) {
        let before = out.len();
        self.buffer.discard(is_discarded, out);
        let drained = out.len() > before && self.buffer.is_empty();
        if drained && !self.window.is_empty() && self.poll_retransmit == Instant::NEVER {
            self.polled = self.next() - 1;
            self.poll_retransmit = now + self.config.poll_retransmit;
        }
    }

    pub(super) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    pub(super) fn available(&self) -> u64 {
        let new = if self.is_stalled() {
            0
        } else {
            self.buffer.bytes()
        };
        new + self.retransmissions.bytes()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Returns VT(S).
    fn next(&self) -> u64 {
        self.acknowledged + self.window.len() as u64
    }

    /// Returns whether VT(S) has reached VT(MS).
    fn is_stalled(&self) -> bool {
        self.window.len() as u64 >= self.config.am_sn().window()
    }

    fn has_nothing_to_send(&self) -> bool {
        (self.buffer.is_empty() || self.is_stalled()) && self.retransmissions.is_empty()
    }

    /// Builds the next PDU within `room` bytes and returns its size.
    pub(super) fn build(&mut self, now: Instant, room: u32, block: &mut Block) -> Option<u32> {
        let size = match self.retransmit(room, block) {
            Some(size) => size,
            None if self.retransmissions.is_empty() => self.build_new(room, block)?,
            None => return None,
        };
        self.poll_if_due(now, block);
        Some(size)
    }

    fn build_new(&mut self, room: u32, block: &mut Block) -> Option<u32> {
        let fixed = self.config.am_sn().header(false);
        if self.is_stalled() || self.buffer.is_empty() || room <= fixed {
            return None;
        }
        let sn = self.next();
        let first_segment = block.segments.len() as u32;
        let first = self.removed_segments + self.segments.len() as u64;
        let own = &mut self.segments;
        // A data field longer than segment offsets reach could not be segmented again.
        let data_room = (room - fixed).min(self.config.am_sn().max_data() - 1);
        let (data, segment_count) =
            self.buffer
                .take(data_room, self.config.length_indicator(), |segment| {
                    own.push_back(segment);
                    block.segments.push(segment);
                });
        self.window.push_back(Outstanding {
            first,
            segments: segment_count,
            data,
            retransmissions: None,
            is_acknowledged: false,
        });
        self.pdus_without_poll += 1;
        self.bytes_without_poll += u64::from(data);
        let header = fixed + self.config.length_indicator().extension(segment_count);
        block.pdus.push(DataPdu {
            sn: (sn % self.config.am_sn().modulus()) as u32,
            poll: false,
            part: None,
            data,
            header,
            first_segment,
            segments: segment_count,
        });
        Some(header + data)
    }

    fn retransmit(&mut self, room: u32, block: &mut Block) -> Option<u32> {
        let (acknowledged, window) = (self.acknowledged, &self.window);
        let nacked = self.retransmissions.first(|sn| {
            sn.checked_sub(acknowledged)
                .and_then(|at| window.get(at as usize))
                .is_some_and(|pdu| !pdu.is_acknowledged)
        })?;
        let pdu = self.window[(nacked.sn - acknowledged) as usize];
        let first = (pdu.first - self.removed_segments) as usize;
        let segments = self.segments.range(first..first + pdu.segments as usize);
        let sent = nacked.cut(&self.config, pdu.data, segments, room, block)?;
        self.retransmissions.on_sent(sent.data);
        Some(sent.size)
    }

    /// Sets the poll bit of the last PDU of `block` if a poll is due (clause 5.2.2.1).
    fn poll_if_due(&mut self, now: Instant, block: &mut Block) {
        let due = self.poll_now
            || self.has_nothing_to_send()
            || self.config.poll_pdus > 0 && self.pdus_without_poll >= self.config.poll_pdus
            || (self.config.poll_bytes).is_some_and(|limit| self.bytes_without_poll >= limit.get());
        let Some(pdu) = block.pdus.last_mut().filter(|_| due) else {
            return;
        };
        pdu.poll = true;
        self.poll_now = false;
        self.pdus_without_poll = 0;
        self.bytes_without_poll = 0;
        self.polled = self.next() - 1;
        self.poll_retransmit = now + self.config.poll_retransmit;
    }

    /// Processes a status report. SDUs whose last PDU leaves the window are added to `confirmed`.
    pub(super) fn on_status(&mut self, status: &StatusPdu, confirmed: &mut Vec<Sdu>) {
        let modulus = self.config.am_sn().modulus();
        let base = self.acknowledged;
        let absolute = |sn: u32| {
            let distance = (u64::from(sn) + modulus - base % modulus) % modulus;
            base + distance
        };
        let ack = absolute(status.ack_sn);
        // An acknowledgement of a PDU that was never sent is invalid (clause 5.5.1).
        if u64::from(status.ack_sn) >= modulus || ack > self.next() {
            return;
        }
        let mut nacks = status.nacks.iter().peekable();
        for sn in base..ack {
            let mut missing = false;
            while let Some(nack) = nacks.next_if(|nack| absolute(nack.sn) <= sn) {
                missing |= absolute(nack.sn) == sn;
                if absolute(nack.sn) == sn {
                    self.on_nack(sn, nack.range);
                }
            }
            if !missing {
                self.window[(sn - base) as usize].is_acknowledged = true;
            }
            if sn == self.polled {
                self.poll_retransmit = Instant::NEVER;
            }
        }
        while self.window.front().is_some_and(|pdu| pdu.is_acknowledged) {
            let pdu = self.window.pop_front().expect("there is a front");
            self.acknowledged += 1;
            self.removed_segments += u64::from(pdu.segments);
            let segments = self.segments.drain(..pdu.segments as usize);
            confirmed.extend(segments.filter(Segment::is_last).map(|segment| segment.sdu));
        }
    }

    /// Retransmits a PDU, or a range of it, if the rules allow it (clause 5.2.1).
    fn on_nack(&mut self, sn: u64, range: Option<(u32, u32)>) {
        let pdu = &mut self.window[(sn - self.acknowledged) as usize];
        if pdu.is_acknowledged {
            return;
        }
        let (from, to) = range.map_or((0, pdu.data), |(from, to)| (from, to.min(pdu.data)));
        if from >= to || self.retransmissions.covers(sn, from, to) {
            return;
        }
        // RETX_COUNT stays while some of the PDU is pending, even if from the same report.
        if !self.retransmissions.has_range_of(sn) {
            let count = pdu.retransmissions.map_or(0, |count| count + 1);
            pdu.retransmissions = Some(count);
            self.has_failed |= count >= self.config.max_retransmissions;
        }
        self.retransmissions.push(sn, from, to);
    }

    pub(super) fn deadline(&self) -> Instant {
        self.poll_retransmit
    }

    /// Lets t-PollRetransmit expire (clause 5.2.2.3).
    pub(super) fn advance(&mut self, now: Instant) {
        if self.poll_retransmit > now {
            return;
        }
        self.poll_retransmit = Instant::NEVER;
        self.poll_now = true;
        let last = self.window.iter().rposition(|pdu| !pdu.is_acknowledged);
        if self.has_nothing_to_send()
            && let Some(last) = last
        {
            let sn = self.acknowledged + last as u64;
            self.on_nack(sn, None);
        }
    }

    /// Empties the transmitting side; appends the SDUs to be forwarded to `out` in order.
    pub(super) fn forward(&mut self, mode: Forwarding, out: &mut Vec<Sdu>) {
        let start = out.len();
        if mode == Forwarding::Lossless {
            let mut at = 0;
            for pdu in &self.window {
                let end = at + pdu.segments as usize;
                if !pdu.is_acknowledged {
                    for segment in self.segments.range(at..end) {
                        if out[start..].last() != Some(&segment.sdu) {
                            out.push(segment.sdu);
                        }
                    }
                }
                at = end;
            }
        }
        let mut waiting = Vec::new();
        self.buffer
            .drain(mode == Forwarding::Lossless, &mut waiting);
        if mode != Forwarding::Discard {
            // The SDU that was sent in part may be in `out` already, by its part that is not confirmed.
            let listed = out[start..].last().copied();
            out.extend(waiting.into_iter().filter(|sdu| Some(*sdu) != listed));
        }
        *self = Self::new(self.config);
    }
}
