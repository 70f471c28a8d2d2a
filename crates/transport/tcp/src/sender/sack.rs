//! Selective acknowledgements (RFC 2018) and duplicate ones (D-SACK, RFC 2883).

use units::Instant;

use super::{AckEffects, AckInput, Sender};
use cca::CaState;

impl Sender {
    /// Marks the segments that the SACK blocks newly report. The cumulative ACK is already noted; `prior_una`
    /// is its previous value.
    pub(super) fn process_sacks(
        &mut self,
        now: Instant,
        input: &AckInput<'_>,
        prior_una: u64,
        effects: &mut AckEffects,
    ) {
        let mut blocks = input.sack;
        if let Some(&first) = blocks.first()
            && is_duplicate(first, blocks.get(1), input.ack)
        {
            self.check_dsack(first, prior_una, effects);
            blocks = &blocks[1..];
        }
        if self.board.packets_out() == 0 {
            return;
        }
        // In order of sequence, so that the last segment found is the newest.
        let mut ordered = [(0, 0); 4];
        let ordered = &mut ordered[..blocks.len()];
        ordered.copy_from_slice(blocks);
        ordered.sort_unstable();
        let mut lowest_new = u64::MAX;
        let mut cache = core::mem::take(&mut self.sack_cache);
        for &(left, right) in ordered.iter() {
            if left >= right || left <= self.seq.snd_una || right > self.seq.snd_nxt {
                continue;
            }
            self.mark_range(now, left, right, &cache, effects, &mut lowest_new);
        }
        if self.congestion.window.state != CaState::Loss || self.undo.is_possible() {
            self.reordering.check_sack(lowest_new, self.config.mss);
        }
        cache.clear();
        cache.extend_from_slice(blocks);
        self.sack_cache = cache;
    }

    /// Marks the part of `left..right` that no cached block covers.
    fn mark_range(
        &mut self,
        now: Instant,
        left: u64,
        right: u64,
        cache: &[(u64, u64)],
        effects: &mut AckEffects,
        lowest_new: &mut u64,
    ) {
        if let Some((&(known_left, known_right), rest)) = cache.split_first() {
            if known_left < known_right && known_left < right && left < known_right {
                if left < known_left {
                    self.mark_range(now, left, known_left, rest, effects, lowest_new);
                }
                if known_right < right {
                    self.mark_range(now, known_right, right, rest, effects, lowest_new);
                }
            } else {
                self.mark_range(now, left, right, rest, effects, lowest_new);
            }
            return;
        }
        for ordinal in self.board.within(left, right) {
            let sent = *self.board.get(ordinal);
            if sent.sacked {
                continue;
            }
            if !sent.ever_retransmitted {
                if sent.seq < self.reordering.highest_sacked {
                    *lowest_new = (*lowest_new).min(sent.seq);
                }
                effects.original_delivered |= sent.end <= self.recovery.high_seq;
                effects.first_sackt.get_or_insert(sent.tx.sent_at);
                effects.last_sackt = Some(sent.tx.sent_at);
            }
            self.rack.advance(now, &sent, self.rtt.min_rtt);
            self.rate.on_delivered(&sent);
            self.rate.delivered += 1;
            self.board.mark_sacked(ordinal);
            self.reordering.highest_sacked = self.reordering.highest_sacked.max(sent.end);
            effects.data_sacked = true;
        }
    }

    /// Handles a report that the receiver got data twice (the kernel's `tcp_check_dsack`).
    fn check_dsack(&mut self, (left, right): (u64, u64), prior_una: u64, effects: &mut AckEffects) {
        let mss = u64::from(self.config.mss);
        if left >= right || right > self.seq.snd_nxt {
            return;
        }
        let segments = (right - left).div_ceil(mss);
        if segments == 1 {
            effects.dsack_of_probe = self.probe.ended_at(right);
        }
        self.reordering.dsack_dups += segments;
        if self.reordering.dsack_dups > self.counts.retransmissions {
            // More than was ever retransmitted: the network has duplicated it.
            effects.dsack_of_probe = false;
            return;
        }
        effects.dsack = true;
        self.rack.dsack_seen |= self.reordering.reord_seen > 0 && !effects.dsack_of_probe;
        // An unneeded segment was delivered all the same.
        self.rate.delivered += segments;
        if right <= prior_una {
            self.undo.duplicates_reported(right, segments as u32);
            return;
        }
        for ordinal in self.board.within(left, right) {
            let sent = self.board.get(ordinal);
            if sent.ever_retransmitted {
                self.undo.duplicates_reported(sent.end, 1);
            }
        }
    }
}

/// Returns whether the first block repeats data that was acknowledged, cumulatively or by the second block
/// (RFC 2883 §4).
fn is_duplicate(first: (u64, u64), second: Option<&(u64, u64)>, ack: u64) -> bool {
    first.0 < ack || second.is_some_and(|s| first.0 >= s.0 && first.1 <= s.1)
}
