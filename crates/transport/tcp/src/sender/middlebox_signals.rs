//! Signals of middleboxes: sender state of research mechanisms that Linux does not have.

use units::Instant;

/// State of suspension, of explicit loss notification and of data that is retained for another sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MiddleboxSignals {
    /// Time since which nothing is sent, because the link is interrupted.
    pub(super) suspended_since: Option<Instant>,
    /// Whether the latest ACK attributes its losses to the radio.
    pub(super) radio_loss: bool,
    /// Threshold from before the current recovery, if that reduces nothing.
    pub(super) eln_prior_ssthresh: Option<u32>,
    /// Lowest sequence number whose data is retained, if acknowledged data may be needed (AS-TCP).
    pub(super) retained_from: Option<u64>,
}

impl MiddleboxSignals {
    /// Returns whether the sender is suspended.
    pub(super) fn is_suspended(&self) -> bool {
        self.suspended_since.is_some()
    }

    /// Returns whether the current recovery reduces nothing.
    pub(super) fn is_eln_recovery(&self) -> bool {
        self.eln_prior_ssthresh.is_some()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::TcpConfig;
    use crate::sender::test_sender::{FIRST, MSS, ack, established_sender};
    use units::{Duration, Instant};

    const RTT: Duration = Duration::from_millis(50);

    #[test]
    fn a_suspension_counts_from_its_first_report() {
        let (mut sender, start) = established_sender(TcpConfig::default(), RTT, 10 * MSS);
        let at = |seconds| start + Duration::from_secs(seconds);
        sender.suspend(at(1));
        sender.suspend(at(2));
        assert!(sender.signals.is_suspended());
        assert_eq!(sender.deadline(), Instant::NEVER);
        sender.resume(at(3));
        assert_eq!(
            sender.board.get(0).tx.sent_at,
            at(2),
            "moved by two seconds"
        );
        sender.resume(at(4));
        assert_eq!(sender.board.get(0).tx.sent_at, at(2));
    }

    #[test]
    fn the_threshold_is_restored_once() {
        let (mut sender, _) = established_sender(TcpConfig::default(), RTT, 10 * MSS);
        sender.congestion.window.ssthresh = 70;
        sender.start_eln_recovery();
        assert!(sender.signals.is_eln_recovery());
        for ssthresh in [70, 50] {
            sender.end_eln_recovery();
            assert_eq!(sender.congestion.window.ssthresh, ssthresh);
            sender.congestion.window.ssthresh = 50;
        }
    }

    #[test]
    fn unacknowledged_data_is_always_retained() {
        let (mut sender, start) = established_sender(TcpConfig::default(), RTT, 10 * MSS);
        ack(&mut sender, start + RTT, 5, &[], None);
        let una = FIRST + 5 * MSS;
        assert_eq!(sender.retained_from(), una);
        for (retained, lowest) in [(FIRST + MSS, FIRST + MSS), (una + MSS, una)] {
            sender.retain_from(retained);
            assert_eq!(sender.retained_from(), lowest);
        }
    }
}
