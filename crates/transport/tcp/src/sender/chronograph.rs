//! Chronograph: the times of a sender under each limit. Sums of them are the times of `TCP_INFO`, as Linux counts them
//! (`tcp_chrono_start`, `tcp_chrono_stop`, `tcp_get_info_chrono_stats`).

use cca::{CaState, LimitTimes, SendLimit};
use units::Instant;

use super::Sender;
use super::chrono::PhaseTimes;
use super::transmit::Push;

/// Times of a sender under each limit.
pub(super) type Chronograph = PhaseTimes<SendLimit, { SendLimit::COUNT }>;

impl Chronograph {
    /// Starts the chronograph of a limit, unless one of higher priority runs (`tcp_chrono_start`).
    pub(super) fn start(&mut self, now: Instant, limit: SendLimit) {
        let current = self.current;
        if limit > current && !(limit.is_busy() && current.is_busy()) {
            self.enter(now, limit);
        }
    }
}

impl Sender {
    /// Returns the times under each limit until `now`.
    pub(crate) fn limit_times(&self, now: Instant) -> LimitTimes {
        LimitTimes::new(|limit| self.chronograph.time(now, limit))
    }

    /// Stops the chronograph of a limit: the sender is idle, or busy under another limit (`tcp_chrono_stop`).
    pub(super) fn stop_limit(&mut self, now: Instant, limit: SendLimit) {
        let current = self.chronograph.current;
        if self.seq.all_acked() {
            if current != SendLimit::NotBegun {
                self.chronograph.enter(now, SendLimit::Idle);
            }
        } else if limit == current {
            let limit = self.current_busy_limit(now);
            self.chronograph.enter(now, limit);
        }
    }

    /// Returns the limit of a busy sender by its present state.
    fn current_busy_limit(&self, now: Instant) -> SendLimit {
        let has_more = self.seq.has_unsent() || self.buffer.nospace;
        let has_room = self.congestion.window.cwnd > self.board.in_flight();
        self.busy_limit(now, has_more, has_room)
    }

    /// Updates the limit of a busy sender after its timer has expired.
    pub(super) fn note_limit_after_timer(&mut self, now: Instant) {
        if self.chronograph.current.is_busy() {
            let limit = self.current_busy_limit(now);
            self.chronograph.enter(now, limit);
        }
    }

    /// Notes that the retransmission timer has expired. The sender has waited for it since the last ACK, or since its
    /// limit last changed. Linux's chronographs of a window and of the send buffer go on.
    pub(super) fn note_rto(&mut self, now: Instant) {
        let current = self.chronograph.current;
        let (waited_for, then) = match current {
            SendLimit::ReceiveWindow => (SendLimit::WindowTimeOut, current),
            SendLimit::SendBuffer => (SendLimit::BufferTimeOut, current),
            _ if current.is_busy() => (SendLimit::TimeOut, SendLimit::TimeOut),
            _ => return,
        };
        let start = self.last_ack.rcv_tstamp.max(self.chronograph.since);
        self.chronograph.enter(start, waited_for);
        self.chronograph.enter(now, then);
    }

    /// Returns the limit of a busy sender, which Linux does not tell apart. `has_more`: unsent data, or an application that
    /// waits for room in the send buffer; `has_room`: of the congestion window.
    #[inline]
    pub(super) fn busy_limit(&self, now: Instant, has_more: bool, has_room: bool) -> SendLimit {
        let w = &self.congestion.window;
        if w.state >= CaState::Recovery && self.is_recovery_limited(has_more, has_room) {
            SendLimit::Recovery
        } else if !has_more {
            SendLimit::InFlight
        } else if has_room && self.buffer.nospace && !self.seq.has_unsent() {
            SendLimit::FullBuffer
        } else if has_room && self.is_held_by_rate_cap(now) {
            SendLimit::Pacing
        } else if w.in_slow_start()
            && self.is_start_up()
            && !(has_room && self.is_held_by_nagle(now))
        {
            SendLimit::StartUp
        } else if has_room {
            self.limit_within_window(now)
        } else {
            SendLimit::CongestionWindow
        }
    }

    /// Returns whether a recovery limits the sender. Under a CCA that owns its window, it does only if the window is full or
    /// no other data waits.
    fn is_recovery_limited(&self, has_more: bool, has_room: bool) -> bool {
        !has_more || !has_room || !self.congestion.owns_window()
    }

    /// Returns whether slow start is a start-up: any, but only the first one of a CCA that owns its window.
    fn is_start_up(&self) -> bool {
        let congestion = &self.congestion;
        !congestion.owns_window()
            || (congestion.slow_start_exit().is_none()
                && ["startup", "slow_start"].contains(&congestion.mode()))
    }

    /// Returns the limit of data for which the congestion window has room.
    fn limit_within_window(&self, now: Instant) -> SendLimit {
        let unsent = self.seq.unsent();
        if self.waits_for_pacer(now) {
            SendLimit::Pacing
        } else if (1..u64::from(self.config.mss)).contains(&unsent) && self.next_fits() {
            // Nagle's algorithm delays a short segment until all is acknowledged.
            SendLimit::InFlight
        } else {
            SendLimit::CongestionWindow
        }
    }

    /// Returns whether Nagle's algorithm or `TCP_CORK` delays a short segment that pacing would release.
    fn is_held_by_nagle(&self, now: Instant) -> bool {
        (1..u64::from(self.config.mss)).contains(&self.seq.unsent())
            && self.nagle_check(Push::Pending)
            && self.next_fits()
            && !self.waits_for_pacer(now)
    }

    fn waits_for_pacer(&self, now: Instant) -> bool {
        self.is_paced() && self.pacer.next > now
    }
}
