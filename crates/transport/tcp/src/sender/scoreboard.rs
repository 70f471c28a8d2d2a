//! Scoreboard: the retransmission queue with the state of each segment.

use core::ops::Range;
use std::collections::VecDeque;

use units::{Duration, Instant};

/// No ordinal, in the list of transmissions.
const NONE: u64 = u64::MAX;

/// Transmission of a segment, with the state of the rate sampler at that time (draft-cheng-iccrg-delivery-rate-estimation-02
/// §3.2; `tx_in_flight` and `lost`: draft-ietf-ccwg-bbr-06 §4.1.2.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    /// Time at which the segment leaves the host.
    pub(crate) sent_at: Instant,
    /// Start of the send phase.
    pub(crate) first_tx: Instant,
    /// Time of the latest delivery.
    pub(crate) delivered_at: Instant,
    /// Segments delivered since establishment.
    pub(crate) delivered: u64,
    /// Whether the application limits the connection.
    pub(crate) app_limited: bool,
    /// Segments in flight, including this one.
    pub(crate) tx_in_flight: u32,
    /// Segments marked lost since establishment.
    pub(crate) lost: u64,
}

/// Transmitted segment that is not yet acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentSegment {
    /// First byte.
    pub(crate) seq: u64,
    /// Byte after the last one.
    pub(crate) end: u64,
    /// Latest transmission.
    pub(crate) tx: Transmission,
    /// Whether it carries the FIN, which takes the last sequence number.
    pub(crate) fin: bool,
    /// Whether SACK has reported it.
    pub(crate) sacked: bool,
    /// Whether it counts as lost.
    pub(crate) lost: bool,
    /// Whether it was retransmitted and the retransmission is in flight.
    pub(crate) retransmitted: bool,
    /// Whether it was ever retransmitted.
    pub(crate) ever_retransmitted: bool,
    /// Whether it is the last segment of a burst, so that a socket buffer ends with it.
    pub(crate) ends_burst: bool,
    /// Whether it has the push flag.
    pub(crate) push: bool,
    /// Ordinals of the neighbours in the order of transmissions, or [`NONE`].
    older: u64,
    newer: u64,
    in_time_order: bool,
}

impl SentSegment {
    /// Returns whether this transmission was made after one at `at` that ended at `end`. Sequence numbers
    /// break ties (RFC 8985 §5.2).
    pub(crate) fn sent_after(&self, at: Instant, end: u64) -> bool {
        (self.tx.sent_at, self.end) > (at, end)
    }

    /// Returns the payload bytes.
    pub(crate) fn payload(&self) -> u32 {
        (self.end - self.seq) as u32 - u32::from(self.fin)
    }
}

/// Outstanding segments in order of sequence, linked in order of their latest transmission, with the counters of Linux.
///
/// The ordinal of a segment is the number of segments before it in the stream.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    queue: VecDeque<SentSegment>,
    /// Ordinal of the first segment of the queue.
    base: u64,
    /// Ordinals of the oldest and of the newest transmission, or [`NONE`].
    oldest: u64,
    newest: u64,
    /// Segments that SACK has reported, or duplicate ACKs of a peer without SACK.
    pub(crate) sacked_out: u32,
    /// Segments marked as lost.
    pub(crate) lost_out: u32,
    /// Retransmissions in flight.
    pub(crate) retrans_out: u32,
    /// Bursts that are not cumulatively acknowledged in full.
    pub(crate) bursts_out: u64,
    /// Ordinal before which no segment is to be retransmitted (`retransmit_skb_hint`).
    retransmit_hint: u64,
}

impl Scoreboard {
    pub(crate) fn new() -> Self {
        Self {
            queue: VecDeque::with_capacity(64),
            base: 0,
            oldest: NONE,
            newest: NONE,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            bursts_out: 0,
            retransmit_hint: 0,
        }
    }

    /// Returns the segments sent and not cumulatively acknowledged (`packets_out`).
    pub(crate) fn packets_out(&self) -> u32 {
        self.queue.len() as u32
    }

    /// Returns the segments in the network (the kernel's `tcp_packets_in_flight`).
    pub(crate) fn in_flight(&self) -> u32 {
        self.packets_out() + self.retrans_out - self.sacked_out - self.lost_out
    }

    /// Returns the oldest segment.
    pub(crate) fn head(&self) -> Option<&SentSegment> {
        self.queue.front()
    }

    /// Returns the ordinals of all segments in the queue.
    pub(crate) fn ordinals(&self) -> Range<u64> {
        self.base..self.base + self.queue.len() as u64
    }

    pub(crate) fn get(&self, ordinal: u64) -> &SentSegment {
        &self.queue[(ordinal - self.base) as usize]
    }

    fn get_mut(&mut self, ordinal: u64) -> &mut SentSegment {
        &mut self.queue[(ordinal - self.base) as usize]
    }

    /// Returns the ordinals of the segments that lie within `left..right` as a whole.
    pub(crate) fn within(&self, left: u64, right: u64) -> Range<u64> {
        let start = self.queue.partition_point(|sent| sent.seq < left);
        let len = self
            .queue
            .range(start..)
            .take_while(|sent| sent.end <= right);
        self.base + start as u64..self.base + (start + len.count()) as u64
    }

    /// Adds a new transmitted segment.
    pub(crate) fn push(&mut self, seq: u64, end: u64, fin: bool, tx: Transmission) {
        let ordinal = self.ordinals().end;
        self.queue.push_back(SentSegment {
            seq,
            end,
            tx,
            fin,
            sacked: false,
            lost: false,
            retransmitted: false,
            ever_retransmitted: false,
            ends_burst: false,
            push: false,
            older: NONE,
            newer: NONE,
            in_time_order: false,
        });
        self.append_to_time_order(ordinal);
    }

    /// Ends a burst with the segment sent last; `push` is its push flag.
    pub(crate) fn end_burst(&mut self, push: bool) {
        if let Some(sent) = self.queue.back_mut()
            && !sent.ends_burst
        {
            sent.push = push;
            sent.ends_burst = true;
            self.bursts_out += 1;
        }
    }

    /// Removes the oldest segment, which is cumulatively acknowledged.
    pub(crate) fn pop(&mut self) -> Option<SentSegment> {
        self.queue.front()?;
        self.remove_from_time_order(self.base);
        let sent = self.queue.pop_front()?;
        self.base += 1;
        self.retransmit_hint = self.retransmit_hint.max(self.base);
        self.sacked_out -= u32::from(sent.sacked);
        self.lost_out -= u32::from(sent.lost);
        self.retrans_out -= u32::from(sent.retransmitted);
        self.bursts_out -= u64::from(sent.ends_burst);
        Some(sent)
    }

    /// Drops the acknowledged bytes of a partly acknowledged segment.
    pub(crate) fn trim_head(&mut self, seq: u64) {
        if let Some(head) = self.queue.front_mut() {
            head.seq = head.seq.max(seq);
        }
    }

    /// Splits a segment at `seq` (the kernel's `tcp_fragment`). Both parts have its marks and its position in the order of
    /// transmissions.
    pub(crate) fn split(&mut self, ordinal: u64, seq: u64) {
        let moved = |other: u64| other + u64::from(other != NONE && other > ordinal);
        for sent in &mut self.queue {
            (sent.older, sent.newer) = (moved(sent.older), moved(sent.newer));
        }
        (self.oldest, self.newest) = (moved(self.oldest), moved(self.newest));
        self.retransmit_hint = moved(self.retransmit_hint);
        let first = self.get_mut(ordinal);
        let mut second = *first;
        first.end = seq;
        (first.fin, first.push, first.ends_burst) = (false, false, true);
        (second.seq, second.in_time_order) = (seq, false);
        let is_linked = first.in_time_order;
        self.queue
            .insert((ordinal + 1 - self.base) as usize, second);
        self.sacked_out += u32::from(second.sacked);
        self.lost_out += u32::from(second.lost);
        self.retrans_out += u32::from(second.retransmitted);
        self.bursts_out += 1;
        if is_linked {
            self.insert_into_time_order(ordinal + 1, ordinal);
        }
    }

    /// Marks a segment as reported by SACK.
    pub(crate) fn mark_sacked(&mut self, ordinal: u64) {
        self.remove_from_time_order(ordinal);
        let sent = self.get_mut(ordinal);
        let (lost, retransmitted) = (sent.lost, sent.retransmitted);
        (sent.sacked, sent.lost, sent.retransmitted) = (true, false, false);
        self.sacked_out += 1;
        self.lost_out -= u32::from(lost);
        self.retrans_out -= u32::from(retransmitted);
    }

    /// Marks the segment as lost, or its retransmission if the segment counts as lost already. Returns whether
    /// it was a retransmission (the kernel's `tcp_mark_skb_lost`).
    pub(crate) fn mark_lost(&mut self, ordinal: u64) -> bool {
        let sent = self.get_mut(ordinal);
        if sent.sacked || (sent.lost && !sent.retransmitted) {
            return false;
        }
        let is_first_loss = !sent.lost;
        sent.lost = true;
        // A retransmission whose loss mark an undo has cleared stays in flight.
        sent.retransmitted &= is_first_loss;
        self.lost_out += u32::from(is_first_loss);
        self.retrans_out -= u32::from(!is_first_loss);
        self.retransmit_hint = self.retransmit_hint.min(ordinal);
        !is_first_loss
    }

    /// Records a retransmission of the segment.
    pub(crate) fn mark_retransmitted(&mut self, ordinal: u64, tx: Transmission) {
        let sent = self.get_mut(ordinal);
        let is_new = !core::mem::replace(&mut sent.retransmitted, true);
        self.retrans_out += u32::from(is_new);
        self.mark_tlp(ordinal, tx);
    }

    /// Records a retransmission of the segment as a TLP, which does not count as in flight a second time.
    pub(crate) fn mark_tlp(&mut self, ordinal: u64, tx: Transmission) {
        self.remove_from_time_order(ordinal);
        let sent = self.get_mut(ordinal);
        sent.ever_retransmitted = true;
        sent.tx = tx;
        if !sent.sacked {
            self.append_to_time_order(ordinal);
        }
    }

    /// Moves the transmissions of all segments forward in time.
    pub(crate) fn postpone(&mut self, pause: Duration) {
        for sent in &mut self.queue {
            sent.tx.sent_at += pause;
            sent.tx.first_tx += pause;
            sent.tx.delivered_at += pause;
        }
    }

    /// Clears all loss marks (undo). As in Linux, retransmissions stay in flight, and what RACK has taken out of
    /// the order of transmissions stays out.
    pub(crate) fn clear_losses(&mut self) {
        for sent in &mut self.queue {
            sent.lost = false;
        }
        self.lost_out = 0;
    }

    /// Clears all SACK marks, because the receiver dropped reported data (reneging, RFC 2018 §8).
    pub(crate) fn clear_sacks(&mut self) {
        for ordinal in self.ordinals() {
            self.get_mut(ordinal).sacked = false;
        }
        self.sacked_out = 0;
    }

    /// Returns the first segment that is lost and not retransmitted. There is none while as many retransmissions
    /// are in flight as segments are lost (the kernel's `tcp_xmit_retransmit_queue`).
    pub(crate) fn next_to_retransmit(&mut self) -> Option<u64> {
        if self.retrans_out >= self.lost_out {
            return None;
        }
        let end = self.ordinals().end;
        while self.retransmit_hint < end {
            let sent = self.get(self.retransmit_hint);
            if sent.lost && !sent.retransmitted && !sent.sacked {
                return Some(self.retransmit_hint);
            }
            self.retransmit_hint += 1;
        }
        None
    }

    /// Returns the number of segments from ordinal `first` on, at most `max`, that are lost and were sent in one burst.
    /// Linux retransmits the contents of one skb as one burst.
    pub(crate) fn lost_together(&self, first: u64, max: u32) -> u32 {
        let sent_at = self.get(first).tx.sent_at;
        let end = self.ordinals().end.min(first + u64::from(max));
        let more = (first + 1..end).take_while(|&ordinal| {
            let sent = self.get(ordinal);
            sent.lost && !sent.retransmitted && sent.tx.sent_at == sent_at
        });
        1 + more.count() as u32
    }

    /// Returns the segment whose latest transmission is the oldest, of those neither delivered nor found lost by RACK.
    pub(crate) fn oldest_transmission(&self) -> Option<u64> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Returns the segment whose latest transmission follows that of `ordinal`.
    pub(crate) fn next_transmission(&self, ordinal: u64) -> Option<u64> {
        let next = self.get(ordinal).newer;
        (next != NONE).then_some(next)
    }

    /// Appends a segment to the order of transmissions.
    fn append_to_time_order(&mut self, ordinal: u64) {
        let newest = self.newest;
        let sent = self.get_mut(ordinal);
        (sent.older, sent.newer, sent.in_time_order) = (newest, NONE, true);
        if newest == NONE {
            self.oldest = ordinal;
        } else {
            self.get_mut(newest).newer = ordinal;
        }
        self.newest = ordinal;
    }

    /// Puts a segment into the order of transmissions right after another one.
    fn insert_into_time_order(&mut self, ordinal: u64, older: u64) {
        let newer = self.get(older).newer;
        let sent = self.get_mut(ordinal);
        (sent.older, sent.newer, sent.in_time_order) = (older, newer, true);
        self.get_mut(older).newer = ordinal;
        match newer {
            NONE => self.newest = ordinal,
            _ => self.get_mut(newer).older = ordinal,
        }
    }

    /// Removes a segment from the order of transmissions, until it is retransmitted.
    pub(crate) fn remove_from_time_order(&mut self, ordinal: u64) {
        let sent = self.get_mut(ordinal);
        if !sent.in_time_order {
            return;
        }
        sent.in_time_order = false;
        let (older, newer) = (sent.older, sent.newer);
        match older {
            NONE => self.oldest = newer,
            _ => self.get_mut(older).newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            _ => self.get_mut(newer).older = older,
        }
    }
}

#[cfg(test)]
mod tests;
