//! TIME-WAIT: responses to segments that arrive after both ends have closed, as in Linux
//! (`tcp_timewait_state_process`).

use units::{Duration, Instant};

use super::{Connection, State};
use crate::segment::{Flags, Segment};

/// Time that the end that closed first stays in TIME-WAIT (Linux: 60 s for 2 MSL).
const TIME_WAIT: Duration = Duration::from_secs(60);

impl Connection {
    /// Enters TIME-WAIT, and starts its timer.
    pub(super) fn enter_time_wait(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.time_wait_until = now + TIME_WAIT;
    }

    /// Returns whether [`Connection::on_time_wait_segment`] handles a segment: any in TIME-WAIT without RST or SYN.
    pub(super) fn is_time_wait_segment(&self, segment: &Segment) -> bool {
        let is_rst_or_syn =
            segment.flags.contains(Flags::RST) || segment.flags.contains(Flags::SYN);
        self.state == State::TimeWait && !is_rst_or_syn
    }

    /// Handles a segment at `seq`; one with ACK restarts the timer. An empty segment at `rcv_nxt` is not answered.
    /// Others are acknowledged, without SACK, which a TIME-WAIT socket has no state for.
    pub(super) fn on_time_wait_segment(&mut self, now: Instant, seq: u64, segment: &Segment) {
        let is_expected = self.receiver.as_ref().map(|receiver| receiver.rcv_nxt) == Some(seq);
        let is_empty = segment.sequence_len() == 0;
        if segment.flags.contains(Flags::ACK) {
            self.time_wait_until = now + TIME_WAIT;
        }
        if is_empty && (is_expected || !self.take_oow_token(now)) {
            return;
        }
        if let Some(receiver) = &mut self.receiver {
            receiver.acknowledge_now();
        }
        self.flush(now);
    }
}
