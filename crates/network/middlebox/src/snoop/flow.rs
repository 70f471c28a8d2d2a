//! Snoop flow: the cache of one connection and the state of its local recovery.

use std::collections::VecDeque;

use net::{HostId, Packet};
use tcp::{Flags, SackBlocks, Segment, SeqUnwrapper};
use units::{Duration, Instant};

/// Local retransmission time-out before the first RTT sample, and its bounds.
const INITIAL_TIMEOUT: Duration = Duration::from_millis(300);
const MIN_TIMEOUT: Duration = Duration::from_millis(40);
const MAX_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest time-out that results from doubling: the persist timer of the paper.
const MAX_BACKED_OFF_TIMEOUT: Duration = Duration::from_millis(200);
/// Retransmissions that may be outstanding at the start of a recovery (RFC 6928).
const INITIAL_WINDOW: usize = 10;
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

/// Transmission time and start of a copy. Transmissions of the same time are in the order of their data.
type Transmission = (Instant, u64);

impl CachedPacket {
    fn transmission(&self) -> Transmission {
        (self.sent_at, self.seq)
    }
}

/// Copies that an ACK reports for the first time.
#[derive(Default)]
struct Delivered {
    /// The last sent of those that were sent once.
    sent_once: Option<Transmission>,
    /// The last sent of those that were sent more than once; the ACK may be for any of their transmissions.
    resent: Option<Transmission>,
    /// Number of those that were retransmitted from the cache.
    repairs: usize,
}

impl Delivered {
    fn add(&mut self, copy: &CachedPacket) {
        let is_resent = copy.repairs > 0 || copy.resent_by_sender;
        let last = if is_resent {
            &mut self.resent
        } else {
            &mut self.sent_once
        };
        *last = (*last).max(Some(copy.transmission()));
        self.repairs += usize::from(copy.repairs > 0);
    }
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
    /// Time from which the time-out counts at the earliest.
    timer_start: Instant,
    /// Transmission time and start of the last sent of the delivered copies (RACK, RFC 8985).
    last_delivered: Transmission,
    /// Number of retransmissions that may be outstanding beyond the initial window; it grows as in slow start.
    window_growth: usize,
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
        let mut delivered = Delivered::default();
        if is_progress {
            self.remove_acknowledged(number, &mut delivered);
        }
        self.on_sack_blocks(segment, &mut delivered);
        self.on_delivered(now, &delivered);
        if self.is_congested() {
            // A queue behind the cache has overflowed: the sender has to react to that.
            return AckVerdict::Forward;
        }
        let has_losses = self.mark_losses();
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

    /// Removes acknowledged copies.
    fn remove_acknowledged(&mut self, number: u64, delivered: &mut Delivered) {
        self.acknowledged = number;
        self.backoff = 0;
        let count = self.cache.partition_point(|copy| copy.end <= number);
        let removed: Vec<_> = self.cache.drain(..count).collect();
        for copy in removed {
            self.cached_bytes -= copy.end - copy.seq;
            if !copy.sacked {
                delivered.add(&copy);
            }
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

    /// Marks copies that SACK blocks cover.
    fn on_sack_blocks(&mut self, segment: &Segment, delivered: &mut Delivered) {
        for &(left, right) in segment.sack.as_slice() {
            let edges = (
                self.stream.acknowledgement(left),
                self.stream.acknowledgement(right),
            );
            let (Some(left), Some(right)) = edges else {
                continue;
            };
            for copy in &mut self.cache {
                if !copy.sacked && left <= copy.seq && copy.end <= right {
                    copy.sacked = true;
                    copy.is_due = false;
                    delivered.add(copy);
                }
            }
        }
    }

    /// Handles the delivery of copies: an RTT sample, and what it says of those that were sent before.
    fn on_delivered(&mut self, now: Instant, delivered: &Delivered) {
        let is_first_try = |&(sent_at, _): &Transmission| {
            self.min_rtt
                .is_some_and(|min_rtt| now.saturating_since(sent_at) < min_rtt)
        };
        if let Some(sent_once) = delivered.sent_once {
            self.timer_start = now;
            self.add_rtt_sample(now.saturating_since(sent_once.0));
            if sent_once < self.last_delivered {
                // What counted as lost was late.
                self.cache.iter_mut().for_each(|copy| copy.is_due = false);
            }
            self.last_delivered = sent_once;
        } else if let Some(resent) = delivered.resent {
            self.timer_start = now;
            if !is_first_try(&resent) {
                self.last_delivered = self.last_delivered.max(resent);
                self.window_growth += delivered.repairs;
            }
        }
    }

    /// Marks lost copies as due: one that was sent later has been delivered. Returns whether there are any.
    fn mark_losses(&mut self) -> bool {
        let mut has_losses = false;
        for copy in self.cache.iter_mut().filter(|copy| !copy.sacked) {
            let is_overtaken = copy.transmission() < self.last_delivered;
            copy.is_due |= is_overtaken && !copy.resent_by_sender;
            has_losses |= copy.is_due;
        }
        if !has_losses {
            self.window_growth = 0;
        }
        has_losses
    }

    /// Returns the packets that have to be retransmitted now, and counts them as sent. The window of the recovery and the
    /// `room` in the queue behind the cache limit their number.
    pub(super) fn repairs(
        &mut self,
        now: Instant,
        room: Option<u64>,
    ) -> Vec<(Packet, Option<Vec<u8>>)> {
        let is_outstanding =
            |copy: &&CachedPacket| copy.repairs > 0 && !copy.sacked && !copy.is_due;
        let outstanding = self.cache.iter().filter(is_outstanding).count();
        let max = (INITIAL_WINDOW + self.window_growth).saturating_sub(outstanding);
        let max = room.map_or(max, |room| max.min(room as usize));
        let due = self.cache.iter_mut().filter(|copy| copy.is_due).take(max);
        due.map(|copy| {
            copy.is_due = false;
            copy.repairs += 1;
            copy.sent_at = now;
            (copy.packet, copy.payload.clone())
        })
        .collect()
    }

    /// Returns the size of the first packet that has to be retransmitted, bytes.
    pub(super) fn due_size(&self) -> Option<u32> {
        let mut due = self.cache.iter().filter(|copy| copy.is_due);
        due.next().map(|copy| copy.packet.size)
    }

    /// Returns the time at which the oldest copy that was not SACKed counts as lost.
    pub(super) fn deadline(&self) -> Instant {
        let oldest = self.cache.iter().find(|copy| !copy.sacked);
        oldest.map_or(Instant::NEVER, |copy| {
            copy.sent_at.max(self.timer_start) + self.timeout()
        })
    }

    fn timeout(&self) -> Duration {
        let rtt = self
            .srtt
            .map_or(INITIAL_TIMEOUT, |srtt| srtt + self.rttvar * 4)
            .clamp(MIN_TIMEOUT, MAX_TIMEOUT);
        let backed_off = rtt * (1 << self.backoff.min(6));
        backed_off.min(MAX_BACKED_OFF_TIMEOUT).max(rtt)
    }

    /// Handles the deadline: the oldest copy that was not SACKed is retransmitted, unless it waits in a queue. `has_queue`
    /// says whether there are packets in a visible queue behind the cache.
    pub(super) fn on_deadline(&mut self, now: Instant, has_queue: bool) {
        if self.deadline() > now {
            return;
        }
        self.backoff += 1;
        self.timer_start = now;
        if self.sees_queue && has_queue {
            return;
        }
        // Of a full queue there would be ACKs.
        self.latest_rtt = Duration::ZERO;
        if let Some(copy) = self.cache.iter_mut().find(|copy| !copy.sacked) {
            copy.is_due = true;
        }
    }
}
