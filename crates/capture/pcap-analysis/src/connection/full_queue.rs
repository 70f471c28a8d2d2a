//! Full queue: classification of losses as overflow or random, by the delay around each of them.
//!
//! A queue overflows while it is full. So the packets around such a loss waited as long as any packet at about that time,
//! but for the time of one packet. A random loss happens at any delay. The number of random losses at a full queue
//! follows from the losses at other delays: the false discovery rate (Storey 2002, "A direct
//! approach to false discovery rates").

use super::loss::{Loss, Queue};
use super::queue_delay::QueueDelays;

/// Smallest share of the longest delay that shows a full queue.
const FULL_DELAY_SHARE: f64 = 0.85;
/// The same if other segments were lost with it, and the lower limit for queues of few packets.
const FULL_DELAY_SHARE_TOGETHER: f64 = 0.75;
/// Smallest share of the largest number of bytes that shows a full queue if other segments were lost with it.
const FULL_BYTES_SHARE: f64 = 0.7;
/// Number of other losses, within an RTT or next to it, that are expected of a full queue.
const EXPECTED_OTHER_LOSSES: u32 = 2;
/// Number of segments before and behind a loss, among which others are lost if a burst overflows a queue of few packets.
pub(super) const BURST_SEGMENTS: u64 = 3;
/// Minimum number of losses within an RTT that show an overflow.
const OVERFLOW_LOSSES: u32 = 4;
/// Minimum share of these losses in the packets in flight.
const BURST_SHARE: f64 = 0.05;
/// Minimum share of the greatest length of the queue at such a burst of losses.
const BURST_LENGTH: f64 = 0.5;
/// Longest delay that is no queue, but the noise of clocks and hosts, ns.
const NOISE_NS: u64 = 50_000;

/// Evidence about a loss from the queue around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum QueueEvidence {
    /// Many segments were lost at once.
    Burst,
    /// The queue was full; `is_burst`: many segments were lost at once.
    Full { is_burst: bool },
    /// The queue was not full.
    Short,
    /// No RTT sample is near.
    Unknown,
}

/// Returns the evidence of one loss; `packet_ns` is the time that the bottleneck takes for a packet.
pub(super) fn evidence(loss: &Loss, packet_ns: u64) -> QueueEvidence {
    let is_run = loss.losses_beside >= EXPECTED_OTHER_LOSSES;
    let is_burst = is_run
        || loss.losses_nearby >= OVERFLOW_LOSSES
            && f64::from(loss.losses_nearby) >= BURST_SHARE * f64::from(loss.packets_in_flight);
    let Some(share) = loss.queue.delay_share() else {
        return if is_burst {
            QueueEvidence::Burst
        } else {
            QueueEvidence::Unknown
        };
    };
    if loss.queue.max_length.delay_ns <= NOISE_NS {
        QueueEvidence::Short
    } else if is_full_by_delay(loss, packet_ns) || is_full_by_bytes(loss) {
        QueueEvidence::Full { is_burst }
    } else if is_run || is_burst && share.max(loss.queue.bytes_share()) >= BURST_LENGTH {
        QueueEvidence::Burst
    } else {
        QueueEvidence::Short
    }
}

fn is_full_by_delay(loss: &Loss, packet_ns: u64) -> bool {
    loss.queue.delay_share() >= Some(full_delay(loss, packet_ns))
}

/// Returns whether the bytes ahead of a loss show a full queue, which stay the same where the rate of a link changes.
fn is_full_by_bytes(loss: &Loss) -> bool {
    loss.queue.bytes_share() >= full_bytes(loss)
}

/// Returns the minimum share of the largest number of bytes at which a queue is full.
fn full_bytes(loss: &Loss) -> f64 {
    if loss.losses_nearby >= EXPECTED_OTHER_LOSSES {
        FULL_BYTES_SHARE
    } else {
        FULL_DELAY_SHARE
    }
}

/// Returns the minimum share of the longest delay at which a queue is full.
fn full_delay(loss: &Loss, packet_ns: u64) -> f64 {
    if loss.losses_nearby >= EXPECTED_OTHER_LOSSES {
        return FULL_DELAY_SHARE_TOGETHER;
    }
    full_delay_alone(loss, packet_ns)
}

/// Returns the same for a loss without others nearby.
fn full_delay_alone(loss: &Loss, packet_ns: u64) -> f64 {
    let packet = packet_ns as f64 / loss.queue.max_length.delay_ns.max(1) as f64;
    (FULL_DELAY_SHARE - packet).max(FULL_DELAY_SHARE_TOGETHER)
}

/// Number of losses at a full queue, and at shorter ones; halved by [`Self::fade`].
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct LossCounts {
    full: f64,
    short: f64,
}

impl LossCounts {
    pub(super) fn add(&mut self, evidence: QueueEvidence) {
        match evidence {
            QueueEvidence::Full { .. } => self.full += 1.0,
            QueueEvidence::Short => self.short += 1.0,
            QueueEvidence::Burst | QueueEvidence::Unknown => {}
        }
    }

    /// Halves the counts, so that old losses fade.
    pub(super) fn fade(&mut self) {
        self.full /= 2.0;
        self.short /= 2.0;
    }

    /// Returns the probability that a loss at a full queue is random; `full_share` is the share of packets that met
    /// such a queue. Half a loss is added as a prior.
    pub(super) fn false_discovery_rate(&self, full_share: f64) -> f64 {
        let odds = full_share / (1.0 - full_share).max(1e-3);
        ((self.short + 0.5) * odds / self.full.max(1.0)).min(1.0)
    }
}

/// Returns the share of packets that met a queue as full as that of the loss. The length from which a queue counts is
/// that for a single loss, if the loss has it, otherwise that for a loss among others.
pub(super) fn share_as_full(delays: &QueueDelays, loss: &Loss, packet_ns: u64) -> f64 {
    let threshold = |own: f64, alone: f64, among_others: f64| {
        if own >= alone { alone } else { among_others }
    };
    if let Some(own) = loss.queue.delay_share()
        && is_full_by_delay(loss, packet_ns)
    {
        let alone = full_delay_alone(loss, packet_ns);
        let share = threshold(own, alone, full_delay(loss, packet_ns));
        delays.share_from_delay((share * loss.queue.max_length.delay_ns as f64) as u64)
    } else {
        let share = threshold(loss.queue.bytes_share(), FULL_DELAY_SHARE, full_bytes(loss));
        delays.share_from_bytes((share * loss.queue.max_length.bytes as f64) as u64)
    }
}

impl Queue {
    /// Returns the delay as a share of the longest one at about that time.
    pub(super) fn delay_share(&self) -> Option<f64> {
        self.rtt_ns?;
        Some(ratio(self.length.delay_ns, self.max_length.delay_ns))
    }

    /// Returns the bytes as a share of the most at about that time.
    fn bytes_share(&self) -> f64 {
        ratio(self.length.bytes, self.max_length.bytes)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    (part as f64 / whole as f64).min(1.0)
}
