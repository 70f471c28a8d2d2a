//! Recent acknowledgement: loss by time (RFC 8985), as Linux runs it.

use units::{Duration, Instant};

use super::loss::INITIAL_REORDERING;
use super::rtt::micros_between;
use super::scoreboard::Sent;
use super::{AckEffects, Sender};
use cca::CaState;

/// Recoveries for which a widened reordering window lasts (RFC 8985 §6.2 step 4).
const PERSISTENCE: u8 = 16;

/// The latest delivered transmission and the reordering window.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    sent_at: Instant,
    end: u64,
    rtt: Duration,
    pub(super) advanced: bool,
    pub(super) dsack_seen: bool,
    /// Reordering window in quarters of the lowest RTT.
    window_steps: u32,
    persistence: u8,
    /// Deliveries when the window was last widened.
    last_delivered: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            sent_at: Instant::ZERO,
            end: 0,
            rtt: Duration::ZERO,
            advanced: false,
            dsack_seen: false,
            window_steps: 1,
            persistence: 0,
            last_delivered: 0,
        }
    }
}

impl Rack {
    /// `sent` was delivered (RFC 8985 §6.2 steps 1 and 2).
    pub(super) fn advance(&mut self, now: Instant, sent: &Sent, min_rtt: Duration) {
        let rtt = micros_between(sent.sent_at, now);
        if sent.ever_retransmitted && rtt < min_rtt {
            // The ACK is most likely for the original transmission.
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if sent.sent_after(self.sent_at, self.end) {
            (self.sent_at, self.end) = (sent.sent_at, sent.end);
        }
    }

    /// A D-SACK widens the reordering window, once per round trip; a widened window does not last for
    /// ever (RFC 8985 §6.2 step 4). `prior` is the count of deliveries when the latest delivered segment
    /// was sent, `delivered` that of now.
    pub(super) fn adapt(&mut self, prior: Option<u64>, delivered: u64) {
        let Some(prior) = prior else { return };
        if prior < self.last_delivered {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.dsack_seen = false;
            self.window_steps = (self.window_steps + 1).min(255);
            self.persistence = PERSISTENCE;
            self.last_delivered = delivered;
        } else if self.persistence == 0 {
            self.window_steps = 1;
        }
    }

    /// A recovery ended, and was needed.
    pub(super) fn recovery_ended(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
    }

    /// A recovery was taken back by D-SACK: the widened window is wanted for longer.
    pub(super) fn recovery_undone(&mut self) {
        self.persistence = (self.persistence + 1).min(PERSISTENCE);
    }
}

impl Sender {
    /// How much later than a delivered segment an undelivered one may have been sent without being
    /// lost (RFC 8985 §6.2 step 4; zero in recovery or after three SACKs if nothing was reordered).
    fn reordering_window(&self) -> Duration {
        if !self.reordering_seen {
            let in_recovery = matches!(
                self.congestion.window.state,
                CaState::Recovery | CaState::Loss
            );
            if in_recovery || self.board.sacked_out() >= INITIAL_REORDERING.min(self.reordering) {
                return Duration::ZERO;
            }
        }
        let quarter = Duration::from_micros(self.rtt.minimum().as_micros() / 4);
        (quarter * u64::from(self.rack.window_steps)).min(self.rtt.srtt())
    }

    /// Time until `sent` counts as lost; zero if it does already.
    pub(super) fn time_until_lost(&self, now: Instant, sent: &Sent, window: Duration) -> Duration {
        let limit = self.rack.rtt + window;
        limit.saturating_sub(micros_between(sent.sent_at, now))
    }

    /// Marks what RACK deems lost and sets the reordering timer for what it cannot judge yet
    /// (RFC 8985 §6.2 step 5).
    pub(super) fn detect_loss(&mut self, now: Instant, effects: &mut AckEffects) {
        if !self.rack.advanced || self.board.packets_out() == 0 {
            return;
        }
        self.rack.advanced = false;
        let (lost_retransmission, wait) = self.mark_losses(now);
        effects.lost_retransmission |= lost_retransmission;
        if let Some(wait) = wait {
            effects.timer_is_due = false;
            let wait = wait + super::timers::TIMEOUT_MIN;
            self.timer.set_reordering(now + wait.min(self.rto()));
        }
    }

    /// Marks losses; answers whether a retransmission was among them and how long to wait for the
    /// ones that cannot be judged yet.
    pub(super) fn mark_losses(&mut self, now: Instant) -> (bool, Option<Duration>) {
        let window = self.reordering_window();
        let mut lost_retransmission = false;
        let mut wait: Option<Duration> = None;
        let mut at = self.board.oldest_transmission();
        while let Some(ordinal) = at {
            at = self.board.next_transmission(ordinal);
            let sent = *self.board.get(ordinal);
            if sent.sent_after(self.rack.sent_at, self.rack.end)
                || (sent.sent_at, sent.end) == (self.rack.sent_at, self.rack.end)
            {
                break;
            }
            let remaining = self.time_until_lost(now, &sent, window);
            if remaining.is_zero() {
                lost_retransmission |= self.mark_lost(ordinal);
            } else {
                wait = Some(wait.map_or(remaining, |longest: Duration| longest.max(remaining)));
            }
        }
        (lost_retransmission, wait)
    }
}

#[cfg(test)]
mod tests {
    use super::{PERSISTENCE, Rack};

    /// RFC 8985 §6.2 step 4: a D-SACK widens the window once per round trip, for sixteen recoveries.
    #[test]
    fn the_reordering_window_widens_once_per_round_trip_and_not_for_ever() {
        let mut rack = Rack {
            dsack_seen: true,
            ..Rack::default()
        };
        rack.adapt(Some(10), 20);
        assert_eq!(rack.window_steps, 2);
        rack.dsack_seen = true;
        rack.adapt(Some(15), 30);
        assert_eq!(rack.window_steps, 2, "sent before the window was widened");
        rack.dsack_seen = true;
        rack.adapt(Some(25), 40);
        assert_eq!(rack.window_steps, 3);
        for _ in 1..PERSISTENCE {
            rack.recovery_ended();
            rack.adapt(Some(50), 60);
            assert_eq!(rack.window_steps, 3);
        }
        rack.recovery_ended();
        rack.adapt(Some(50), 60);
        assert_eq!(rack.window_steps, 1);
    }
}
