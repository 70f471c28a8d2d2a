//! Explicit loss notification: recoveries from losses that a middlebox has reported to be on the radio.
//!
//! They retransmit lost data without reducing window and threshold (Balakrishnan and Katz, Globecom 1998). A loss
//! without such a report during the recovery, and a time-out, reduce as always.

use super::Sender;

impl Sender {
    /// Enters recovery without reducing cwnd (loss on the radio).
    pub(super) fn start_eln_recovery(&mut self) {
        self.recovery.high_seq = self.seq.snd_nxt;
        self.probe.clear();
        self.prr.start();
        self.refresh_window();
        let w = &mut self.congestion.window;
        w.prior_cwnd = w.cwnd;
        self.signals.eln_prior_ssthresh = Some(w.ssthresh);
        w.ssthresh = w.cwnd;
    }

    /// Gives the threshold back that held before a recovery that reduced nothing.
    pub(super) fn end_eln_recovery(&mut self) {
        if let Some(before) = self.signals.eln_prior_ssthresh.take() {
            self.congestion.window.ssthresh = before;
        }
    }

    /// Begins the reduction that the current recovery lacks, because something else was lost, too.
    pub(super) fn enter_late_reduction(&mut self) {
        self.end_eln_recovery();
        self.start_reduction();
    }
}
