//! Reneging: a receiver that drops data which it has reported by SACK (RFC 2018 §8).

use units::{Duration, Instant};

use super::Sender;
use super::ack::AckEffects;
use super::timers::TimerKind;

/// Minimum wait before the time-out.
const MIN_WAIT: Duration = Duration::from_millis(10);

impl Sender {
    /// Returns whether an ACK of new data ends just before data that SACK has reported: the receiver has probably dropped
    /// that. The time-out, which clears all SACK marks, is then due after half an RTT (the kernel's
    /// `tcp_check_sack_reneging`).
    pub(super) fn check_sack_reneging(&mut self, now: Instant, effects: &mut AckEffects) -> bool {
        let is_reneging = effects.una_advanced && self.board.head().is_some_and(|head| head.sacked);
        if is_reneging {
            // Linux's timer counts whole milliseconds.
            let half = (self.rtt.srtt / 2).as_micros().div_ceil(1_000);
            let wait = Duration::from_millis(half).max(MIN_WAIT);
            self.start_timer(TimerKind::Retransmission, now, wait);
            effects.set_xmit_timer = false;
        }
        is_reneging
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimerExpiry;
    use crate::config::TcpConfig;
    use crate::sender::SendFlags;
    use crate::sender::test_sender::{FIRST, MSS, ack, established_sender};
    use cca::CaState;

    /// Returns a sender with ten segments out over a path with that RTT.
    fn ten_in_flight(rtt: Duration) -> (Sender, Instant) {
        let config = TcpConfig {
            timers: TimerExpiry::Exact,
            ..TcpConfig::default()
        };
        let (mut sender, start) = established_sender(config, rtt, 10 * MSS);
        sender.output.queue.clear();
        (sender, start + rtt)
    }

    /// Linux `tcp_timeout_mark_lost`: of a receiver that has reneged no report counts, and all segments are lost.
    #[test]
    fn a_dropped_report_hastens_the_time_out_which_forgets_all_reports() {
        let (mut sender, now) = ten_in_flight(Duration::from_millis(50));
        ack(&mut sender, now, 0, &[(2, 4), (6, 8)], None);
        assert_eq!(sender.board.sacked_out, 4);
        ack(&mut sender, now, 2, &[(6, 8)], None);
        assert_eq!(sender.deadline(), now + Duration::from_millis(25));
        sender.output.queue.clear();
        let late = sender.deadline();
        sender.on_deadline(late);
        assert_eq!(sender.congestion.window.state, CaState::Loss);
        assert_eq!(sender.counts.timeouts, 1);
        assert_eq!(sender.board.sacked_out, 0);
        assert_eq!(sender.board.lost_out, 8);
        let retransmissions: Vec<_> = sender
            .output
            .queue
            .iter()
            .map(|out| (out.seq, out.is_retransmission))
            .collect();
        assert_eq!(retransmissions, [(FIRST + 2 * MSS, true)]);
    }

    /// Linux `tcp_rate_gen`: after reneging no delivery rate is sampled until the recovery ends.
    #[test]
    fn reneging_leaves_no_rate_samples() {
        let (mut sender, now) = ten_in_flight(Duration::from_millis(50));
        ack(&mut sender, now, 0, &[(2, 4), (6, 8)], None);
        ack(&mut sender, now, 2, &[(6, 8)], None);
        let late = sender.deadline();
        sender.on_deadline(late);
        let mut latest = |ms: u64, segments: u64| {
            sender.rate.latest = units::Rate::ZERO;
            ack(
                &mut sender,
                late + Duration::from_millis(ms),
                segments,
                &[],
                None,
            );
            (
                sender.rate.latest != units::Rate::ZERO,
                sender.congestion.window.state,
            )
        };
        assert_eq!(latest(50, 3), (false, CaState::Loss));
        assert_eq!(
            latest(100, 10),
            (false, CaState::Open),
            "the ACK that ends it"
        );
        sender.write(
            late + Duration::from_millis(100),
            4 * MSS,
            SendFlags::Message,
        );
        sender.rate.latest = units::Rate::ZERO;
        ack(
            &mut sender,
            late + Duration::from_millis(150),
            14,
            &[],
            None,
        );
        assert!(sender.rate.latest != units::Rate::ZERO);
    }

    #[test]
    fn the_wait_is_ten_milliseconds_at_least() {
        let (mut sender, now) = ten_in_flight(Duration::from_millis(6));
        ack(&mut sender, now, 0, &[(2, 4)], None);
        ack(&mut sender, now, 2, &[], None);
        assert_eq!(sender.deadline(), now + Duration::from_millis(10));
    }

    /// SACK marks remain as long as the oldest segment was not among them (RFC 2018 §8).
    #[test]
    fn a_time_out_keeps_the_reports_of_a_receiver_that_keeps_its_data() {
        let (mut sender, now) = ten_in_flight(Duration::from_millis(50));
        ack(&mut sender, now, 0, &[(8, 9)], None);
        while sender.counts.timeouts == 0 {
            let at = sender.deadline();
            sender.on_deadline(at);
        }
        assert_eq!(sender.board.sacked_out, 1);
        assert_eq!(sender.congestion.window.state, CaState::Loss);
    }

    /// RFC 5682 §3.1 step 1: F-RTO is also for repeated time-outs of the same segment.
    #[test]
    fn a_repeated_time_out_may_be_spurious_too() {
        let (mut sender, _) = ten_in_flight(Duration::from_millis(50));
        while sender.counts.timeouts < 2 {
            let at = sender.deadline();
            sender.on_deadline(at);
        }
        assert!(sender.recovery.frto);
        assert_eq!(sender.in_flight(), 1);
        assert!(sender.any_retransmission_out());
    }

    /// RFC 6937 §3.1: below the threshold a reduction sends what fills it up, here two segments for one delivered.
    #[test]
    fn a_reduction_fills_the_window_up_to_the_threshold() {
        let (mut sender, now) = ten_in_flight(Duration::from_millis(50));
        ack(&mut sender, now, 0, &[(4, 9)], None);
        assert_eq!(sender.congestion.window.state, CaState::Recovery);
        let in_flight = sender.in_flight();
        let w = &mut sender.congestion.window;
        (w.prior_cwnd, w.ssthresh) = (10, in_flight + 1);
        sender.prr.start();
        sender.prr.out = 1;
        sender.reduce_window(5, 0, true);
        assert_eq!(sender.congestion.window.cwnd, in_flight + 1);
    }

    /// Linux `tcp_rate_check_app_limited`: samples of data that was sent without a backlog are limited by the application.
    #[test]
    fn a_write_without_a_backlog_is_limited_by_the_application() {
        let (mut sender, now) = ten_in_flight(Duration::from_millis(50));
        assert!(
            sender.rate.is_app_limited(),
            "ten segments of a larger window"
        );
        for segments in 1..=10 {
            ack(&mut sender, now, segments, &[], None);
        }
        sender.write(now, 1 << 20, SendFlags::Message);
        sender.write(now, 1 << 20, SendFlags::Message);
        assert!(sender.congestion.window.cwnd > 10);
        ack(&mut sender, now + Duration::from_millis(50), 30, &[], None);
        assert!(!sender.rate.is_app_limited(), "a backlog waits");
    }

    /// Linux `tcp_is_cwnd_limited`: in slow start, a window of which more than half was used may grow.
    #[test]
    fn half_a_window_in_use_lets_slow_start_go_on() {
        let (mut sender, _) = ten_in_flight(Duration::from_millis(50));
        for (cwnd, limited) in [(19, true), (20, false), (21, false)] {
            sender.congestion.window.cwnd = cwnd;
            (
                sender.cwnd_usage.is_cwnd_limited,
                sender.cwnd_usage.max_packets_out,
            ) = (false, 10);
            assert_eq!(sender.is_cwnd_limited(), limited, "{cwnd}");
        }
    }
}
