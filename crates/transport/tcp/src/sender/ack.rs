//! Processing of an ACK by the sender, in the order of Linux's `tcp_ack`.

use units::{Duration, Instant};

use super::reordering::INITIAL_REORDERING;
use super::rtt::{micros_between, rtt_of_echo};
use super::{Sender, scoreboard};
use cca::{Ack, AckKind, AckSample, CaState, SendLimit};

/// ACK fields of an incoming segment, with 64-bit sequence numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckInput<'a> {
    pub(crate) ack: u64,
    /// Sequence number of the segment.
    pub(crate) seq: u64,
    /// Send window in bytes, scaled.
    pub(crate) window: u64,
    /// SACK blocks: first number and number after the last.
    pub(crate) sack: &'a [(u64, u64)],
    /// Our timestamp that the segment echoes, without its offset, milliseconds modulo 2^32; `None` if it is zero.
    pub(crate) echo: Option<u32>,
    /// Timestamps option: the peer's timestamp, and ours without its offset, milliseconds.
    pub(crate) timestamps: Option<(u32, u32)>,
    /// Whether the segment is no duplicate ACK: it has payload or a new far ACK.
    pub(crate) not_dup: bool,
    pub(crate) ecn_echo: bool,
    /// Whether a middlebox attributes the losses that the segment reports to the radio.
    pub(crate) radio_loss: bool,
}

/// Effects of an ACK, collected while it is processed (the kernel's `FLAG_*`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckEffects {
    pub(super) una_advanced: bool,
    pub(super) data_acked: bool,
    pub(super) data_sacked: bool,
    /// Whether data that was sent before the recovery and never retransmitted was newly delivered.
    pub(super) original_delivered: bool,
    pub(super) retransmitted_acked: bool,
    pub(super) lost_retransmission: bool,
    pub(super) dsack: bool,
    pub(super) dsack_of_probe: bool,
    pub(super) not_duplicate: bool,
    pub(super) ecn_echo: bool,
    /// Whether the timer has to be restarted, unless loss detection has set it (`FLAG_SET_XMIT_TIMER`).
    pub(super) set_xmit_timer: bool,
    /// Transmission times of the first and of the last segment that was never retransmitted: of those newly covered by the
    /// cumulative ACK, and of those newly covered by SACK blocks.
    first_ackt: Option<Instant>,
    last_ackt: Option<Instant>,
    pub(super) first_sackt: Option<Instant>,
    pub(super) last_sackt: Option<Instant>,
    /// RTT of the newest segment delivered.
    rtt: Option<Duration>,
    /// Segments newly covered by the cumulative ACK.
    acked: u32,
}

/// Kind of data to send after an ACK (the kernel's `REXMIT_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rexmit {
    Nothing,
    Lost,
    /// New data rather than a retransmission (step 2b of F-RTO).
    New,
}

impl Sender {
    /// Processes the acknowledgement of a segment, and sends the data that it allows.
    pub(crate) fn on_ack(&mut self, now: Instant, input: &AckInput<'_>) {
        self.set_now(now);
        self.signals.radio_loss = input.radio_loss;
        if input.ack > self.seq.snd_nxt {
            // An ACK of data that was never sent (RFC 9293 §3.10.7.4).
            return;
        }
        if input.ack < self.seq.snd_una {
            self.process_old_ack(now, input);
        } else {
            self.process_ack(now, input);
        }
        self.transmit(now);
        self.check_space(now);
    }

    /// Handles an ACK that was overtaken by a later one: it may still report data by SACK.
    fn process_old_ack(&mut self, now: Instant, input: &AckInput<'_>) {
        if input.sack.is_empty() {
            return;
        }
        self.last_ack.rcv_tsecr = input.echo;
        let una = self.seq.snd_una;
        let mut effects = AckEffects::default();
        self.process_sacks(now, input, una, &mut effects);
        let rexmit = self.fastretrans_alert(now, una, false, &mut effects);
        self.refresh_window();
        self.xmit_recovery(now, rexmit);
        self.refresh_window();
    }

    /// Processes an ACK that is not old (the kernel's `tcp_ack`).
    fn process_ack(&mut self, now: Instant, input: &AckInput<'_>) {
        let prior_una = self.seq.snd_una;
        let prior_inflight = self.board.in_flight();
        let prior_packets = self.board.packets_out();
        let prior_sacked = self.board.sacked_out;
        let prior_highest = self.reordering.highest_sacked;
        let prior_lost = self.congestion.window.lost;
        let delivered_before = self.rate.delivered;
        let reneged = self.rate.reneged;
        self.last_ack.rcv_tsecr = input.echo;
        self.last_ack.rcv_tstamp = now;
        self.congestion.window.timestamps = input.timestamps.into();

        let mut effects = AckEffects {
            una_advanced: input.ack > prior_una,
            not_duplicate: input.not_dup,
            ecn_echo: input.ecn_echo,
            ..AckEffects::default()
        };
        let new_window = input.window != self.seq.snd_wnd;
        if self
            .seq
            .may_update_window(input.ack, input.seq, input.window)
        {
            self.seq.update_window(input.seq, input.window);
            effects.not_duplicate = true;
        }
        if effects.una_advanced {
            self.timeouts.retransmits = 0;
        }
        self.seq.snd_una = input.ack;
        if !input.sack.is_empty() {
            self.process_sacks(now, input, prior_una, &mut effects);
        }
        let kind = AckKind {
            slow_path: new_window
                || !effects.una_advanced
                || !input.sack.is_empty()
                || input.ecn_echo,
            ecn_echo: input.ecn_echo,
        };
        if prior_packets == 0 {
            self.refresh_window();
            self.congestion.in_ack_event(kind);
            if effects.dsack {
                // The report may undo a reduction although nothing is outstanding.
                self.fastretrans_alert(now, prior_una, false, &mut effects);
            }
            self.after_zero_window_probe(now);
            return;
        }
        self.clean_rtx_queue(now, prior_highest, &mut effects);
        if self.board.packets_out() == 0 {
            self.stop_limit(now, SendLimit::InFlight);
        }
        effects.not_duplicate |= effects.data_acked;
        if input.ecn_echo {
            self.congestion.window.delivered_ce += self.rate.delivered - delivered_before;
        }
        let prior_delivered = self.rate.prior_delivered();
        self.rack
            .update_reo_wnd(prior_delivered, self.rate.delivered);
        self.refresh_window();
        self.congestion.pkts_acked(&AckSample {
            acked: effects.acked,
            rtt: effects.rtt,
            in_flight: prior_delivered.map_or(0, |prior| (self.rate.delivered - prior) as u32),
        });
        self.congestion.in_ack_event(kind);
        self.finish_loss_probe(input.ack, &effects);

        let mut rexmit = Rexmit::Nothing;
        let dubious = !effects.not_duplicate
            || effects.data_sacked
            || effects.dsack
            || input.ecn_echo
            || self.congestion.window.state != CaState::Open;
        if dubious {
            let duplicate = !effects.una_advanced && !effects.not_duplicate && !effects.dsack;
            rexmit = self.fastretrans_alert(now, prior_una, duplicate, &mut effects);
        }
        if effects.set_xmit_timer && !self.schedule_loss_probe(now, true) {
            self.rearm_retransmission(now);
        }
        let newly_delivered = (self.rate.delivered - delivered_before) as u32;
        let lost = self.congestion.window.lost;
        let min_rtt = self.rtt.min_rtt;
        let rate = self
            .rate
            .finish(now, newly_delivered, min_rtt, lost, reneged);
        self.rate.store_rate(&rate, self.config.mss);
        self.refresh_window();
        // A single short segment without other signs has probably waited for the delayed-ACK timer.
        let delayed = effects.acked == 1
            && prior_sacked == 0
            && !effects.retransmitted_acked
            && input.ack - prior_una < u64::from(self.config.mss)
            && rate.prior_delivered + 1 == self.rate.delivered
            && !(effects.data_sacked || effects.dsack || input.ecn_echo);
        let ack = Ack {
            acked: effects.acked,
            delivered: newly_delivered,
            lost: (self.congestion.window.lost - prior_lost) as u32,
            prior_inflight,
            rtt: effects.rtt,
            rate,
            ecn_echo: input.ecn_echo,
            delayed,
        };
        self.control_window(&ack, &effects);
        self.xmit_recovery(now, rexmit);
        self.refresh_window();
    }

    /// Removes the segments that the cumulative ACK covers, and measures their RTT (the kernel's `tcp_clean_rtx_queue`).
    /// `prior_highest` is the highest number that SACK had reported before this ACK.
    fn clean_rtx_queue(&mut self, now: Instant, prior_highest: u64, effects: &mut AckEffects) {
        let before = self.board.packets_out();
        let ack = self.seq.snd_una;
        let mut lowest_original = u64::MAX;
        while let Some(head) = self.board.head() {
            if head.end > ack {
                break;
            }
            let Some(sent) = self.board.pop() else { break };
            if sent.ever_retransmitted {
                effects.retransmitted_acked = true;
            } else if !sent.sacked {
                effects.last_ackt = Some(sent.tx.sent_at);
                effects.first_ackt.get_or_insert(sent.tx.sent_at);
                lowest_original = lowest_original.min(sent.seq);
                effects.original_delivered |= sent.end <= self.recovery.high_seq;
            }
            if !sent.sacked {
                self.rate.delivered += u64::from(self.config.sack);
                self.rate.on_delivered(&sent);
                if !self.is_spurious_retrans(&sent) {
                    self.rack.advance(now, &sent, self.rtt.min_rtt);
                }
            }
            effects.acked += 1;
        }
        self.board.trim_head(ack);
        if self.is_reno() {
            self.remove_reno_sacks(effects.acked);
            effects.original_delivered &= !effects.retransmitted_acked;
        }
        effects.data_acked = self.board.packets_out() < before;
        self.sample_rtt(now, effects);
        if effects.data_acked {
            // A hole was filled by a segment that was never retransmitted: that is reordering.
            if lowest_original < prior_highest {
                self.reordering.check_sack(lowest_original, self.config.mss);
            }
            effects.set_xmit_timer = true;
        } else if let Some(sacked_at) = effects.first_sackt
            && self
                .board
                .head()
                .is_some_and(|head| sacked_at < head.tx.sent_at)
        {
            // The delivered segment was sent before the latest transmission of the head.
            effects.set_xmit_timer = true;
        }
    }

    /// Returns whether this ACK came for a transmission of `sent` before the latest one, so that the time of the latest one
    /// says nothing (the kernel's `tcp_skb_spurious_retrans`).
    fn is_spurious_retrans(&self, sent: &scoreboard::SentSegment) -> bool {
        let sent_ms = sent.tx.sent_at.since_start().as_millis();
        sent.ever_retransmitted
            && self
                .last_ack
                .echoes_before(self.congestion.window.now, sent_ms)
    }

    /// Measures the RTT of the newly delivered segments. If the cumulative ACK covers only retransmitted segments, the
    /// echoed timestamp gives the RTT (the kernel's `tcp_ack_update_rtt`). The congestion control gets the RTT of the
    /// newest segment, by SACK if there is one.
    fn sample_rtt(&mut self, now: Instant, effects: &mut AckEffects) {
        let since = |at: Option<Instant>| at.map(|at| micros_between(at, now));
        let original = |at: Option<Instant>| at.filter(|_| !effects.retransmitted_acked);
        let mut latest = since(effects.last_sackt.or(original(effects.last_ackt)));
        let mut smoothed = since(original(effects.first_ackt).or(effects.first_sackt));
        if smoothed.is_none() && effects.data_acked {
            smoothed = self
                .last_ack
                .rcv_tsecr
                .and_then(|echo| rtt_of_echo(now, echo));
            latest = smoothed;
        }
        effects.rtt = latest;
        if let Some(smoothed) = smoothed {
            self.rtt.sample_min_rtt(latest.unwrap_or(smoothed), now);
            self.rtt
                .sample(smoothed, self.seq.snd_una, self.seq.snd_nxt);
            self.timeouts.backoff = 0;
        }
    }

    /// Sets the window after an ACK: by a CCA that owns it, by PRR, or by growth (the kernel's `tcp_cong_control`).
    fn control_window(&mut self, ack: &Ack, effects: &AckEffects) {
        if self.congestion.owns_window() {
            self.congestion.window.self_limited = false;
            self.congestion.cong_control(ack);
            if self.congestion.window.self_limited {
                self.rate.mark_app_limited(self.board.in_flight());
            }
            return;
        }
        self.congestion.rate_sample(&ack.rate);
        let state = self.congestion.window.state;
        if matches!(state, CaState::Cwr | CaState::Recovery) {
            self.reduce_window(ack.delivered, ack.lost, effects.una_advanced);
        } else {
            let may_raise = if self.reordering.degree > INITIAL_REORDERING {
                effects.data_acked || effects.data_sacked
            } else {
                effects.data_acked
            };
            if may_raise {
                self.congestion.cong_avoid(ack.delivered);
                self.enter_requested_cwr();
                self.cwnd_usage.touch(self.congestion.window.now);
            }
        }
        self.congestion.update_default_pacing_rate();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimerExpiry;
    use crate::config::TcpConfig;
    use crate::sender::test_sender::{ack, established_sender};

    const RTT: Duration = Duration::from_millis(50);

    /// Returns a sender with ten segments in flight, and the time.
    fn ten_in_flight() -> (Sender, Instant) {
        let config = TcpConfig {
            timers: TimerExpiry::Exact,
            ..TcpConfig::default()
        };
        let (sender, start) = established_sender(config, RTT, 1 << 20);
        (sender, start + RTT)
    }

    /// A delayed ACK of in-order data that leaves with the first SACK shows no reordering. A hole that is
    /// filled by a segment never retransmitted does (RFC 8985 §6.2 step 3).
    #[test]
    fn only_a_filled_hole_is_reordering() {
        let (mut sender, now) = ten_in_flight();
        ack(&mut sender, now, 1, &[(2, 3)], None);
        assert_eq!(sender.reordering.reord_seen, 0);
        ack(&mut sender, now, 3, &[], None);
        assert_eq!(sender.reordering.reord_seen, 1);
    }

    /// Linux `tcp_check_dsack`: a segment that arrived twice was delivered twice, but no more duplicates
    /// count than there were retransmissions.
    #[test]
    fn more_duplicates_than_retransmissions_do_not_count() {
        let (mut sender, now) = ten_in_flight();
        let before = sender.delivered();
        ack(&mut sender, now, 2, &[(0, 1)], None);
        assert_eq!(sender.delivered(), before + 2);
        sender.counts.retransmissions = 5;
        ack(&mut sender, now, 3, &[(0, 1)], None);
        assert_eq!(sender.delivered(), before + 4);
    }

    /// RFC 8985 §7.2: in Disorder there is no tail loss probe, but the retransmission timer.
    #[test]
    fn the_timer_depends_on_the_state_after_the_ack() {
        let (mut sender, now) = ten_in_flight();
        let wait = |sender: &Sender| sender.deadline().saturating_since(now);
        ack(&mut sender, now, 1, &[], None);
        assert_eq!(wait(&sender), RTT * 2 + Duration::from_millis(2));
        let (mut sender, _) = ten_in_flight();
        ack(&mut sender, now, 1, &[(2, 3)], None);
        assert_eq!(sender.congestion.window.state, CaState::Disorder);
        assert!(sender.waits_for_reordering());
    }
}
