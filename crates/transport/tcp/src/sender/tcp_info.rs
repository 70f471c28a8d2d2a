//! State of the sender for `TCP_INFO`, and values that the handshake and the application set.

use cca::{SendLimit, SenderInfo};
use units::{Duration, Instant, Rate};

use super::Sender;
use super::limited_time::Limit;
use crate::connection::Info;

impl Sender {
    /// Sets the negotiated values of the handshake. The MSS is at most half of the peer's window, but at least `min_mss` (the
    /// kernel's `tcp_bound_to_half_wnd`).
    pub(crate) fn negotiate(&mut self, mss: u32, min_mss: u32, sack: bool, window: u64) {
        let half = if window > 536 { window / 2 } else { window };
        let mss = if half > 0 && u64::from(mss) > half {
            half.max(u64::from(min_mss)) as u32
        } else {
            mss
        };
        self.config.mss = mss;
        self.congestion.window.mss = mss;
        self.config.sack = sack;
    }

    pub(crate) fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        self.config.user_timeout = timeout;
    }

    /// Returns the state of the sender, without its times under each limit.
    #[inline]
    pub(crate) fn view(&self) -> SenderInfo {
        let w = &self.congestion.window;
        let counts = self.counts;
        let limited = |by| Some(self.limits.time(w.now, by));
        let (srtt, min_rtt) = (self.rtt.srtt, self.rtt.min_rtt);
        let positive = |rate: Rate| (rate > Rate::ZERO).then_some(rate);
        SenderInfo {
            mss: w.mss,
            ca_state: w.state,
            cwnd: w.cwnd,
            ssthresh: w.ssthresh,
            packets_out: self.board.packets_out(),
            inflight: self.in_flight(),
            srtt: (!srtt.is_zero()).then_some(srtt),
            min_rtt: (min_rtt < Duration::MAX).then_some(min_rtt),
            rto: self.rto(),
            delivered: self.delivered(),
            retransmissions: counts.retransmissions,
            delivery_rate: positive(self.rate.latest),
            app_limited: w.app_limited,
            pacing_rate: positive(w.pacing_rate),
            send_window: Some(self.seq.snd_wnd),
            slow_start: w.in_slow_start(),
            slow_start_exit: self.congestion.slow_start_exit(),
            timeouts: Some(counts.timeouts),
            loss_probes: Some(counts.loss_probes),
            fast_recoveries: Some(counts.fast_recoveries),
            undone: Some(counts.undone),
            application_limited: limited(Limit::Application),
            receive_window_limited: limited(Limit::ReceiveWindow),
            send_buffer_limited: limited(Limit::SendBuffer),
            busy: None,
            limits: None,
            duplicates_reported: Some(self.reordering.dsack_dups),
        }
    }

    /// Fills in the state of the sender that [`Sender::view`] lacks.
    pub(crate) fn fill_info(&self, now: Instant, info: &mut Info) {
        let times = self.limit_times(now);
        info.busy = times.busy();
        info.window_limited =
            times.get(SendLimit::ReceiveWindow) + times.get(SendLimit::WindowTimeOut);
        info.buffer_limited =
            times.get(SendLimit::SendBuffer) + times.get(SendLimit::BufferTimeOut);
        info.retransmits = self.timeouts.retransmits;
        info.probes = self.window_probes.probes_out;
        info.backoff = self.timeouts.backoff;
        info.sacked = self.board.sacked_out;
        info.lost = self.board.lost_out;
        info.retransmissions_out = self.board.retrans_out;
        info.since_data_sent = now.saturating_since(self.output.lsndtime);
        info.rtt_variation = self.rtt.variation();
        info.reordering = self.reordering.degree;
        info.reordering_seen = self.reordering.reord_seen;
        info.unsent = self.seq.unsent();
        info.unacknowledged = self.seq.write_seq - self.retained_from();
        info.duplicates_reported = self.reordering.dsack_dups;
    }
}
