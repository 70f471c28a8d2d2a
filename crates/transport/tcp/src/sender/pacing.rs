//! Pacing and burst sizes, like in Linux.

use units::{Bytes, Duration, Instant};

use super::Sender;
use super::rtt::micros_between;
use crate::timer_wheel;
use cca::CaState;

/// Largest burst to a device (`sk_gso_max_size`: 64 KiB less room for the headers), bytes.
pub(super) const GSO_MAX_SIZE: u64 = 65_536 - 1 - 320;
/// Duration of a burst as a shift of the pacing rate, about a millisecond (`sk_pacing_shift`).
pub(super) const PACING_SHIFT: u32 = 10;
/// Shift of the RTT by which shorter RTTs allow larger bursts: one doubling per 512 µs (`tcp_tso_rtt_log`).
const TSO_RTT_LOG: u32 = 9;
/// Segments that a connection sends without pacing.
const UNPACED_SEGMENTS: u64 = 10;

/// Timer of the next burst (Linux's internal pacing).
#[derive(Clone, Debug, Default)]
pub(super) struct Pacer {
    /// Time at which the next burst may leave.
    pub(super) next: Instant,
    /// Whether data waits for that time.
    pub(super) is_waiting: bool,
}

impl Pacer {
    /// Returns the time of the next burst, if data waits for it.
    pub(super) fn deadline(&self) -> Instant {
        if self.is_waiting {
            self.next
        } else {
            Instant::NEVER
        }
    }
}

/// Burst that may leave now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Burst {
    /// Segments that the window and the burst size allow.
    pub(super) segments: u32,
    /// End of the data that it may take, without the FIN.
    pub(super) end: u64,
    /// Whether the segment that ends there has the push flag.
    pub(super) push: bool,
    /// Whether no unsent data follows.
    pub(super) is_last: bool,
}

impl Sender {
    /// Returns whether pacing is on.
    pub(super) fn is_paced(&self) -> bool {
        self.config.settings.pacing || self.congestion.window.paced
    }

    /// Returns the time until pacing releases the next burst, in whole ticks of a timer.
    pub(super) fn pacing_delay(&self, now: Instant) -> Duration {
        if self.is_paced() {
            timer_wheel::floor_to_tick(self.pacer.next.saturating_since(now))
        } else {
            Duration::ZERO
        }
    }

    /// Returns whether pacing delays the next burst, which then waits for the timer.
    pub(super) fn is_held_by_pacing(&mut self, now: Instant) -> bool {
        let is_held = self.is_paced() && !self.has_fair_queue() && self.pacer.next > now;
        self.pacer.is_waiting |= is_held;
        is_held
    }

    /// Returns whether the cap of the pacing rate (`SO_MAX_PACING_RATE`) delays the next burst.
    #[inline]
    pub(super) fn is_held_by_rate_cap(&self, now: Instant) -> bool {
        self.pacer.next > now
            && self.is_paced()
            && self.congestion.window.pacing_rate >= self.config.max_pacing_rate
    }

    /// Notes a burst of `bytes` of payload: the next one may leave when the pacing rate has sent it. A late burst shortens
    /// the wait by its delay, at most by half.
    pub(super) fn pace(&mut self, now: Instant, bytes: u64) {
        let delay = now.saturating_since(self.pacer.next);
        self.pacer.next = now.max(self.pacer.next);
        let rate = self
            .congestion
            .window
            .pacing_rate
            .min(self.config.max_pacing_rate);
        if rate.bits_per_second() == 0
            || !self.is_paced()
            || self.counts.segments < UNPACED_SEGMENTS
        {
            return;
        }
        let duration = rate.time_to_send(Bytes::new(bytes));
        self.pacer.next += duration.saturating_sub(delay.min(duration / 2));
    }

    /// Returns the segments of a burst: those that the pacing rate sends in a millisecond, more if the RTT is
    /// short (the kernel's `tcp_tso_autosize`).
    pub(super) fn burst_segments(&self) -> u32 {
        if let Some(segments) = self.config.settings.tso.segments() {
            return segments.max(1);
        }
        let mut bytes = (self.congestion.window.pacing_rate.bits_per_second() / 8) >> PACING_SHIFT;
        let shift = if self.rtt.min_rtt == Duration::MAX {
            u64::MAX
        } else {
            self.rtt.min_rtt.as_micros() >> TSO_RTT_LOG
        };
        if shift < 32 {
            bytes += GSO_MAX_SIZE >> shift;
        }
        let segments = (bytes.min(GSO_MAX_SIZE) / u64::from(self.config.mss)) as u32;
        let min_segments = self.config.min_burst_segments;
        segments
            .max(min_segments.unwrap_or_else(|| self.congestion.min_tso_segs()))
            .max(1)
    }

    /// Returns the burst that begins with the first unsent byte. `cwnd_room` is the room in the congestion window, segments.
    /// A burst that fits into the first skb ends with it at the latest.
    pub(super) fn next_burst(&mut self, cwnd_room: u32, max_segments: u32) -> Burst {
        let half = (self.congestion.window.cwnd / 2).max(1);
        let segments = cwnd_room.min(half).min(max_segments);
        let needed = self.seq.snd_nxt + u64::from(segments) * u64::from(self.config.mss);
        let (end, push) = self
            .buffer
            .grow_head(needed)
            .unwrap_or((self.seq.snd_nxt, false));
        Burst {
            segments,
            end,
            push,
            is_last: self.buffer.head_is_last(),
        }
    }

    /// Returns the limit of a burst that is deferred until the next ACK, so that it becomes larger; `None` if it leaves now
    /// (the kernel's `tcp_tso_should_defer`).
    pub(super) fn defer_limit(
        &self,
        now: Instant,
        burst: Burst,
        cwnd_room: u32,
        max_segments: u32,
    ) -> Option<BurstLimit> {
        let w = &self.congestion.window;
        let mss = u64::from(self.config.mss);
        let available = burst.end - self.seq.snd_nxt;
        if available <= mss || matches!(w.state, CaState::Recovery | CaState::Loss) {
            return None;
        }
        if now.saturating_since(self.pacer.next) > Duration::from_millis(1) {
            return None;
        }
        let send_window = self.seq.window_room();
        let cwnd_room = u64::from(cwnd_room) * mss;
        let limit = send_window.min(cwnd_room);
        if limit >= u64::from(max_segments) * mss || (!burst.is_last && limit >= available) {
            return None;
        }
        let window_share = self.seq.snd_wnd.min(u64::from(w.cwnd) * mss)
            / u64::from(self.config.burst_window_divisor.max(1));
        if limit >= window_share {
            return None;
        }
        // The next ACK must be due within a millisecond, or within half an RTT if that is less.
        let head = self.board.head()?;
        let srtt = self.rtt.srtt;
        let max_wait = (srtt / 2).min(Duration::from_millis(1));
        if micros_between(head.tx.sent_at, now) + max_wait < srtt {
            return None;
        }
        if cwnd_room < send_window && cwnd_room <= available {
            return Some(BurstLimit::CongestionWindow);
        }
        if cwnd_room >= send_window && send_window <= available {
            return Some(BurstLimit::OfferedWindow);
        }
        let has_fin = self.seq.fin_queued && burst.is_last;
        (!has_fin).then_some(BurstLimit::Application)
    }
}

/// Limit of a deferred burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BurstLimit {
    /// Congestion window.
    CongestionWindow,
    /// Window of the peer.
    OfferedWindow,
    /// Data that the application has written.
    Application,
}

#[cfg(test)]
mod tests;
