//! Full queue: whether the losses of a direction were an overflow or random, from the delay around each of them.
//!
//! A queue drops what comes while it is full. So the packets around such a loss waited as long as any packet around
//! that time, up to the time that one packet takes. A random loss happens at any delay. How many losses of a full queue
//! are random by chance follows from the losses at other delays: the false discovery rate (Storey 2002, "A direct
//! approach to false discovery rates").

use super::loss::{Loss, Queue};
use super::queue_delay::QueueDelays;

/// Smallest share of the longest delay that shows a full queue.
const FULL_DELAY_SHARE: f64 = 0.85;
/// The same if other segments were lost with it, and at least for queues of few packets.
const FULL_TOGETHER: f64 = 0.75;
/// Smallest share of the most bytes that shows a full queue if other segments were lost with it.
const FULL_BYTES: f64 = 0.7;
/// Number of other losses, within an RTT or next to it, that are expected of a full queue.
const EXPECTED_OTHER_LOSSES: u32 = 2;
/// Segments before and behind a loss of which others were lost if a burst overflowed a queue of few packets.
pub(super) const BURST_SEGMENTS: u64 = 3;
/// Number of losses within an RTT, and share of the packets in flight, that show a queue that overflowed.
const OVERFLOW_LOSSES: u32 = 4;
const BURST_SHARE: f64 = 0.05;
/// Smallest share of the greatest length for that.
const BURST_LENGTH: f64 = 0.5;
/// Longest delay below which there is no queue, ns: the noise of clocks and hosts.
const NOISE_NS: u64 = 50_000;

/// QueueEvidence of one loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum QueueEvidence {
    /// Many segments were lost at once.
    Burst,
    /// The queue was as long as ever, when many segments were lost at once or not.
    Full { is_burst: bool },
    /// It was shorter.
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
    let Some(share) = loss.queue.share() else {
        return if is_burst {
            QueueEvidence::Burst
        } else {
            QueueEvidence::Unknown
        };
    };
    if loss.queue.ceiling.delay_ns <= NOISE_NS {
        QueueEvidence::Short
    } else if is_full_by_delay(loss, packet_ns) || is_full_by_bytes(loss) {
        QueueEvidence::Full { is_burst }
    } else if is_run || is_burst && share.max(loss.queue.share_of_bytes()) >= BURST_LENGTH {
        QueueEvidence::Burst
    } else {
        QueueEvidence::Short
    }
}

fn is_full_by_delay(loss: &Loss, packet_ns: u64) -> bool {
    loss.queue.share() >= Some(full_delay(loss, packet_ns))
}

/// Returns whether the bytes ahead of a loss show a full queue, which stay the same where the rate of a link changes.
fn is_full_by_bytes(loss: &Loss) -> bool {
    loss.queue.share_of_bytes() >= full_bytes(loss)
}

/// Returns the minimum share of the most bytes at which a queue is full.
fn full_bytes(loss: &Loss) -> f64 {
    if loss.losses_nearby >= EXPECTED_OTHER_LOSSES {
        FULL_BYTES
    } else {
        FULL_DELAY_SHARE
    }
}

/// Returns the minimum share of the longest delay at which a queue is full.
fn full_delay(loss: &Loss, packet_ns: u64) -> f64 {
    if loss.losses_nearby >= EXPECTED_OTHER_LOSSES {
        return FULL_TOGETHER;
    }
    full_delay_alone(loss, packet_ns)
}

/// Returns the same for a loss without others near it.
fn full_delay_alone(loss: &Loss, packet_ns: u64) -> f64 {
    let packet = packet_ns as f64 / loss.queue.ceiling.delay_ns.max(1) as f64;
    (FULL_DELAY_SHARE - packet).max(FULL_TOGETHER)
}

/// Losses at a full queue and at shorter ones.
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

    /// Returns the probability that a loss at a full queue is random; `common` is the share of packets that met such a
    /// queue. Half a loss is added as a prior.
    pub(super) fn false_discovery_rate(&self, common: f64) -> f64 {
        let odds = common / (1.0 - common).max(1e-3);
        ((self.short + 0.5) * odds / self.full.max(1.0)).min(1.0)
    }
}

/// Returns the share of packets that met a queue as full as that of the loss. The queue counts from the length that a
/// single loss needs, if the loss has it, otherwise from that of a loss among others.
pub(super) fn share_as_full(delays: &QueueDelays, loss: &Loss, packet_ns: u64) -> f64 {
    let level = |own: f64, alone: f64, needed: f64| if own >= alone { alone } else { needed };
    if let Some(own) = loss.queue.share()
        && is_full_by_delay(loss, packet_ns)
    {
        let alone = full_delay_alone(loss, packet_ns);
        let share = level(own, alone, full_delay(loss, packet_ns));
        delays.share_from_delay((share * loss.queue.ceiling.delay_ns as f64) as u64)
    } else {
        let share = level(
            loss.queue.share_of_bytes(),
            FULL_DELAY_SHARE,
            full_bytes(loss),
        );
        delays.share_from_bytes((share * loss.queue.ceiling.bytes as f64) as u64)
    }
}

impl Queue {
    /// Returns the delay as a share of the longest one around.
    pub(super) fn share(&self) -> Option<f64> {
        self.rtt_ns?;
        Some(share(self.length.delay_ns, self.ceiling.delay_ns))
    }

    /// Returns the bytes as a share of the most around.
    fn share_of_bytes(&self) -> f64 {
        share(self.length.bytes, self.ceiling.bytes)
    }
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 {
        return 0.0;
    }
    (part as f64 / of as f64).min(1.0)
}
