//! The retransmission queue: what was sent, when, and what is known of it.

use std::collections::VecDeque;

use units::Instant;

/// No neighbour in the list of transmissions.
const NONE: u64 = u64::MAX;

/// One transmitted segment that is not yet acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// First byte.
    pub(crate) seq: u64,
    /// Byte after the last one.
    pub(crate) end: u64,
    /// Time of the latest transmission.
    pub(crate) sent_at: Instant,
    /// For the rate sample: start of the send phase when this was sent.
    pub(crate) first_tx: Instant,
    /// For the rate sample: time of the latest delivery when this was sent.
    pub(crate) delivered_at: Instant,
    /// For the rate sample: segments delivered when this was sent.
    pub(crate) delivered: u64,
    /// For the rate sample: sent while the application limited the flow.
    pub(crate) app_limited: bool,
    /// For the rate sample: what was on the path when this was sent.
    pub(crate) load: Load,
    /// Carries the FIN, which takes the last number.
    pub(crate) fin: bool,
    /// Reported by SACK.
    pub(crate) sacked: bool,
    /// Deemed lost.
    pub(crate) lost: bool,
    /// Retransmitted, and the retransmission is in flight.
    pub(crate) retransmitted: bool,
    /// Retransmitted at any time.
    pub(crate) ever_retransmitted: bool,
    /// The last of those that left as one burst, in one piece of memory.
    ends_burst: bool,
    older: u64,
    newer: u64,
    in_time_order: bool,
}

impl Sent {
    /// Whether this transmission was made after one at `at` that ended at `end` (RFC 8985 §5.2:
    /// ties of time are broken by sequence).
    pub(crate) fn sent_after(&self, at: Instant, end: u64) -> bool {
        (self.sent_at, self.end) > (at, end)
    }
}

/// Segments in order of sequence, threaded in order of their latest transmission, with the counts
/// that Linux keeps (`packets_out`, `sacked_out`, `lost_out`, `retrans_out`).
///
/// A segment is addressed by its ordinal: the number of segments sent before it.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    queue: VecDeque<Sent>,
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

    /// Segments sent and not cumulatively acknowledged.
    pub(crate) fn packets_out(&self) -> u32 {
        self.queue.len() as u32
    }

    pub(crate) fn sacked_out(&self) -> u32 {
        self.sacked
    }

    pub(crate) fn lost_out(&self) -> u32 {
        self.lost
    }

    pub(crate) fn retrans_out(&self) -> u32 {
        self.retransmitted
    }

    /// Segments in the network (the kernel's `tcp_packets_in_flight`).
    pub(crate) fn in_flight(&self) -> u32 {
        self.packets_out() + self.retransmitted - self.sacked - self.lost
    }

    pub(crate) fn head(&self) -> Option<&Sent> {
        self.queue.front()
    }

    /// Ordinals of all segments in the queue.
    pub(crate) fn ordinals(&self) -> core::ops::Range<u64> {
        self.base..self.base + self.queue.len() as u64
    }

    pub(crate) fn get(&self, ordinal: u64) -> &Sent {
        &self.queue[(ordinal - self.base) as usize]
    }

    fn get_mut(&mut self, ordinal: u64) -> &mut Sent {
        &mut self.queue[(ordinal - self.base) as usize]
    }

    /// The first ordinal whose segment begins at or after `seq`.
    pub(crate) fn lower_bound(&self, seq: u64) -> u64 {
        self.base + self.queue.partition_point(|sent| sent.seq < seq) as u64
    }

    /// A new segment was sent.
    pub(crate) fn push(&mut self, sent: NewlySent) {
        let ordinal = self.ordinals().end;
        self.queue.push_back(Sent {
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
            older: NONE,
            newer: NONE,
            in_time_order: false,
        });
        self.append_to_time_order(ordinal);
    }

    /// The segments sent last left as one burst.
    pub(crate) fn end_burst(&mut self) {
        if let Some(sent) = self.queue.back_mut()
            && !sent.ends_burst
        {
            sent.ends_burst = true;
            self.bursts += 1;
        }
    }

    /// Bursts of which something is not cumulatively acknowledged.
    pub(crate) fn bursts_out(&self) -> u64 {
        self.bursts
    }

    /// Takes the oldest segment out, cumulatively acknowledged.
    pub(crate) fn pop(&mut self) -> Option<Sent> {
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

    /// Drops the acknowledged bytes of a segment that is only partly acknowledged.
    pub(crate) fn trim_head(&mut self, seq: u64) {
        if let Some(head) = self.queue.front_mut() {
            head.seq = head.seq.max(seq);
        }
    }

    /// SACK reports the segment.
    pub(crate) fn mark_sacked(&mut self, ordinal: u64) {
        self.remove_from_time_order(ordinal);
        let sent = self.get_mut(ordinal);
        let (lost, retransmitted) = (sent.lost, sent.retransmitted);
        (sent.sacked, sent.lost, sent.retransmitted) = (true, false, false);
        self.sacked += 1;
        self.lost -= u32::from(lost);
        self.retransmitted -= u32::from(retransmitted);
    }

    /// The segment, or its retransmission if that is in flight, is deemed lost. Answers whether a
    /// retransmission was.
    pub(crate) fn mark_lost(&mut self, ordinal: u64) -> bool {
        let sent = self.get_mut(ordinal);
        if sent.sacked || (sent.lost && !sent.retransmitted) {
            return false;
        }
        let newly = !sent.lost;
        let again = sent.retransmitted;
        (sent.lost, sent.retransmitted) = (true, false);
        self.lost += u32::from(newly);
        self.retransmitted -= u32::from(again);
        self.remove_from_time_order(ordinal);
        self.hint = self.hint.min(ordinal);
        again
    }

    /// The segment is transmitted again.
    pub(crate) fn mark_retransmitted(&mut self, ordinal: u64, stamp: NewlySent) {
        let sent = self.get_mut(ordinal);
        let newly = !sent.retransmitted;
        sent.retransmitted = true;
        self.retransmitted += u32::from(newly);
        self.mark_repeated(ordinal, stamp);
    }

    /// The segment is transmitted again as a probe, which does not count as in flight a second time.
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

    /// Nothing is deemed lost any more (undo).
    pub(crate) fn forget_losses(&mut self) {
        for ordinal in self.ordinals() {
            if self.get(ordinal).lost {
                self.get_mut(ordinal).lost = false;
                if !self.get(ordinal).in_time_order {
                    self.append_to_time_order(ordinal);
                }
            }
        }
        self.lost = 0;
    }

    /// The receiver dropped what it had reported (reneging, RFC 2018 §8).
    pub(crate) fn forget_sacks(&mut self) {
        for ordinal in self.ordinals() {
            self.get_mut(ordinal).sacked = false;
        }
        self.sacked = 0;
    }

    /// The first segment that is lost and not retransmitted.
    pub(crate) fn next_to_retransmit(&mut self) -> Option<u64> {
        if self.lost == 0 {
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

    /// How many segments from `first` on, at most `most`, are lost and left together: Linux retransmits
    /// what stands in one buffer as one burst.
    pub(crate) fn lost_together(&self, first: u64, most: u32) -> u32 {
        let at = self.get(first).sent_at;
        let end = self.ordinals().end.min(first + u64::from(most));
        let more = (first + 1..end).take_while(|&ordinal| {
            let sent = self.get(ordinal);
            sent.lost && !sent.retransmitted && sent.sent_at == at
        });
        1 + more.count() as u32
    }

    /// The segment whose latest transmission is the oldest, of those neither delivered nor lost.
    pub(crate) fn oldest_transmission(&self) -> Option<u64> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// The transmission after that of `ordinal`.
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

    fn remove_from_time_order(&mut self, ordinal: u64) {
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

/// A piece of the stream that one segment carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) seq: u64,
    pub(crate) end: u64,
    pub(crate) fin: bool,
}

/// What was on the path at a transmission (draft-ietf-ccwg-bbr-06 §4.1.2.2: `P.tx_in_flight`, `P.lost`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Segments in flight, this one included.
    pub(crate) in_flight: u32,
    /// Segments marked lost since establishment.
    pub(crate) lost: u64,
}

/// A transmission, as the rate sampler stamps it.
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
    pub(crate) load: Load,
}

#[cfg(test)]
mod tests;
