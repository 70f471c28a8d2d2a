//! Scoreboard: the retransmission queue with the state of each segment.

use std::collections::VecDeque;

use units::Instant;

/// Value that stands for no neighbour in the list of transmissions.
const NONE: u64 = u64::MAX;

/// Transmitted segment that is not yet acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentSegment {
    /// First byte.
    pub(crate) seq: u64,
    /// Byte after the last one.
    pub(crate) end: u64,
    /// Time of the latest transmission.
    pub(crate) sent_at: Instant,
    /// Start of the send phase at the transmission, for the rate sample.
    pub(crate) first_tx: Instant,
    /// Time of the latest delivery at the transmission, for the rate sample.
    pub(crate) delivered_at: Instant,
    /// Segments delivered at the transmission, for the rate sample.
    pub(crate) delivered: u64,
    /// Whether the application limited the connection at the transmission, for the rate sample.
    pub(crate) app_limited: bool,
    /// Load of the path at the transmission, for the rate sample.
    pub(crate) load: TxState,
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
    /// Whether it is the last segment of a burst in one buffer.
    pub(crate) ends_burst: bool,
    /// Whether it has the push flag.
    pub(crate) push: bool,
    older: u64,
    newer: u64,
    in_time_order: bool,
}

impl SentSegment {
    /// Returns whether this transmission was made after one at `at` that ended at `end`. Sequence numbers
    /// break ties (RFC 8985 §5.2).
    pub(crate) fn sent_after(&self, at: Instant, end: u64) -> bool {
        (self.sent_at, self.end) > (at, end)
    }
}

/// Segments in order of sequence, linked in order of their latest transmission, with the counters of Linux
/// (`packets_out`, `sacked_out`, `lost_out`, `retrans_out`).
///
/// The ordinal of a segment is the number of segments sent before it.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    queue: VecDeque<SentSegment>,
    base: u64,
    oldest: u64,
    newest: u64,
    sacked: u32,
    lost: u32,
    retransmitted: u32,
    bursts: u64,
    /// No segment before this ordinal waits for its retransmission.
    hint: u64,
}

impl Scoreboard {
    pub(crate) fn new() -> Self {
        Self {
            queue: VecDeque::with_capacity(64),
            base: 0,
            oldest: NONE,
            newest: NONE,
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            bursts: 0,
            hint: 0,
        }
    }

    /// Returns the segments sent and not cumulatively acknowledged.
    pub(crate) fn packets_out(&self) -> u32 {
        self.queue.len() as u32
    }

    pub(crate) fn sacked_out(&self) -> u32 {
        self.sacked
    }

    /// Sets the number of segments that have arrived out of order, where the peer does not report them.
    pub(crate) fn set_arrived(&mut self, segments: u32) {
        self.sacked = segments;
    }

    pub(crate) fn lost_out(&self) -> u32 {
        self.lost
    }

    pub(crate) fn retrans_out(&self) -> u32 {
        self.retransmitted
    }

    /// Returns the segments in the network (the kernel's `tcp_packets_in_flight`).
    pub(crate) fn in_flight(&self) -> u32 {
        self.packets_out() + self.retransmitted - self.sacked - self.lost
    }

    pub(crate) fn head(&self) -> Option<&SentSegment> {
        self.queue.front()
    }

    /// Returns the ordinals of all segments in the queue.
    pub(crate) fn ordinals(&self) -> core::ops::Range<u64> {
        self.base..self.base + self.queue.len() as u64
    }

    pub(crate) fn get(&self, ordinal: u64) -> &SentSegment {
        &self.queue[(ordinal - self.base) as usize]
    }

    /// Returns all segments, oldest first.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut SentSegment> {
        self.queue.iter_mut()
    }

    fn get_mut(&mut self, ordinal: u64) -> &mut SentSegment {
        &mut self.queue[(ordinal - self.base) as usize]
    }

    /// Returns the first ordinal whose segment begins at or after `seq`.
    pub(crate) fn lower_bound(&self, seq: u64) -> u64 {
        self.base + self.queue.partition_point(|sent| sent.seq < seq) as u64
    }

    /// Adds a new transmitted segment.
    pub(crate) fn push(&mut self, sent: NewlySent) {
        let ordinal = self.ordinals().end;
        self.queue.push_back(SentSegment {
            seq: sent.seq,
            end: sent.end,
            sent_at: sent.at,
            first_tx: sent.first_tx,
            delivered_at: sent.delivered_at,
            delivered: sent.delivered,
            app_limited: sent.app_limited,
            load: sent.load,
            fin: sent.fin,
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

    /// Marks the segments sent last as one burst, which ends with the push flag or not.
    pub(crate) fn end_burst(&mut self, push: bool) {
        if let Some(sent) = self.queue.back_mut()
            && !sent.ends_burst
        {
            sent.push = push;
            sent.ends_burst = true;
            self.bursts += 1;
        }
    }

    /// Returns the bursts that are not cumulatively acknowledged in full.
    pub(crate) fn bursts_out(&self) -> u64 {
        self.bursts
    }

    /// Removes the oldest segment, which is cumulatively acknowledged.
    pub(crate) fn pop(&mut self) -> Option<SentSegment> {
        self.queue.front()?;
        self.remove_from_time_order(self.base);
        let sent = self.queue.pop_front()?;
        self.base += 1;
        self.hint = self.hint.max(self.base);
        self.sacked -= u32::from(sent.sacked);
        self.lost -= u32::from(sent.lost);
        self.retransmitted -= u32::from(sent.retransmitted);
        self.bursts -= u64::from(sent.ends_burst);
        Some(sent)
    }

    /// Drops the acknowledged bytes of a partly acknowledged segment.
    pub(crate) fn trim_head(&mut self, seq: u64) {
        if let Some(head) = self.queue.front_mut() {
            head.seq = head.seq.max(seq);
        }
    }

    /// Splits a segment at the number `at` (the kernel's `tcp_fragment`). Both parts have its marks and its position in
    /// the order of transmissions.
    pub(crate) fn split(&mut self, ordinal: u64, at: u64) {
        let moved = |number: u64| number + u64::from(number != NONE && number > ordinal);
        for sent in &mut self.queue {
            (sent.older, sent.newer) = (moved(sent.older), moved(sent.newer));
        }
        (self.oldest, self.newest) = (moved(self.oldest), moved(self.newest));
        self.hint = moved(self.hint);
        let first = self.get_mut(ordinal);
        let mut second = *first;
        first.end = at;
        (first.fin, first.push, first.ends_burst) = (false, false, true);
        (second.seq, second.in_time_order) = (at, false);
        let linked = first.in_time_order;
        self.queue
            .insert((ordinal + 1 - self.base) as usize, second);
        self.sacked += u32::from(second.sacked);
        self.lost += u32::from(second.lost);
        self.retransmitted += u32::from(second.retransmitted);
        self.bursts += 1;
        if linked {
            self.insert_into_time_order(ordinal + 1, ordinal);
        }
    }

    /// Marks a segment as reported by SACK.
    pub(crate) fn mark_sacked(&mut self, ordinal: u64) {
        self.remove_from_time_order(ordinal);
        let sent = self.get_mut(ordinal);
        let (lost, retransmitted) = (sent.lost, sent.retransmitted);
        (sent.sacked, sent.lost, sent.retransmitted) = (true, false, false);
        self.sacked += 1;
        self.lost -= u32::from(lost);
        self.retransmitted -= u32::from(retransmitted);
    }

    /// Marks the segment as lost, or its retransmission if the segment counts as lost already. Returns whether
    /// it was a retransmission (the kernel's `tcp_mark_skb_lost`). A retransmission whose loss mark an undo has
    /// cleared stays in flight.
    pub(crate) fn mark_lost(&mut self, ordinal: u64) -> bool {
        let sent = self.get_mut(ordinal);
        if sent.sacked || (sent.lost && !sent.retransmitted) {
            return false;
        }
        let newly = !sent.lost;
        sent.lost = true;
        sent.retransmitted &= newly;
        self.lost += u32::from(newly);
        self.retransmitted -= u32::from(!newly);
        self.hint = self.hint.min(ordinal);
        !newly
    }

    /// Records a retransmission of the segment.
    pub(crate) fn mark_retransmitted(&mut self, ordinal: u64, stamp: NewlySent) {
        let sent = self.get_mut(ordinal);
        let newly = !sent.retransmitted;
        sent.retransmitted = true;
        self.retransmitted += u32::from(newly);
        self.mark_repeated(ordinal, stamp);
    }

    /// Records a retransmission of the segment as a TLP, which does not count as in flight a second time.
    pub(crate) fn mark_repeated(&mut self, ordinal: u64, stamp: NewlySent) {
        self.remove_from_time_order(ordinal);
        let sent = self.get_mut(ordinal);
        sent.ever_retransmitted = true;
        sent.sent_at = stamp.at;
        sent.first_tx = stamp.first_tx;
        sent.delivered_at = stamp.delivered_at;
        sent.delivered = stamp.delivered;
        sent.app_limited = stamp.app_limited;
        sent.load = stamp.load;
        if !sent.sacked {
            self.append_to_time_order(ordinal);
        }
    }

    /// Clears all loss marks (undo). As in Linux, retransmissions stay in flight, and what RACK has taken out of
    /// the order of transmissions stays out.
    pub(crate) fn clear_losses(&mut self) {
        for sent in &mut self.queue {
            sent.lost = false;
        }
        self.lost = 0;
    }

    /// Clears all SACK marks, because the receiver dropped reported data (reneging, RFC 2018 §8).
    pub(crate) fn clear_sacks(&mut self) {
        for ordinal in self.ordinals() {
            self.get_mut(ordinal).sacked = false;
        }
        self.sacked = 0;
    }

    /// Returns the first segment that is lost and not retransmitted. There is none while as many retransmissions
    /// are in flight as segments are lost (the kernel's `tcp_xmit_retransmit_queue`). The counts differ by the
    /// retransmissions whose loss mark an undo has cleared.
    pub(crate) fn next_to_retransmit(&mut self) -> Option<u64> {
        if self.retransmitted >= self.lost {
            return None;
        }
        let end = self.ordinals().end;
        while self.hint < end {
            let sent = self.get(self.hint);
            if sent.lost && !sent.retransmitted && !sent.sacked {
                return Some(self.hint);
            }
            self.hint += 1;
        }
        None
    }

    /// Returns the number of segments from `first` on, at most `max`, that are lost and left together. Linux
    /// retransmits the contents of one buffer as one burst.
    pub(crate) fn lost_together(&self, first: u64, max: u32) -> u32 {
        let at = self.get(first).sent_at;
        let end = self.ordinals().end.min(first + u64::from(max));
        let more = (first + 1..end).take_while(|&ordinal| {
            let sent = self.get(ordinal);
            sent.lost && !sent.retransmitted && sent.sent_at == at
        });
        1 + more.count() as u32
    }

    /// Returns the segment with the oldest latest transmission among those neither delivered nor found lost by
    /// RACK.
    pub(crate) fn oldest_transmission(&self) -> Option<u64> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Returns the transmission after that of `ordinal`.
    pub(crate) fn next_transmission(&self, ordinal: u64) -> Option<u64> {
        let next = self.get(ordinal).newer;
        (next != NONE).then_some(next)
    }

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

/// Piece of the stream that one segment carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeqRange {
    pub(crate) seq: u64,
    pub(crate) end: u64,
    pub(crate) fin: bool,
}

/// Load of the path at a transmission (draft-ietf-ccwg-bbr-06 §4.1.2.2: `P.tx_in_flight`, `P.lost`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TxState {
    /// Segments in flight, including this one.
    pub(crate) in_flight: u32,
    /// Segments marked lost since establishment.
    pub(crate) lost: u64,
}

/// Transmission with the stamps of the rate sampler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewlySent {
    pub(crate) seq: u64,
    pub(crate) end: u64,
    pub(crate) fin: bool,
    pub(crate) at: Instant,
    pub(crate) first_tx: Instant,
    pub(crate) delivered_at: Instant,
    pub(crate) delivered: u64,
    pub(crate) app_limited: bool,
    pub(crate) load: TxState,
}

#[cfg(test)]
mod tests;
