//! Validation of a segment's timestamp and sequence numbers, as in Linux (`tcp_validate_incoming`).

use units::{Duration, Instant};

use super::Connection;
use crate::segment::{Flags, Segment};
use crate::sequence::unwrap;

/// Steps of the clock that a timestamp may lie behind the latest one (`TCP_PAWS_WINDOW`).
const TOLERANCE: i32 = 1;
/// Time after which the latest timestamp of the peer no longer counts (RFC 7323 §5.5; `TCP_PAWS_24DAYS`).
const MAX_AGE: Duration = Duration::from_secs(24 * 24 * 3600);
/// Minimum time between two answers to segments without data that are not acceptable (`tcp_invalid_ratelimit`).
const ANSWER_INTERVAL: Duration = Duration::from_millis(500);

/// Reason to discard a segment by its timestamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PawsResult {
    /// A duplicate ACK reports it to the peer.
    Answered,
    /// Nothing: an old ACK is common.
    Ignored,
}

impl Connection {
    /// Returns whether a segment that begins at `seq` is acceptable. A segment that is not is answered by a
    /// duplicate ACK (RFC 9293 §3.10.7.4), with a D-SACK for data that is here already.
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

    /// Protects against wrapped sequence numbers (PAWS, RFC 7323 §5.3): a timestamp before the latest one in order
    /// makes a segment stale.
    fn paws_check(&self, now: Instant, seq: u64, segment: &Segment) -> Option<PawsResult> {
        let (value, _) = segment.timestamps.filter(|_| self.timestamps)?;
        if self.is_timestamp_recent(now, value, TOLERANCE) {
            return None;
        }
        let behind = self.ts_recent.wrapping_sub(value) as i32;
        let next = self.receiver.as_ref()?.rcv_nxt;
        if segment.sequence_len() > 0 || !segment.flags.contains(Flags::ACK) || seq > next {
            return Some(PawsResult::Answered);
        }
        if seq < next {
            return Some(PawsResult::Ignored);
        }
        (!self.is_reordered_duplicate(seq, segment, behind)).then_some(PawsResult::Answered)
    }

    /// Returns whether a timestamp of the peer is at most `tolerance` ticks behind the latest one in order. It also is if
    /// the latest one is zero or too old for a comparison (the kernel's `tcp_paws_check`).
    pub(super) fn is_timestamp_recent(&self, now: Instant, value: u32, tolerance: i32) -> bool {
        self.ts_recent.wrapping_sub(value) as i32 <= tolerance
            || now.saturating_since(self.ts_recent_at) >= MAX_AGE
            || self.ts_recent == 0
    }

    /// Returns whether a pure ACK `behind` steps old was overtaken and still counts: a duplicate that changes no window
    /// and cannot come from before the clock wrapped (the kernel's `tcp_disordered_ack_check`).
    fn is_reordered_duplicate(&self, seq: u64, segment: &Segment, behind: i32) -> bool {
        let ack = unwrap(self.sender.seq.snd_una, segment.ack);
        let window = u64::from(segment.window) << self.snd_wscale;
        // A clock of the peer has at most 1200 Hz.
        let replay = self.sender.rto().as_millis() * 1200 / 1000;
        ack == self.sender.seq.snd_una
            && !self.sender.seq.may_update_window(ack, seq, window)
            && behind as u64 <= replay
    }

    /// Answers a segment that is not acceptable; of those without data, one in half a second.
    fn answer_unacceptable(&mut self, now: Instant, seq: u64, segment: &Segment) {
        let len = u64::from(segment.sequence_len());
        let rare = len == 0 || segment.flags.contains(Flags::SYN);
        if rare && !self.take_oow_token(now) {
            return;
        }
        if len == 0 {
            self.repeat_far_ack();
        }
        if let Some(receiver) = &mut self.receiver {
            receiver.on_unacceptable(seq, len);
        }
    }

    /// Returns whether a segment without data may be answered now, which is then counted: one in half a second (the
    /// kernel's `tcp_oow_rate_limited`).
    pub(super) fn take_oow_token(&mut self, now: Instant) -> bool {
        let last = self.last_oow_ack;
        let due = last.is_none_or(|at| now.saturating_since(at) >= ANSWER_INTERVAL);
        if due {
            self.last_oow_ack = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests;
