//! Signals of middleboxes: sender state of research mechanisms that Linux does not have.

use units::Instant;

/// State of suspension, of explicit loss notification and of data that is retained for another sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MiddleboxSignals {
    /// Time since which nothing is sent, because the link is interrupted.
    suspended_since: Option<Instant>,
    /// Whether the latest report of a loss said that it was on the radio.
    pub(super) radio_loss: bool,
    /// Threshold from before the current recovery, if that reduces nothing.
    eln_prior_ssthresh: Option<u32>,
    /// Lowest sequence number whose data is retained, if acknowledged data may be needed (AS-TCP).
    kept_from: Option<u64>,
}

impl MiddleboxSignals {
    /// Begins a suspension, unless there is one.
    pub(super) fn suspend(&mut self, now: Instant) {
        self.suspended_since.get_or_insert(now);
    }

    /// Returns whether the sender is suspended.
    pub(super) fn is_suspended(&self) -> bool {
        self.suspended_since.is_some()
    }

    /// Ends the suspension. Returns the time at which it began, if there was one.
    pub(super) fn resume(&mut self) -> Option<Instant> {
        self.suspended_since.take()
    }

    /// Begins a recovery without reduction, and stores the threshold from before it.
    pub(super) fn start_eln(&mut self, ssthresh: u32) {
        self.eln_prior_ssthresh = Some(ssthresh);
    }

    /// Returns whether the current recovery reduces nothing.
    pub(super) fn is_eln_recovery(&self) -> bool {
        self.eln_prior_ssthresh.is_some()
    }

    /// Ends a recovery that reduces nothing. Returns the threshold from before it, if there was one.
    pub(super) fn end_eln(&mut self) -> Option<u32> {
        self.eln_prior_ssthresh.take()
    }

    /// Keeps data from `number` on, although it may be acknowledged.
    pub(super) fn retain_from(&mut self, number: u64) {
        self.kept_from = Some(number);
    }

    /// Returns the lowest sequence number whose data is retained, at most `snd_una`.
    pub(super) fn retained_from(&self, snd_una: u64) -> u64 {
        self.kept_from.map_or(snd_una, |kept| kept.min(snd_una))
    }
}

#[cfg(test)]
mod tests {
    use super::MiddleboxSignals;
    use units::{Duration, Instant};

    #[test]
    fn a_suspension_counts_from_its_first_report() {
        let mut signals = MiddleboxSignals::default();
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        signals.suspend(at(1));
        signals.suspend(at(2));
        assert!(signals.is_suspended());
        assert_eq!(signals.resume(), Some(at(1)));
        assert_eq!(signals.resume(), None);
    }

    #[test]
    fn the_threshold_is_given_back_once() {
        let mut signals = MiddleboxSignals::default();
        signals.start_eln(70);
        assert!(signals.is_eln_recovery());
        assert_eq!((signals.end_eln(), signals.end_eln()), (Some(70), None));
    }

    #[test]
    fn unacknowledged_data_is_always_kept() {
        let mut signals = MiddleboxSignals::default();
        assert_eq!(signals.retained_from(500), 500);
        signals.retain_from(300);
        assert_eq!(signals.retained_from(500), 300);
        assert_eq!(signals.retained_from(200), 200);
    }
}
