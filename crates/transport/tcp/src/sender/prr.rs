//! Proportional rate reduction (RFC 9937, before it RFC 6937), with the slow-start reduction bound only while
//! losses are repaired, as in Linux.

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
    /// Sets the window during a reduction, after an ACK that delivered `newly` segments.
    pub(super) fn reduce_window(&mut self, newly: u32, lost: u32, una_advanced: bool) {
        let w = &mut self.congestion.window;
        if newly == 0 || w.prior_cwnd == 0 {
            return;
        }
        let in_flight = self.board.in_flight();
        self.prr.delivered += u64::from(newly);
        let (delivered, out) = (self.prr.delivered as i64, self.prr.out as i64);
        let room = i64::from(w.ssthresh) - i64::from(in_flight);
        let send = if room < 0 {
            // Above the target: in proportion to the deliveries.
            let target = i64::from(w.ssthresh);
            let prior = i64::from(w.prior_cwnd);
            (target * delivered + prior - 1) / prior - out
        } else {
            let mut send = (delivered - out).max(i64::from(newly));
            if una_advanced && lost == 0 {
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
