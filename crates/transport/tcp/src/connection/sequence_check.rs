//! Check of a segment's timestamp and sequence numbers (`tcp_validate_incoming`).

use units::{Duration, Instant};

use super::Connection;
use crate::segment::{Flags, Segment};
use crate::sequence::unwrap;

/// Ticks that a timestamp may be behind the latest one (`TCP_PAWS_WINDOW`).
const PAWS_WINDOW: i32 = 1;
/// Time after which the latest timestamp of the peer no longer counts (RFC 7323 §5.5; `TCP_PAWS_24DAYS`).
const MAX_TIMESTAMP_AGE: Duration = Duration::from_secs(24 * 24 * 3600);
/// Minimum time between two ACKs for unacceptable segments without data (`tcp_invalid_ratelimit`).
const OOW_ACK_INTERVAL: Duration = Duration::from_millis(500);

/// Response to a segment that PAWS discards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PawsResult {
    /// A duplicate ACK.
    Answered,
    /// None, because old ACKs are common.
    Ignored,
}

impl Connection {
    /// Returns whether a segment that begins at `seq` is acceptable. Another one is answered by a duplicate ACK (RFC 9293
    /// §3.10.7.4), with a D-SACK for data that has arrived before.
    pub(super) fn validate(&mut self, now: Instant, seq: u64, segment: &Segment) -> bool {
        let stale = self.paws_check(now, seq, segment);
        if stale.is_some_and(|_| !segment.flags.contains(Flags::RST)) {
            if stale == Some(PawsResult::Answered) {
                self.answer_unacceptable(now, seq, segment);
            }
            return false;
        }
        let len = u64::from(segment.sequence_len());
        let receiver = self.receiver.as_ref();
        if receiver.is_some_and(|receiver| receiver.is_acceptable(seq, len)) {
            return true;
        }
        if !segment.flags.contains(Flags::RST) {
            self.answer_unacceptable(now, seq, segment);
        }
        false
    }

    /// Protects against wrapped sequence numbers (PAWS, RFC 7323 §5.3): a segment whose timestamp is before the latest one
    /// in order is discarded. Returns the response to it.
    fn paws_check(&self, now: Instant, seq: u64, segment: &Segment) -> Option<PawsResult> {
        let (value, _) = segment.timestamps.filter(|_| self.tstamp_ok)?;
        if self.is_timestamp_recent(now, value, PAWS_WINDOW) {
            return None;
        }
        let ticks_behind = self.ts_recent.wrapping_sub(value) as i32;
        let rcv_nxt = self.receiver.as_ref()?.rcv_nxt;
        if segment.sequence_len() > 0 || !segment.flags.contains(Flags::ACK) || seq > rcv_nxt {
            return Some(PawsResult::Answered);
        }
        if seq < rcv_nxt {
            return Some(PawsResult::Ignored);
        }
        (!self.is_reordered_duplicate(seq, segment, ticks_behind)).then_some(PawsResult::Answered)
    }

    /// Returns whether a timestamp of the peer is at most `tolerance` ticks behind the latest one in order, or that is zero
    /// or too old for a comparison (the kernel's `tcp_paws_check`).
    pub(super) fn is_timestamp_recent(&self, now: Instant, value: u32, tolerance: i32) -> bool {
        self.ts_recent.wrapping_sub(value) as i32 <= tolerance
            || now.saturating_since(self.ts_recent_at) >= MAX_TIMESTAMP_AGE
            || self.ts_recent == 0
    }

    /// Returns whether an old pure ACK was overtaken and still counts: a duplicate that changes no window and cannot come
    /// from before the timestamps wrapped (the kernel's `tcp_disordered_ack_check`).
    fn is_reordered_duplicate(&self, seq: u64, segment: &Segment, ticks_behind: i32) -> bool {
        let ack = unwrap(self.sender.seq.snd_una, segment.ack);
        let window = u64::from(segment.window) << self.snd_wscale;
        // A clock of the peer has at most 1200 Hz.
        let max_ticks = self.sender.rto().as_millis() * 1200 / 1000;
        ack == self.sender.seq.snd_una
            && !self.sender.seq.may_update_window(ack, seq, window)
            && ticks_behind as u64 <= max_ticks
    }

    /// Answers an unacceptable segment; one without data or with a SYN, at most once in half a second.
    fn answer_unacceptable(&mut self, now: Instant, seq: u64, segment: &Segment) {
        let len = u64::from(segment.sequence_len());
        let is_rate_limited = len == 0 || segment.flags.contains(Flags::SYN);
        if is_rate_limited && !self.take_oow_token(now) {
            return;
        }
        if len == 0 {
            self.repeat_far_ack();
        }
        if let Some(receiver) = &mut self.receiver {
            receiver.on_unacceptable(seq, len);
        }
    }

    /// Returns whether an unacceptable segment may be answered now, at most once in half a second (the kernel's
    /// `tcp_oow_rate_limited`).
    pub(super) fn take_oow_token(&mut self, now: Instant) -> bool {
        let last = self.last_oow_ack;
        let due = last.is_none_or(|at| now.saturating_since(at) >= OOW_ACK_INTERVAL);
        if due {
            self.last_oow_ack = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests;
