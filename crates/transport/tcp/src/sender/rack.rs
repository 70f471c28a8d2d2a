//! RACK: loss detection by time (RFC 8985), like in Linux.

use units::{Duration, Instant};

use super::reordering::INITIAL_REORDERING;
use super::rtt::micros_between;
use super::scoreboard::SentSegment;
use super::timers::{TIMEOUT_MIN, TimerKind};
use super::{AckEffects, Sender};
use cca::CaState;

/// Recoveries for which a widened reordering window lasts (RFC 8985 §6.2 step 4).
const REO_WND_PERSIST: u8 = 16;

/// Latest delivered transmission, and the reordering window.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// Time, end and RTT of the latest transmission that was delivered.
    sent_at: Instant,
    pub(super) end: u64,
    rtt: Duration,
    /// Whether the latest delivery has not been used to detect losses.
    pub(super) advanced: bool,
    /// Whether a D-SACK has arrived since the window was last widened.
    pub(super) dsack_seen: bool,
    /// Reordering window in quarters of the lowest RTT.
    reo_wnd_steps: u32,
    /// Recoveries for which the widened window still lasts.
    pub(super) reo_wnd_persist: u8,
    /// Delivery count when the window was last widened.
    widened_at: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            sent_at: Instant::ZERO,
            end: 0,
            rtt: Duration::ZERO,
            advanced: false,
            dsack_seen: false,
            reo_wnd_steps: 1,
            reo_wnd_persist: 0,
            widened_at: 0,
        }
    }
}

impl Rack {
    /// Handles the delivery of `sent` (RFC 8985 §6.2 steps 1 and 2).
    pub(super) fn advance(&mut self, now: Instant, sent: &SentSegment, min_rtt: Duration) {
        let rtt = micros_between(sent.tx.sent_at, now);
        if sent.ever_retransmitted && rtt < min_rtt {
            // The ACK is most likely for the original transmission.
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if sent.sent_after(self.sent_at, self.end) {
            (self.sent_at, self.end) = (sent.tx.sent_at, sent.end);
        }
    }

    /// Widens the reordering window after a D-SACK, once per round trip, and ends a widened window after 16 recoveries
    /// (RFC 8985 §6.2 step 4). `prior_delivered` is the delivery count when the latest delivered segment was sent.
    pub(super) fn update_reo_wnd(&mut self, prior_delivered: Option<u64>, delivered: u64) {
        let Some(prior_delivered) = prior_delivered else {
            return;
        };
        if prior_delivered < self.widened_at {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.dsack_seen = false;
            self.reo_wnd_steps = (self.reo_wnd_steps + 1).min(255);
            self.reo_wnd_persist = REO_WND_PERSIST;
            self.widened_at = delivered;
        } else if self.reo_wnd_persist == 0 {
            self.reo_wnd_steps = 1;
        }
    }

    /// Counts a recovery that was not undone.
    pub(super) fn on_recovery_end(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
    }

    /// Prolongs the widened window after a recovery that D-SACK has undone.
    pub(super) fn on_recovery_undone(&mut self) {
        self.reo_wnd_persist = (self.reo_wnd_persist + 1).min(REO_WND_PERSIST);
    }
}

impl Sender {
    /// Returns the reordering window: the time by which an undelivered segment may have been sent before a delivered one
    /// without being lost. Before any reordering was seen, it is zero in recovery or after three SACKs (RFC 8985 §6.2
    /// step 4).
    fn reo_wnd(&self) -> Duration {
        if self.reordering.reord_seen == 0 {
            let in_recovery = matches!(
                self.congestion.window.state,
                CaState::Recovery | CaState::Loss
            );
            if in_recovery
                || self.board.sacked_out >= INITIAL_REORDERING.min(self.reordering.degree)
            {
                return Duration::ZERO;
            }
        }
        let quarter = Duration::from_micros(self.rtt.min_rtt.as_micros() / 4);
        (quarter * u64::from(self.rack.reo_wnd_steps)).min(self.rtt.srtt)
    }

    /// Returns the time until `sent` counts as lost; zero if it already does.
    pub(super) fn time_until_lost(
        &self,
        now: Instant,
        sent: &SentSegment,
        window: Duration,
    ) -> Duration {
        let limit = self.rack.rtt + window;
        limit.saturating_sub(micros_between(sent.tx.sent_at, now))
    }

    /// Marks the losses that RACK detects, and sets the reordering timer for segments that are not yet decided (RFC 8985
    /// §6.2 step 5).
    pub(super) fn detect_loss(&mut self, now: Instant, effects: &mut AckEffects) {
        if self.is_reno() {
            self.mark_head_lost(effects.una_advanced);
            return;
        }
        if !self.rack.advanced || self.board.packets_out() == 0 {
            return;
        }
        self.rack.advanced = false;
        let (lost_retransmission, wait) = self.mark_losses(now);
        effects.lost_retransmission |= lost_retransmission;
        if let Some(wait) = wait {
            effects.set_xmit_timer = false;
            let wait = (wait + TIMEOUT_MIN).min(self.rto());
            self.start_timer(TimerKind::Reordering, now, wait);
        }
    }

    /// Marks losses. Returns whether a retransmission was among them, and the time after which all segments are decided.
    pub(super) fn mark_losses(&mut self, now: Instant) -> (bool, Option<Duration>) {
        let window = self.reo_wnd();
        let mut lost_retransmission = false;
        let mut wait: Option<Duration> = None;
        let mut next = self.board.oldest_transmission();
        while let Some(ordinal) = next {
            next = self.board.next_transmission(ordinal);
            let sent = *self.board.get(ordinal);
            if sent.lost && !sent.retransmitted {
                continue;
            }
            if sent.sent_after(self.rack.sent_at, self.rack.end)
                || (sent.tx.sent_at, sent.end) == (self.rack.sent_at, self.rack.end)
            {
                break;
            }
            let remaining = self.time_until_lost(now, &sent, window);
            if remaining.is_zero() {
                lost_retransmission |= self.mark_lost(ordinal);
                self.board.remove_from_time_order(ordinal);
            } else {
                wait = Some(wait.map_or(remaining, |longest: Duration| longest.max(remaining)));
            }
        }
        (lost_retransmission, wait)
    }
}

#[cfg(test)]
mod tests {
    use super::{REO_WND_PERSIST, Rack};
    use crate::config::TcpConfig;
    use crate::sender::test_sender::{FIRST, MSS, ack, established_sender};
    use cca::CaState;
    use units::{Duration, Instant};

    /// Linux `tcp_rack_mark_lost`: the timer counts ticks. A quarter of the RTT and two ticks are 14.5 ms, so 15 ticks;
    /// the tick in which the timer is set does not count.
    #[test]
    fn the_reordering_timer_ends_on_a_tick() {
        let rtt = Duration::from_millis(50);
        let (mut sender, start) = established_sender(TcpConfig::default(), rtt, 10 * MSS);
        let now = start + rtt + Duration::from_micros(300);
        ack(&mut sender, now, 0, &[(1, 2)], None);
        assert!(sender.waits_for_reordering());
        assert_eq!(
            sender.deadline(),
            Instant::ZERO + Duration::from_millis(116)
        );
    }

    /// Linux `tcp_rack_reo_timeout`: a loss that the timer finds begins a recovery, whose first retransmission the reduced
    /// window has room for.
    #[test]
    fn a_loss_that_the_timer_finds_begins_a_recovery() {
        let rtt = Duration::from_millis(50);
        let (mut sender, start) = established_sender(TcpConfig::default(), rtt, 10 * MSS);
        sender.output.queue.clear();
        ack(&mut sender, start + rtt, 0, &[(1, 2)], None);
        assert!(sender.output.queue.is_empty());
        let due = sender.deadline();
        sender.on_deadline(due);
        let window = &sender.congestion.window;
        assert_eq!(window.state, CaState::Recovery);
        // Eight in flight and the one that leaves.
        assert_eq!((window.cwnd, window.ssthresh, window.lost), (9, 5, 1));
        let retransmissions: Vec<_> = sender
            .output
            .queue
            .iter()
            .map(|out| (out.seq, out.is_retransmission))
            .collect();
        assert_eq!(retransmissions, [(FIRST, true)]);
        assert!(!sender.waits_for_reordering());
        assert!(sender.deadline() >= due + Duration::from_millis(200));
    }

    /// RFC 8985 §6.2 step 4: a D-SACK widens the window once per round trip, for sixteen recoveries.
    #[test]
    fn the_reordering_window_widens_once_per_round_trip_and_expires() {
        let mut rack = Rack {
            dsack_seen: true,
            ..Rack::default()
        };
        rack.update_reo_wnd(Some(10), 20);
        assert_eq!(rack.reo_wnd_steps, 2);
        rack.dsack_seen = true;
        rack.update_reo_wnd(Some(15), 30);
        assert_eq!(rack.reo_wnd_steps, 2, "sent before the window was widened");
        rack.dsack_seen = true;
        rack.update_reo_wnd(Some(25), 40);
        assert_eq!(rack.reo_wnd_steps, 3);
        for _ in 1..REO_WND_PERSIST {
            rack.on_recovery_end();
            rack.update_reo_wnd(Some(50), 60);
            assert_eq!(rack.reo_wnd_steps, 3);
        }
        rack.on_recovery_end();
        rack.update_reo_wnd(Some(50), 60);
        assert_eq!(rack.reo_wnd_steps, 1);
    }

    /// A recovery that was needless, as D-SACK shows, does not count against the widened window.
    #[test]
    fn an_undone_recovery_prolongs_the_widened_window() {
        let mut rack = Rack::default();
        rack.on_recovery_undone();
        assert_eq!(rack.reo_wnd_persist, 1);
        rack.on_recovery_end();
        assert_eq!(rack.reo_wnd_persist, 0);
        rack.reo_wnd_persist = REO_WND_PERSIST;
        rack.on_recovery_undone();
        assert_eq!(rack.reo_wnd_persist, REO_WND_PERSIST, "at most");
    }
}
