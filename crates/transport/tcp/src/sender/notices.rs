//! Explicit loss notification: recoveries from losses that a middlebox has reported to be on the radio.
//!
//! They repeat what is lost, and keep window and threshold (Balakrishnan and Katz, Globecom 1998). A loss without such a
//! report during the recovery, and a time-out, reduce as always.

use super::Sender;

impl Sender {
    /// Begins a recovery that reduces nothing.
    pub(super) fn start_spared_recovery(&mut self) {
        self.high_seq = self.snd_nxt;
        self.probe.clear();
        self.prr.start();
        self.refresh_window();
        let w = &mut self.congestion.window;
        w.prior_cwnd = w.cwnd;
        self.spared = Some(w.ssthresh);
        w.ssthresh = w.cwnd;
    }

    /// Returns whether the present recovery reduces nothing.
    pub(super) fn is_spared(&self) -> bool {
        self.spared.is_some()
    }

    /// Gives the threshold back that held before a recovery that reduced nothing.
    pub(super) fn end_sparing(&mut self) {
        if let Some(before) = self.spared.take() {
            self.congestion.window.ssthresh = before;
        }
    }

    /// Begins the reduction that the present recovery lacks, because something else was lost, too.
    pub(super) fn reduce_after_all(&mut self) {
        self.end_sparing();
        self.start_reduction();
    }
}
