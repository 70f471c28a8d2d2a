//! Snoop flow: the cache of one connection and the state of its local recovery.

use std::collections::VecDeque;

use net::{HostId, Packet};
use tcp::{Flags, SackBlocks, Segment, SeqUnwrapper};
use units::{Duration, Instant};

/// Local retransmission time-out before the first RTT sample, and its bounds.
const INITIAL_TIMEOUT: Duration = Duration::from_millis(300);
const MIN_TIMEOUT: Duration = Duration::from_millis(40);
const MAX_TIMEOUT: Duration = Duration::from_secs(2);
/// The queue behind the cache counts as full if the local RTT exceeds twice its minimum by this margin.
const CONGESTION_MARGIN: Duration = Duration::from_millis(5);

/// Verdict on an ACK of the mobile host.
#[derive(Debug, PartialEq)]
pub(super) enum AckVerdict {
    /// It is forwarded unchanged.
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
    /// Time at which it last left the cache or passed it.
    sent_at: Instant,
    /// Number of retransmissions from the cache.
    repairs: u32,
    /// Whether a SACK block has covered it.
    sacked: bool,
    /// Whether it has to be retransmitted now.
    is_due: bool,
    /// Whether the sender has retransmitted it, so that the sender also has to repair its loss.
    resent_by_sender: bool,
}

/// Cache and recovery of one connection.
#[derive(Default)]
pub(super) struct SnoopFlow {
    /// Whether the queue behind the cache is visible; what it drops is then not cached.
    pub(super) sees_queue: bool,
    /// Host behind the wireless link.
    pub(super) mobile: HostId,
    stream: SeqUnwrapper,
    /// End of the data that has arrived.
    end: u64,
    cache: VecDeque<CachedPacket>,
    cached_bytes: u64,
    /// Highest acknowledgement number of the mobile host.
    acknowledged: u64,
    /// Latest and minimum RTT sample.
    latest_rtt: Duration,
    min_rtt: Option<Duration>,
    srtt: Option<Duration>,
    rttvar: Duration,
    /// Consecutive time-outs.
    backoff: u32,
}

impl SnoopFlow {
    /// Stores a copy of a data packet, if there is room in a cache of `max_bytes`.
    pub(super) fn on_data(
        &mut self,
        now: Instant,
        (packet, segment): (&Packet, &Segment),
        payload: Option<Vec<u8>>,
        max_bytes: u64,
    ) {
        let seq = self.stream.segment(segment.seq);
        let end = seq + u64::from(segment.len);
        let resent_by_sender = seq < self.end;
        self.end = self.end.max(end);
        if end <= self.acknowledged {
            return;
        }
        if resent_by_sender {
            self.renew_timestamps(seq, segment);
        }
        let index = self.cache.partition_point(|copy| copy.seq < seq);
        if let Some(copy) = self.cache.get_mut(index)
            && copy.seq == seq
        {
            // A retransmission by the sender.
            copy.sent_at = now;
            copy.resent_by_sender = true;
            return;
        }
        if self.cached_bytes + u64::from(segment.len) > max_bytes {
            return;
        }
        self.cached_bytes += u64::from(segment.len);
        let copy = CachedPacket {
            seq,
            end,
            packet: *packet,
            payload,
            sent_at: now,
            repairs: 0,
            sacked: false,
            is_due: false,
            resent_by_sender,
        };
        self.cache.insert(index, copy);
    }

    /// Gives the copies from `seq` on the timestamps of a retransmission, if these are later. The mobile host discards data
    /// with a timestamp before that of the data below it (PAWS, RFC 7323 section 5.3).
    fn renew_timestamps(&mut self, seq: u64, retransmission: &Segment) {
        let Some((latest, _)) = retransmission.timestamps else {
            return;
        };
        for copy in self.cache.iter_mut().filter(|copy| copy.seq >= seq) {
            let segment = copy.packet.segment().copied().unwrap_or_default();
            let is_later = |(value, _)| latest.wrapping_sub(value) as i32 > 0;
            if segment.timestamps.is_some_and(is_later) {
                let timestamps = retransmission.timestamps;
                copy.packet.payload = Segment {
                    timestamps,
                    ..segment
                }
                .into();
            }
        }
    }

    /// Handles an ACK of the mobile host.
    pub(super) fn on_ack(&mut self, now: Instant, segment: &Segment) -> AckVerdict {
        let rst_syn_fin = Flags::RST | Flags::SYN | Flags::FIN;
        let is_pure_ack = segment.flags.bits() & rst_syn_fin.bits() == 0 && segment.len == 0;
        let number = self.stream.acknowledgement(segment.ack);
        let Some(number) = number.filter(|_| segment.flags.contains(Flags::ACK)) else {
            return AckVerdict::Forward;
        };
        let is_progress = number > self.acknowledged;
        if is_progress {
            self.remove_acknowledged(now, number);
        }
        self.on_sack_blocks(now, segment);
        if self.is_congested() {
            // A queue behind the cache has overflowed: the sender has to react to that.
            return AckVerdict::Forward;
        }
        let has_losses = self.mark_losses(now);
        if !is_pure_ack {
            return AckVerdict::Forward;
        }
        let missing = self.cache.front().filter(|copy| copy.seq <= number);
        let covered = missing.is_some_and(|copy| !copy.resent_by_sender);
        if !covered || segment.sack.is_empty() && !has_losses && is_progress {
            AckVerdict::Forward
        } else if is_progress {
            AckVerdict::WithoutSack(Segment {
                sack: SackBlocks::EMPTY,
                ..*segment
            })
        } else if segment.sack.is_empty() {
            // Without SACK it may be a window update. Only during a repair it counts as a duplicate.
            let repairing = self.cache.front().is_some_and(|copy| copy.repairs > 0);
            if repairing || has_losses {
                AckVerdict::Suppress
            } else {
                AckVerdict::Forward
            }
        } else {
            AckVerdict::Suppress
        }
    }

    /// Removes acknowledged copies. The newest of them that was sent once gives an RTT sample.
    fn remove_acknowledged(&mut self, now: Instant, number: u64) {
        self.acknowledged = number;
        self.backoff = 0;
        let mut sample = None;
        while let Some(copy) = self.cache.front().filter(|copy| copy.end <= number) {
            if copy.repairs == 0 && !copy.sacked {
                sample = Some(now.saturating_since(copy.sent_at));
            }
            self.cached_bytes -= copy.end - copy.seq;
            self.cache.pop_front();
        }
        if let Some(sample) = sample {
            self.add_rtt_sample(sample);
        }
    }

    /// Returns whether losses are likely in an invisible queue behind the cache: packets wait there for longer than the
    /// link itself takes.
    fn is_congested(&self) -> bool {
        let is_above = |min_rtt| self.latest_rtt > min_rtt * 2 + CONGESTION_MARGIN;
        !self.sees_queue && self.min_rtt.is_some_and(is_above)
    }

    /// Smooths RTT samples (RFC 6298 section 2).
    fn add_rtt_sample(&mut self, sample: Duration) {
        self.latest_rtt = sample;
        self.min_rtt = Some(self.min_rtt.map_or(sample, |min_rtt| min_rtt.min(sample)));
        let Some(srtt) = self.srtt else {
            self.srtt = Some(sample);
            self.rttvar = sample / 2;
            return;
        };
        let deviation = sample.saturating_sub(srtt) + srtt.saturating_sub(sample);
        self.rttvar = self.rttvar.saturating_sub(self.rttvar / 4) + deviation / 4;
        self.srtt = Some(srtt.saturating_sub(srtt / 8) + sample / 8);
    }

    /// Marks copies that SACK blocks cover. The last of them that was sent once gives an RTT sample.
    fn on_sack_blocks(&mut self, now: Instant, segment: &Segment) {
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
                let newly_sacked = !copy.sacked && left <= copy.seq && copy.end <= right;
                if newly_sacked && copy.repairs == 0 {
                    sample = Some(now.saturating_since(copy.sent_at));
                }
                copy.sacked |= newly_sacked;
            }
        }
        if let Some(sample) = sample {
            self.add_rtt_sample(sample);
        }
    }

    /// Marks lost copies as due: a later one has overtaken them, and they were not retransmitted within the RTT, which
    /// doubles with each retransmission. Returns whether there are any.
    fn mark_losses(&mut self, now: Instant) -> bool {
        let Some(last) = self.cache.iter().rposition(|copy| copy.sacked) else {
            return false;
        };
        let last_sent_at = self.cache[last].sent_at;
        let rtt = self.srtt.unwrap_or(INITIAL_TIMEOUT);
        let mut has_losses = false;
        let holes = self.cache.range_mut(..last);
        for copy in holes.filter(|copy| !copy.sacked && !copy.resent_by_sender) {
            let overtaken = copy.repairs == 0 && copy.sent_at <= last_sent_at;
            let patience = (rtt + rtt / 4) * (1 << copy.repairs.saturating_sub(1).min(6));
            let lost_again =
                copy.repairs > 0 && now.saturating_since(copy.sent_at) > patience.min(MAX_TIMEOUT);
            copy.is_due |= overtaken || lost_again;
            has_losses |= copy.is_due;
        }
        has_losses
    }

    /// Returns the packets that have to be retransmitted now, and counts them as sent.
    pub(super) fn repairs(&mut self, now: Instant) -> Vec<(Packet, Option<Vec<u8>>)> {
        let due = self.cache.iter_mut().filter(|copy| copy.is_due);
        due.map(|copy| {
            copy.is_due = false;
            copy.repairs += 1;
            copy.sent_at = now;
            (copy.packet, copy.payload.clone())
        })
        .collect()
    }

    /// Returns the time at which the oldest copy that was not SACKed counts as lost.
    pub(super) fn deadline(&self) -> Instant {
        let oldest = self.cache.iter().find(|copy| !copy.sacked);
        oldest.map_or(Instant::NEVER, |copy| copy.sent_at + self.timeout())
    }

    fn timeout(&self) -> Duration {
        let rtt = self
            .srtt
            .map_or(INITIAL_TIMEOUT, |srtt| srtt + self.rttvar * 4);
        let backed_off = rtt.max(MIN_TIMEOUT) * (1 << self.backoff.min(6));
        backed_off.min(MAX_TIMEOUT)
    }

    /// Handles the deadline: the oldest copy that was not SACKed is retransmitted, unless it is likely to wait in a queue.
    /// `has_queue` says whether there are packets in a visible queue behind the cache.
    pub(super) fn on_deadline(&mut self, now: Instant, has_queue: bool) {
        if self.deadline() > now {
            return;
        }
        self.backoff += 1;
        let congested = self.is_congested() || self.sees_queue && has_queue;
        if let Some(copy) = self.cache.iter_mut().find(|copy| !copy.sacked) {
            copy.is_due = !congested;
            copy.sent_at = now;
        }
    }
}
