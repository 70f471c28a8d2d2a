//! SACK (RFC 2018) and D-SACK (RFC 2883) of incoming ACKs.

use units::Instant;

use super::{AckEffects, AckInput, Sender};
use cca::CaState;

impl Sender {
    /// Marks the segments that the SACK blocks newly report (the kernel's `tcp_sacktag_write_queue`). `prior_una` is
    /// `snd_una` before this ACK.
    pub(super) fn process_sacks(
        &mut self,
        now: Instant,
        input: &AckInput<'_>,
        prior_una: u64,
        effects: &mut AckEffects,
    ) {
        let mut blocks = input.sack;
        if let Some(&first) = blocks.first()
            && is_dsack(first, blocks.get(1), input.ack)
        {
            self.check_dsack(first, prior_una, effects);
            blocks = &blocks[1..];
        }
        if self.board.packets_out() == 0 {
            return;
        }
        // In order of sequence, so that the segment marked last is the newest.
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

    /// Marks the part of `left..right` that no cached block covers; `lowest_new` becomes the lowest number that shows
    /// reordering.
    fn mark_range(
        &mut self,
        now: Instant,
        left: u64,
        right: u64,
        cache: &[(u64, u64)],
        effects: &mut AckEffects,
        lowest_new: &mut u64,
    ) {
        if let Some((&(cached_left, cached_right), rest)) = cache.split_first() {
            if cached_left < cached_right && cached_left < right && left < cached_right {
                if left < cached_left {
                    self.mark_range(now, left, cached_left, rest, effects, lowest_new);
                }
                if cached_right < right {
                    self.mark_range(now, cached_right, right, rest, effects, lowest_new);
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

    /// Handles a D-SACK, by which the receiver reports data that arrived twice (the kernel's `tcp_check_dsack`).
    fn check_dsack(&mut self, (left, right): (u64, u64), prior_una: u64, effects: &mut AckEffects) {
        let mss = u64::from(self.config.mss);
        if left >= right || right > self.seq.snd_nxt {
            return;
        }
        let segments = (right - left).div_ceil(mss);
        if segments == 1 {
            effects.dsack_of_probe = self.tlp.ended_at(right);
        }
        self.reordering.dsack_dups += segments;
        if self.reordering.dsack_dups > self.counts.retransmissions {
            // More than was ever retransmitted: the network has duplicated data.
            effects.dsack_of_probe = false;
            return;
        }
        effects.dsack = true;
        self.rack.dsack_seen |= self.reordering.reord_seen > 0 && !effects.dsack_of_probe;
        // A duplicate was delivered, too.
        self.rate.delivered += segments;
        if right <= prior_una {
            self.undo.on_dsack(right, segments as u32);
            return;
        }
        for ordinal in self.board.within(left, right) {
            let sent = self.board.get(ordinal);
            if sent.ever_retransmitted {
                self.undo.on_dsack(sent.end, 1);
            }
        }
    }
}

/// Returns whether the first block is a D-SACK: it is covered by the cumulative ACK or by the second block (RFC 2883 §4).
fn is_dsack((left, right): (u64, u64), second: Option<&(u64, u64)>, ack: u64) -> bool {
    left < ack || second.is_some_and(|&(start, end)| start <= left && right <= end)
}
