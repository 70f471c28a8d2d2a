//! Undecided losses: those whose kind depends on the queue, stored until the queue after them is known.
//!
//! Losses stay in order, so that decided ones wait behind undecided ones.

use std::collections::VecDeque;

use super::direction::Direction;
use super::full_queue::{self, LossCounts};
use super::loss::{Judgement, Loss};
use super::queue_delay::{HORIZON_NS, QueueDelays};

/// Maximum number of stored losses; further ones are decided by the data so far.
const MAX_LOSSES: usize = 4_096;
/// Maximum number of decided losses whose time and position are stored for later ones.
const PAST_LOSSES: usize = 64;

/// Losses of a direction in their order.
#[derive(Default)]
pub(super) struct Undecided {
    losses: VecDeque<(Loss, Option<Judgement>)>,
    /// Time and first byte of the latest decided losses.
    decided: VecDeque<(u64, u64)>,
    counts: LossCounts,
}

impl Undecided {
    /// Adds a loss; without a judgement the queue decides its kind.
    pub(super) fn push(&mut self, loss: Loss, judgement: Option<Judgement>) {
        self.losses.push_back((loss, judgement));
    }

    /// Returns whether losses can be decided. Those that the queue decides wait for twice the necessary time, so that many
    /// are decided at once.
    pub(super) fn is_due(&self, at_ns: u64) -> bool {
        self.losses.len() > MAX_LOSSES
            || self.losses.front().is_some_and(|(loss, judgement)| {
                judgement.is_some() || at_ns > loss.lost_ns.saturating_add(2 * HORIZON_NS)
            })
    }

    fn add_decided(&mut self, loss: &Loss) {
        if is_lost(loss) {
            if self.decided.len() == PAST_LOSSES {
                self.decided.pop_front();
            }
            self.decided.push_back((loss.lost_ns, loss.start));
        }
    }

    /// Returns time and first byte of these losses, and of the latest before them, in their order.
    fn positions_with(&self, losses: &VecDeque<(Loss, Option<Judgement>)>) -> Vec<(u64, u64)> {
        let lost = losses.iter().filter(|(loss, _)| is_lost(loss));
        let undecided = lost.map(|(loss, _)| (loss.lost_ns, loss.start));
        let mut positions: Vec<_> = undecided.chain(self.decided.iter().copied()).collect();
        positions.sort_unstable();
        positions
    }
}

fn is_lost(loss: &Loss) -> bool {
    !loss.is_reordering && loss.spurious.is_none()
}

impl Direction {
    /// Returns the delays of the queue on the side of the capture on which a segment was lost.
    pub(super) fn delays(&self, loss: &Loss) -> &QueueDelays {
        if loss.is_upstream {
            &self.near_queue
        } else {
            &self.queue
        }
    }

    /// Removes and returns the losses that can be decided at `at_ns`, with their judgements.
    pub(super) fn decide_losses(&mut self, at_ns: u64) -> Vec<(Loss, Judgement)> {
        let is_decided = |(_, judgement): &(Loss, Option<Judgement>)| judgement.is_some();
        let mut leaving = Vec::new();
        while let Some((loss, Some(judgement))) = self.undecided.losses.front().copied() {
            self.undecided.losses.pop_front();
            self.undecided.add_decided(&loss);
            leaving.push((loss, judgement));
        }
        if !self.undecided.is_due(at_ns) {
            return leaving;
        }
        let mut losses = core::mem::take(&mut self.undecided.losses);
        self.add_surroundings(&mut losses);
        let packet_ns = self.packet_ns();
        let mut counts = self.undecided.counts;
        for (loss, _) in losses.iter().filter(|loss| !is_decided(loss)) {
            counts.add(full_queue::evidence(loss, packet_ns));
        }
        let is_open = |(loss, _): &(Loss, Option<Judgement>)| {
            at_ns <= loss.lost_ns.saturating_add(HORIZON_NS)
        };
        let mut due = losses.iter().position(is_open).unwrap_or(losses.len());
        if losses.len() > MAX_LOSSES {
            due = due.max(MAX_LOSSES / 2);
        }
        self.undecided.losses = losses.split_off(due);
        self.undecided.counts.fade();
        for (loss, judgement) in losses {
            self.undecided.add_decided(&loss);
            let judgement = judgement.unwrap_or_else(|| {
                let evidence = full_queue::evidence(&loss, packet_ns);
                self.undecided.counts.add(evidence);
                let full_share = full_queue::share_as_full(self.delays(&loss), &loss, packet_ns);
                loss.judge_queue(evidence, counts.false_discovery_rate(full_share))
            });
            leaving.push((loss, judgement));
        }
        leaving
    }

    /// Adds to each loss the greatest queue and the number of other losses around it.
    fn add_surroundings(&self, losses: &mut VecDeque<(Loss, Option<Judgement>)>) {
        let positions = self.undecided.positions_with(losses);
        let lost_within = |at_ns: u64, within_ns: u64| {
            let first =
                positions.partition_point(|(time, _)| time.saturating_add(within_ns) < at_ns);
            let end =
                positions.partition_point(|(time, _)| *time <= at_ns.saturating_add(within_ns));
            &positions[first..end]
        };
        // Only data sent faster than the bottleneck overflow its queue.
        let burst_ns = full_queue::BURST_SEGMENTS * self.packet_ns();
        let burst_bytes = full_queue::BURST_SEGMENTS * self.longest_segment;
        for (loss, _) in losses.iter_mut().filter(|loss| loss.1.is_none()) {
            let delays = self.delays(loss);
            loss.queue.max_length = delays.max_length_around(loss.lost_ns);
            let rtt_ns = delays
                .near_ns(loss.queue.rtt_ns.unwrap_or(0))
                .max(1_000_000);
            let nearby = lost_within(loss.lost_ns, rtt_ns).len();
            loss.losses_nearby = nearby.saturating_sub(1) as u32;
            let is_beside = |(_, start): &&(u64, u64)| start.abs_diff(loss.start) <= burst_bytes;
            // Of losses before the capture only the time of the gap is known, which they share.
            let within_ns = if loss.is_upstream { 0 } else { burst_ns };
            let beside = lost_within(loss.lost_ns, within_ns)
                .iter()
                .filter(is_beside);
            loss.losses_beside = beside.count().saturating_sub(1) as u32;
        }
    }

    /// Returns the time that the bottleneck takes for a packet, by the highest rate of acknowledged bytes.
    pub(super) fn packet_ns(&self) -> u64 {
        let bytes_per_s = self.peak.bytes_per_s().max(1);
        self.longest_segment
            .min(1_500)
            .saturating_mul(1_000_000_000)
            / bytes_per_s
    }
}
