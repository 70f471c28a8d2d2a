//! Proportional rate reduction (RFC 9937, formerly RFC 6937), with the slow-start reduction bound only after ACKs that
//! advance without a new loss, as in Linux.

use super::Sender;

/// Counters of the current reduction.
#[derive(Clone, Debug, Default)]
pub(super) struct Prr {
    /// Segments delivered since the reduction began.
    delivered: u64,
    /// Segments sent since the reduction began.
    pub(super) out: u64,
}

impl Prr {
    pub(super) fn start(&mut self) {
        *self = Self::default();
    }
}

impl Sender {
    /// Sets the window during a reduction, after an ACK with `newly_delivered` segments and `newly_lost` ones (the kernel's
    /// `tcp_cwnd_reduction`).
    pub(super) fn reduce_window(
        &mut self,
        newly_delivered: u32,
        newly_lost: u32,
        una_advanced: bool,
    ) {
        let w = &mut self.congestion.window;
        if newly_delivered == 0 || w.prior_cwnd == 0 {
            return;
        }
        let in_flight = self.board.in_flight();
        self.prr.delivered += u64::from(newly_delivered);
        let (delivered, out) = (self.prr.delivered as i64, self.prr.out as i64);
        let room = i64::from(w.ssthresh) - i64::from(in_flight);
        let send = if room < 0 {
            // Above ssthresh: in proportion to the deliveries, rounded up.
            let (ssthresh, prior) = (i64::from(w.ssthresh), i64::from(w.prior_cwnd));
            (ssthresh * delivered + prior - 1) / prior - out
        } else {
            let mut send = (delivered - out).max(i64::from(newly_delivered));
            if una_advanced && newly_lost == 0 {
                send += 1;
            }
            send.min(room)
        };
        // The first retransmission is always sent.
        let send = send.max(i64::from(out == 0));
        w.cwnd = (i64::from(in_flight) + send).max(1) as u32;
    }
}

#[cfg(test)]
mod tests;
