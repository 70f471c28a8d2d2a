//! Full queue: whether the losses of a direction were an overflow or random, from the delay beside each of them.
//!
//! A queue drops what comes while it is full. So the packets beside such a loss waited as long as any packet around that
//! time, up to the time that one packet takes. A random loss happens at any delay. How many losses of a full queue are
//! random by chance follows from the losses at other delays: the false discovery rate (Storey 2002, "A direct approach
//! to false discovery rates").

use super::loss::{Loss, Queue};
use super::queue_delay::QueueDelays;

/// Smallest share of the longest delay that shows a full queue.
const FULL: f64 = 0.85;
/// The same if other segments were lost with it, and at least for queues of few packets.
const FULL_TOGETHER: f64 = 0.6;
/// Number of other losses within an RTT that are expected of a full queue.
const FEW: u32 = 2;
/// Number of losses within an RTT, and share of the packets in flight, that show a queue that overflowed.
const BURST: u32 = 4;
const BURST_SHARE: f64 = 0.05;
/// Smallest share of the longest delay for that.
const BURST_DELAY: f64 = 0.5;
/// Longest delay below which there is no queue, ns: the noise of clocks and hosts.
const NOISE_NS: u64 = 50_000;

/// Evidence of one loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Evidence {
    /// Many segments were lost at once.
    Burst,
    /// The queue was as long as ever, when many segments were lost at once or not.
    Full { is_burst: bool },
    /// It was shorter.
    Short,
    /// No RTT sample is near.
    Unknown,
}

/// Evidence of one loss; `packet_ns` is the time that the bottleneck takes for a packet.
pub(super) fn evidence(loss: &Loss, packet_ns: u64) -> Evidence {
    let is_burst = loss.losses_nearby >= BURST
        && f64::from(loss.losses_nearby) >= BURST_SHARE * f64::from(loss.packets_in_flight);
    let Some(share) = loss.queue.share() else {
        return if is_burst {
            Evidence::Burst
        } else {
            Evidence::Unknown
        };
    };
    if loss.queue.ceiling_ns <= NOISE_NS {
        return Evidence::Short;
    }
    if share >= threshold(loss, packet_ns) {
        Evidence::Full { is_burst }
    } else if is_burst && share >= BURST_DELAY {
        Evidence::Burst
    } else {
        Evidence::Short
    }
}

fn threshold(loss: &Loss, packet_ns: u64) -> f64 {
    if loss.losses_nearby >= FEW {
        return FULL_TOGETHER;
    }
    let packet = packet_ns as f64 / loss.queue.ceiling_ns.max(1) as f64;
    (FULL - packet).max(FULL_TOGETHER)
}

/// Losses at a full queue and at shorter ones.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Tally {
    full: f64,
    short: f64,
}

impl Tally {
    pub(super) fn add(&mut self, evidence: Evidence) {
        match evidence {
            Evidence::Full { .. } => self.full += 1.0,
            Evidence::Short => self.short += 1.0,
            Evidence::Burst | Evidence::Unknown => {}
        }
    }

    /// Halves the counts, so that old losses fade.
    pub(super) fn fade(&mut self) {
        self.full /= 2.0;
        self.short /= 2.0;
    }

    /// Returns the probability that a loss at a full queue is random: `common` is the share of the packets that met such
    /// a queue. One half of a loss stands for what is not known before the first one.
    pub(super) fn false_discovery_rate(&self, common: f64) -> f64 {
        let odds = common / (1.0 - common).max(1e-3);
        ((self.short + 0.5) * odds / self.full.max(1.0)).min(1.0)
    }
}

/// Share of the packets that waited as long as beside the loss, or longer.
pub(super) fn commonness(delays: &QueueDelays, loss: &Loss, packet_ns: u64) -> f64 {
    let level = threshold(loss, packet_ns) * loss.queue.ceiling_ns as f64;
    delays.share_from(level as u64)
}

impl Queue {
    /// Returns the delay as a share of the longest one around.
    pub(super) fn share(&self) -> Option<f64> {
        let delay = self.rtt_ns?.saturating_sub(self.min_ns);
        if self.ceiling_ns == 0 {
            return Some(0.0);
        }
        Some((delay as f64 / self.ceiling_ns as f64).min(1.0))
    }
}
