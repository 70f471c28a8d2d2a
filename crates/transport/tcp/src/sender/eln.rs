//! Explicit loss notification: recoveries from losses that a middlebox has reported to be on the radio.
//!
//! They retransmit lost data without reducing cwnd and ssthresh (Balakrishnan and Katz, Globecom 1998). Another loss
//! during the recovery, and a time-out, reduce them as always.

use super::Sender;

impl Sender {
    /// Starts a recovery that does not reduce cwnd and ssthresh.
    pub(super) fn start_eln_recovery(&mut self) {
        self.recovery.high_seq = self.seq.snd_nxt;
        self.tlp.clear();
        self.prr.start();
        self.refresh_window();
        let w = &mut self.congestion.window;
        w.prior_cwnd = w.cwnd;
        self.signals.eln_prior_ssthresh = Some(w.ssthresh);
        w.ssthresh = w.cwnd;
    }

    /// Restores the threshold from before the recovery, if that reduces nothing.
    pub(super) fn end_eln_recovery(&mut self) {
        if let Some(prior_ssthresh) = self.signals.eln_prior_ssthresh.take() {
            self.congestion.window.ssthresh = prior_ssthresh;
        }
    }

    /// Starts the reduction that the current recovery lacks, because of another loss.
    pub(super) fn enter_late_reduction(&mut self) {
        self.end_eln_recovery();
        self.start_reduction();
    }
}
