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
    /// The sender sees it without the SACK blocks above a loss that the cache repairs.
    LessSack(Segment),
}

/// Packet on its way to the mobile host.
struct CachedPacket {
    seq: u64,
    end: u64,
    /// Its copy, with the payload; `None` if the cache was full, or if a visible queue behind it has dropped the packet.
    copy: Option<(Packet, Option<Vec<u8>>)>,
    /// When it last left the cache or passed it.
    sent: Transmission,
    /// Number of retransmissions from the cache.
    repairs: u32,
    /// Whether a SACK block has covered it.
    sacked: bool,
    /// Whether it has to be retransmitted now.
    is_due: bool,
    /// Whether the sender has retransmitted it.
    resent_by_sender: bool,
}

/// Number and time of a transmission.
type Transmission = (u64, Instant);

impl CachedPacket {
    /// Returns whether it has not arrived as far as is known, and can be retransmitted.
    fn is_missing(&self) -> bool {
        !self.sacked && self.copy.is_some()
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
        *last = (*last).max(Some(copy.sent));
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
    /// Losses before it are left to the sender, to which duplicate ACKs of one that the cache cannot repair have passed.
    recovery_end: u64,
    /// Latest and minimum RTT sample.
    latest_rtt: Duration,
    min_rtt: Option<Duration>,
    srtt: Option<Duration>,
    rttvar: Duration,
    /// Consecutive time-outs.
    backoff: u32,
    /// Time from which the time-out counts at the earliest.
    timer_start: Instant,
    /// Number of transmissions towards the mobile host, and the last of those that have been delivered (RACK, RFC 8985).
    transmissions: u64,
    last_delivered: u64,
    /// Number of retransmissions that may be outstanding beyond the initial window; it grows as in slow start.
    window_growth: usize,
}

impl SnoopFlow {
    /// Handles a data packet, and stores a copy if there is room in a cache of `max_bytes`.
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
        if self.end == 0 {
            // ACKs for the first data are duplicates.
            self.acknowledged = seq;
        }
        self.end = self.end.max(end);
        if end <= self.acknowledged {
            return;
        }
        self.transmissions += 1;
        let sent = (self.transmissions, now);
        if resent_by_sender {
            // When it has arrived, the sender infers from SACK blocks which of the data before it is lost (RACK).
            self.recovery_end = self.end;
            self.renew_timestamps(seq, segment);
        }
        let index = self.cache.partition_point(|copy| copy.seq < seq);
        if let Some(copy) = self.cache.get_mut(index)
            && copy.seq == seq
        {
            copy.sent = sent;
            copy.is_due = false;
            copy.resent_by_sender = true;
            return;
        }
        let fits = self.cached_bytes + u64::from(segment.len) <= max_bytes;
        if fits {
            self.cached_bytes += u64::from(segment.len);
        }
        let cached = CachedPacket {
            seq,
            end,
            copy: fits.then_some((*packet, payload)),
            sent,
            repairs: 0,
            sacked: false,
            is_due: false,
            resent_by_sender,
        };
        self.cache.insert(index, cached);
    }

    /// Gives the copies from `seq` on the timestamps of a retransmission, if these are later. The mobile host discards data
    /// with a timestamp before that of the data below it (PAWS, RFC 7323 section 5.3).
    fn renew_timestamps(&mut self, seq: u64, retransmission: &Segment) {
        let Some((latest, _)) = retransmission.timestamps else {
            return;
        };
        let above = self.cache.iter_mut().filter(|cached| cached.seq >= seq);
        for (packet, _) in above.filter_map(|cached| cached.copy.as_mut()) {
            let segment = packet.segment().copied().unwrap_or_default();
            let is_later = |(value, _)| latest.wrapping_sub(value) as i32 > 0;
            if segment.timestamps.is_some_and(is_later) {
                let timestamps = retransmission.timestamps;
                packet.payload = Segment {
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
        self.mark_losses();
        if !is_pure_ack {
            return AckVerdict::Forward;
        }
        let hidden = self.first_repaired();
        if !is_progress && hidden <= number {
            return AckVerdict::Suppress;
        }
        let mut sack = SackBlocks::EMPTY;
        for &(left, right) in segment.sack.as_slice() {
            let start = self.stream.acknowledgement(left);
            if start.is_none_or(|start| start < hidden) {
                sack.push(left, right);
            }
        }
        if sack == segment.sack {
            AckVerdict::Forward
        } else {
            AckVerdict::LessSack(Segment { sack, ..*segment })
        }
    }

    /// Returns the start of the first loss that the cache repairs; the sender must not infer it.
    fn first_repaired(&self) -> u64 {
        let mut unsacked = self.cache.iter().filter(|cached| !cached.sacked);
        let repaired = unsacked.find(|cached| {
            cached.seq >= self.recovery_end && (cached.is_due || cached.repairs > 0)
        });
        repaired.map_or(u64::MAX, |cached| cached.seq)
    }

    /// Removes acknowledged copies.
    fn remove_acknowledged(&mut self, number: u64, delivered: &mut Delivered) {
        self.acknowledged = number;
        self.backoff = 0;
        let count = self.cache.partition_point(|copy| copy.end <= number);
        let removed: Vec<_> = self.cache.drain(..count).collect();
        for copy in removed {
            if copy.copy.is_some() {
                self.cached_bytes -= copy.end - copy.seq;
            }
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
        if let Some((sent_once, sent_at)) = delivered.sent_once {
            self.timer_start = now;
            self.add_rtt_sample(now.saturating_since(sent_at));
            if sent_once < self.last_delivered {
                // What counted as lost was late.
                self.cache.iter_mut().for_each(|copy| copy.is_due = false);
            }
            self.last_delivered = sent_once;
        } else if let Some((resent, sent_at)) = delivered.resent {
            self.timer_start = now;
            let rtt = now.saturating_since(sent_at);
            let is_first_try = self.min_rtt.is_some_and(|min_rtt| rtt < min_rtt);
            if !is_first_try {
                self.last_delivered = self.last_delivered.max(resent);
                self.window_growth += delivered.repairs;
            }
        }
    }

    /// Marks lost packets as due, unless they are left to the sender: one that was sent later has been delivered.
    fn mark_losses(&mut self) {
        let is_congested = self.is_congested();
        let mut has_losses = false;
        for cached in self.cache.iter_mut().filter(|cached| !cached.sacked) {
            if cached.sent.0 < self.last_delivered {
                if cached.seq >= self.recovery_end && (is_congested || cached.copy.is_none()) {
                    self.recovery_end = self.end;
                }
                cached.is_due |= cached.seq >= self.recovery_end;
            }
            has_losses |= cached.is_due;
        }
        if !has_losses {
            self.window_growth = 0;
        }
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
        let due = self
            .cache
            .iter_mut()
            .filter(|cached| cached.is_due)
            .take(max);
        due.filter_map(|cached| {
            cached.is_due = false;
            cached.repairs += 1;
            self.transmissions += 1;
            cached.sent = (self.transmissions, now);
            cached.copy.clone()
        })
        .collect()
    }

    /// Returns the size of the first packet that has to be retransmitted, bytes.
    pub(super) fn due_size(&self) -> Option<u32> {
        let mut due = self.cache.iter().filter(|cached| cached.is_due);
        due.find_map(|cached| cached.copy.as_ref().map(|(packet, _)| packet.size))
    }

    /// Returns the time at which the oldest copy that was not SACKed counts as lost.
    pub(super) fn deadline(&self) -> Instant {
        let oldest = self.cache.iter().find(|cached| cached.is_missing());
        oldest.map_or(Instant::NEVER, |cached| {
            cached.sent.1.max(self.timer_start) + self.timeout()
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
        let mut cache = self.cache.iter_mut();
        if let Some(oldest) = cache.find(|cached| cached.is_missing()) {
            oldest.is_due = true;
        }
    }
}
