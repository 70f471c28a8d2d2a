//! Snoop flow: the cache of one connection and the state of its local recovery.

use std::collections::VecDeque;

use net::{HostId, Packet};
use tcp::{Flags, SackBlocks, Segment, SeqUnwrapper};
use units::{Duration, Instant};

/// Local time-out before the first RTT sample, and its bounds.
const FIRST_TIMEOUT: Duration = Duration::from_millis(300);
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(40);
const MAX_TIMEOUT: Duration = Duration::from_secs(2);
/// Delay by which the local RTT exceeds twice its least value where a queue behind the cache is full.
const QUEUEING: Duration = Duration::from_millis(5);

/// Verdict on an ACK of the mobile host.
#[derive(Debug, PartialEq)]
pub(super) enum AckVerdict {
    /// It goes on as it is.
    Forward,
    /// The sender must not see it.
    Suppress,
    /// The sender sees it without SACK blocks.
    WithoutSack(Segment),
}

/// Copy of a packet on its way to the mobile host.
struct CachedPacket {
    seq: u64,
    end: u64,
    packet: Packet,
    payload: Option<Vec<u8>>,
    /// Time at which it last left here.
    at: Instant,
    /// Times that it was sent again from here.
    repairs: u32,
    /// Whether it has reached the mobile host, by a SACK block.
    arrived: bool,
    /// Whether it is to be sent again now.
    due: bool,
    /// Whether the sender has sent it again, so that its loss is the sender's to repair.
    by_sender: bool,
}

/// Cache and recovery of one connection.
#[derive(Default)]
pub(super) struct SnoopFlow {
    /// Whether data that the queue behind the cache drops is known, and so not in the cache.
    pub(super) sees_queue: bool,
    /// Host behind the wireless link.
    pub(super) mobile: HostId,
    stream: SeqUnwrapper,
    /// End of the data that has arrived.
    end: u64,
    cache: VecDeque<CachedPacket>,
    bytes: u64,
    /// Highest acknowledgement number of the mobile host.
    acknowledged: u64,
    /// Latest and least RTT sample.
    latest: Duration,
    min_rtt: Option<Duration>,
    srtt: Option<Duration>,
    variation: Duration,
    /// Consecutive time-outs.
    backoff: u32,
}

impl SnoopFlow {
    /// Keeps a copy of a data packet, if there is room in a cache of `max` bytes.
    pub(super) fn on_data(
        &mut self,
        now: Instant,
        (packet, segment): (&Packet, &Segment),
        payload: Option<Vec<u8>>,
        max: u64,
    ) {
        let seq = self.stream.segment(segment.seq);
        let end = seq + u64::from(segment.len);
        let by_sender = seq < self.end;
        self.end = self.end.max(end);
        if end <= self.acknowledged {
            return;
        }
        let place = self.cache.partition_point(|copy| copy.seq < seq);
        if let Some(copy) = self.cache.get_mut(place)
            && copy.seq == seq
        {
            // It is on its way again.
            copy.at = now;
            copy.by_sender = true;
            return;
        }
        if self.bytes + u64::from(segment.len) > max {
            return;
        }
        self.bytes += u64::from(segment.len);
        let copy = CachedPacket {
            seq,
            end,
            packet: *packet,
            payload,
            at: now,
            repairs: 0,
            arrived: false,
            due: false,
            by_sender,
        };
        self.cache.insert(place, copy);
    }

    /// Handles an ACK of the mobile host.
    pub(super) fn on_ack(&mut self, now: Instant, segment: &Segment) -> AckVerdict {
        let ends = Flags::RST | Flags::SYN | Flags::FIN;
        let plain = segment.flags.bits() & ends.bits() == 0 && segment.len == 0;
        let number = self.stream.acknowledgement(segment.ack);
        let Some(number) = number.filter(|_| segment.flags.contains(Flags::ACK)) else {
            return AckVerdict::Forward;
        };
        let progress = number > self.acknowledged;
        if progress {
            self.forget(now, number);
        }
        self.note_arrived(now, segment);
        if self.is_congested() {
            // A queue behind the cache has overflown: that is for the sender to know.
            return AckVerdict::Forward;
        }
        let repairs = self.find_losses(now);
        if !plain {
            return AckVerdict::Forward;
        }
        let missing = self.cache.front().filter(|copy| copy.seq <= number);
        let covered = missing.is_some_and(|copy| !copy.by_sender);
        if !covered || segment.sack.is_empty() && !repairs && progress {
            AckVerdict::Forward
        } else if progress {
            AckVerdict::WithoutSack(Segment {
                sack: SackBlocks::EMPTY,
                ..*segment
            })
        } else if segment.sack.is_empty() {
            // Without SACK it may be a window update: only a repair in progress makes it a duplicate.
            let repairing = self.cache.front().is_some_and(|copy| copy.repairs > 0);
            if repairing || repairs {
                AckVerdict::Suppress
            } else {
                AckVerdict::Forward
            }
        } else {
            AckVerdict::Suppress
        }
    }

    /// Removes what is acknowledged, and takes an RTT sample of the newest copy that was sent once.
    fn forget(&mut self, now: Instant, number: u64) {
        self.acknowledged = number;
        self.backoff = 0;
        let mut sample = None;
        while let Some(copy) = self.cache.front().filter(|copy| copy.end <= number) {
            if copy.repairs == 0 && !copy.arrived {
                sample = Some(now.saturating_since(copy.at));
            }
            self.bytes -= copy.end - copy.seq;
            self.cache.pop_front();
        }
        if let Some(sample) = sample {
            self.measure(sample);
        }
    }

    /// Returns whether losses are likely those of a queue behind the cache that is not seen: packets wait there for longer
    /// than the link itself takes.
    fn is_congested(&self) -> bool {
        let waits = |min_rtt| self.latest > min_rtt * 2 + QUEUEING;
        !self.sees_queue && self.min_rtt.is_some_and(waits)
    }

    /// Smooths RTT samples (RFC 6298 section 2).
    fn measure(&mut self, sample: Duration) {
        self.latest = sample;
        self.min_rtt = Some(self.min_rtt.map_or(sample, |min_rtt| min_rtt.min(sample)));
        let Some(srtt) = self.srtt else {
            self.srtt = Some(sample);
            self.variation = sample / 2;
            return;
        };
        let off = sample.saturating_sub(srtt) + srtt.saturating_sub(sample);
        self.variation = self.variation.saturating_sub(self.variation / 4) + off / 4;
        self.srtt = Some(srtt.saturating_sub(srtt / 8) + sample / 8);
    }

    /// Marks what SACK blocks report, and takes an RTT sample of what was sent once.
    fn note_arrived(&mut self, now: Instant, segment: &Segment) {
        let mut sample = None;
        for &(left, right) in segment.sack.as_slice() {
            let edges = (
                self.stream.acknowledgement(left),
                self.stream.acknowledgement(right),
            );
            let (Some(left), Some(right)) = edges else {
                continue;
            };
            for copy in &mut self.cache {
                let arrives = !copy.arrived && left <= copy.seq && copy.end <= right;
                if arrives && copy.repairs == 0 {
                    sample = Some(now.saturating_since(copy.at));
                }
                copy.arrived |= arrives;
            }
        }
        if let Some(sample) = sample {
            self.measure(sample);
        }
    }

    /// Marks copies as lost that a later one has overtaken, and that were not sent again within the RTT. Returns
    /// whether there are any.
    fn find_losses(&mut self, now: Instant) -> bool {
        let Some(last) = self.cache.iter().rposition(|copy| copy.arrived) else {
            return false;
        };
        let sent_at = self.cache[last].at;
        let rtt = self.srtt.unwrap_or(FIRST_TIMEOUT);
        let mut has_losses = false;
        let holes = self.cache.range_mut(..last);
        for copy in holes.filter(|copy| !copy.arrived && !copy.by_sender) {
            let overtaken = copy.repairs == 0 && copy.at <= sent_at;
            let lost_again = copy.repairs > 0 && now.saturating_since(copy.at) > rtt + rtt / 4;
            copy.due |= overtaken || lost_again;
            has_losses |= copy.due;
        }
        has_losses
    }

    /// Removes and returns the copies to be sent now.
    pub(super) fn repairs(&mut self, now: Instant) -> Vec<(Packet, Option<Vec<u8>>)> {
        let due = self.cache.iter_mut().filter(|copy| copy.due);
        due.map(|copy| {
            copy.due = false;
            copy.repairs += 1;
            copy.at = now;
            (copy.packet, copy.payload.clone())
        })
        .collect()
    }

    /// Returns the time at which the oldest copy counts as lost.
    pub(super) fn deadline(&self) -> Instant {
        let oldest = self.cache.iter().find(|copy| !copy.arrived);
        oldest.map_or(Instant::NEVER, |copy| copy.at + self.timeout())
    }

    fn timeout(&self) -> Duration {
        let rtt = self
            .srtt
            .map_or(FIRST_TIMEOUT, |srtt| srtt + self.variation * 4);
        let waited = rtt.max(SHORTEST_TIMEOUT) * (1 << self.backoff.min(6));
        waited.min(MAX_TIMEOUT)
    }

    /// Handles the deadline: the oldest copy that has not arrived is sent again, unless it is likely to wait: `queued` if
    /// there are packets in a queue behind the cache that is seen.
    pub(super) fn on_deadline(&mut self, now: Instant, queued: bool) {
        if self.deadline() > now {
            return;
        }
        self.backoff += 1;
        let congested = self.is_congested() || self.sees_queue && queued;
        if let Some(copy) = self.cache.iter_mut().find(|copy| !copy.arrived) {
            copy.due = !congested;
            copy.at = now;
        }
    }
}
