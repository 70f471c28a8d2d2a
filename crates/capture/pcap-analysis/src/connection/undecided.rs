//! Undecided losses: those whose kind depends on the queue, stored until the time after them is known.
//!
//! Losses stay in order, so that others wait behind them.

use std::collections::VecDeque;

use super::direction::Direction;
use super::full_queue::{self, LossCounts};
use super::loss::{Judgement, Loss};
use super::queue_delay::{HORIZON_NS, QueueDelays};

/// Maximum number of stored losses; further ones are decided by the data so far.
const KEPT: usize = 4_096;
/// Number of times of classified losses that are stored for later ones.
const PAST_LOSSES: usize = 64;

/// Losses of a direction in their order.
#[derive(Default)]
pub(super) struct Undecided {
    losses: VecDeque<(Loss, Option<Judgement>)>,
    /// Times and starts of the latest losses that have left.
    noted: VecDeque<(u64, u64)>,
    tally: LossCounts,
}

impl Undecided {
    /// Adds a loss; without a judgement the queue decides its kind.
    pub(super) fn push(&mut self, loss: Loss, judgement: Option<Judgement>) {
        self.losses.push_back((loss, judgement));
    }

    /// Returns whether losses can be classified. Those that the queue decides wait for twice the time that has to be
    /// known, so that many are decided at once.
    pub(super) fn is_due(&self, at_ns: u64) -> bool {
        self.losses.len() > KEPT
            || self.losses.front().is_some_and(|(loss, judgement)| {
                judgement.is_some() || at_ns > loss.lost_ns.saturating_add(2 * HORIZON_NS)
            })
    }

    fn note(&mut self, loss: &Loss) {
        if is_lost(loss) {
            if self.noted.len() == PAST_LOSSES {
                self.noted.pop_front();
            }
            self.noted.push_back((loss.lost_ns, loss.start));
        }
    }

    /// Returns times and starts of these losses, and of the latest before them, in their order.
    fn places_with(&self, losses: &VecDeque<(Loss, Option<Judgement>)>) -> Vec<(u64, u64)> {
        let lost = losses.iter().filter(|(loss, _)| is_lost(loss));
        let kept = lost.map(|(loss, _)| (loss.lost_ns, loss.start));
        let mut places: Vec<_> = kept.chain(self.noted.iter().copied()).collect();
        places.sort_unstable();
        places
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

    /// Returns the losses that can leave at `at_ns`, with their judgements.
    pub(super) fn decide_losses(&mut self, at_ns: u64) -> Vec<(Loss, Judgement)> {
        let is_decided = |(_, judgement): &(Loss, Option<Judgement>)| judgement.is_some();
        let mut leaving = Vec::new();
        while let Some((loss, Some(judgement))) = self.undecided.losses.front().copied() {
            self.undecided.losses.pop_front();
            self.undecided.note(&loss);
            leaving.push((loss, judgement));
        }
        if !self.undecided.is_due(at_ns) {
            return leaving;
        }
        let mut losses = core::mem::take(&mut self.undecided.losses);
        self.look_around(&mut losses);
        let packet_ns = self.packet_ns();
        let mut tally = self.undecided.tally;
        for (loss, _) in losses.iter().filter(|each| !is_decided(each)) {
            tally.add(full_queue::evidence(loss, packet_ns));
        }
        let is_open = |(loss, _): &(Loss, Option<Judgement>)| {
            at_ns <= loss.lost_ns.saturating_add(HORIZON_NS)
        };
        let known = losses.iter().position(is_open).unwrap_or(losses.len());
        let due = if losses.len() > KEPT {
            known.max(KEPT / 2)
        } else {
            known
        };
        self.undecided.losses = losses.split_off(due);
        self.undecided.tally.fade();
        for (loss, judgement) in losses {
            self.undecided.note(&loss);
            let judgement = judgement.unwrap_or_else(|| {
                let evidence = full_queue::evidence(&loss, packet_ns);
                self.undecided.tally.add(evidence);
                let common = full_queue::share_as_full(self.delays(&loss), &loss, packet_ns);
                loss.judge_queue(evidence, tally.false_discovery_rate(common))
            });
            leaving.push((loss, judgement));
        }
        leaving
    }

    /// Completes each loss by the packets around it: the range of delays, and the number of other losses.
    fn look_around(&self, losses: &mut VecDeque<(Loss, Option<Judgement>)>) {
        let places = self.undecided.places_with(losses);
        let lost_within = |at_ns: u64, within_ns: u64| {
            let first = places.partition_point(|(time, _)| time.saturating_add(within_ns) < at_ns);
            let end = places.partition_point(|(time, _)| *time <= at_ns.saturating_add(within_ns));
            &places[first..end]
        };
        // Data sent no faster than the bottleneck does not overflow its queue.
        let burst_ns = full_queue::BURST_SEGMENTS * self.packet_ns();
        let burst_bytes = full_queue::BURST_SEGMENTS * self.segment;
        for (loss, _) in losses
            .iter_mut()
            .filter(|(_, judgement)| judgement.is_none())
        {
            let delays = self.delays(loss);
            loss.queue.ceiling = delays.ceiling(loss.lost_ns);
            let rtt_ns = delays.min_ns().unwrap_or(0).max(1_000_000);
            let nearby = lost_within(loss.lost_ns, rtt_ns).len();
            loss.losses_nearby = nearby.saturating_sub(1) as u32;
            let is_beside = |(_, start): &&(u64, u64)| start.abs_diff(loss.start) <= burst_bytes;
            let nearby = lost_within(loss.lost_ns, burst_ns).iter().filter(is_beside);
            // Before the capture, the time is the one at which the gap showed.
            if !loss.is_upstream {
                loss.losses_beside = nearby.count().saturating_sub(1) as u32;
            }
        }
    }

    /// Returns the time that the bottleneck takes for a packet, by the highest rate that came through.
    pub(super) fn packet_ns(&self) -> u64 {
        let bytes_per_s = self.peak.finish().max(1);
        self.segment.min(1_500).saturating_mul(1_000_000_000) / bytes_per_s
    }
}
