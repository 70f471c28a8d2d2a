//! Tests of single rules of the sender, each with the function of Linux or the RFC that it follows.

use super::test_sender::{ACK, FIRST, MSS, ack, established_sender};
use super::*;
use cca::CaState;

const RTT: Duration = Duration::from_millis(50);

/// Returns a sender with ten segments in flight, and the time a round trip later.
fn ten_in_flight() -> (Sender, Instant) {
    let (mut sender, start) = established_sender(TcpConfig::default(), RTT, 10 * MSS);
    sender.output.queue.clear();
    (sender, start + RTT)
}

/// Linux `tcp_skb_spurious_retrans`: only the ACK of a retransmitted segment can be for an earlier transmission. An old
/// timestamp echo means nothing for segments that were sent once.
#[test]
fn an_old_echo_says_nothing_of_segments_sent_once() {
    let (mut sender, now) = ten_in_flight();
    ack(&mut sender, now, 1, &[], Some(0));
    assert!(sender.rack.end == FIRST + MSS, "RACK learns from it");
}

/// RFC 6937 §3.1, Linux `tcp_cwnd_reduction`: above the threshold, the window follows the deliveries in the ratio of
/// the reduction, rounded up.
#[test]
fn a_reduction_sends_in_proportion() {
    for (newly, sends) in [(1, 1), (2, 1), (3, 2), (4, 2), (10, 5)] {
        let (mut sender, _) = ten_in_flight();
        let w = &mut sender.congestion.window;
        (w.prior_cwnd, w.ssthresh) = (18, 9);
        sender.prr.start();
        sender.reduce_window(newly, 0, true);
        assert_eq!(sender.congestion.window.cwnd, 10 + sends, "{newly}");
    }
}

/// RFC 8985 §6.2 step 4, Linux `tcp_rack_update_reo_wnd`: a window that D-SACK has widened lasts for sixteen
/// recoveries; one that is undone adds another.
#[test]
fn an_undone_recovery_prolongs_the_widened_window() {
    let mut rack = Rack::default();
    for _ in 0..3 {
        rack.on_recovery_undone();
    }
    assert_eq!(rack.reo_wnd_persist, 3);
    rack.on_recovery_end();
    assert_eq!(rack.reo_wnd_persist, 2);
    for _ in 0..40 {
        rack.on_recovery_undone();
    }
    assert_eq!(rack.reo_wnd_persist, 16);
}

/// Linux `tcp_init_undo`: without a retransmission in flight, no D-SACK can show that all were spurious.
#[test]
fn a_reduction_without_retransmissions_is_not_undone_at_once() {
    let (mut sender, now) = ten_in_flight();
    ack(&mut sender, now, 0, &[(4, 9)], None);
    assert_eq!(sender.congestion.window.state, CaState::Recovery);
    let mut undo = Undo::default();
    undo.start(FIRST, 0, &LossProbe::default());
    sender.undo = undo;
    assert!(!sender.undo_by_dsack());
    let mut undo = Undo::default();
    undo.start(FIRST, 1, &LossProbe::default());
    undo.on_dsack(FIRST + MSS, 1);
    sender.undo = undo;
    assert!(sender.undo_by_dsack());
}

/// Linux `tcp_rack_detect_loss`: a lost segment that was not retransmitted stays lost; a retransmission is judged by its
/// own time.
#[test]
fn a_retransmission_is_judged_anew() {
    let (mut sender, now) = ten_in_flight();
    ack(&mut sender, now, 0, &[(4, 9)], None);
    assert_eq!(sender.board.retrans_out, sender.board.lost_out);
    let retransmitted = sender.counts.retransmissions;
    assert!(retransmitted > 0);
    let lost = sender.board.lost_out;
    sender.mark_losses(now);
    assert_eq!(sender.board.lost_out, lost, "just sent again");
    assert_eq!(sender.board.retrans_out, lost);
}

/// `tcpi_total_retrans`: every retransmitted segment counts once.
#[test]
fn retransmissions_are_counted() {
    let (mut sender, _) = ten_in_flight();
    for times in 1..=3 {
        while sender.counts.retransmissions < times {
            let at = sender.deadline();
            sender.on_deadline(at);
        }
        assert_eq!(sender.counts.retransmissions, times);
    }
}

/// `max_window`: the largest window that was ever offered.
#[test]
fn the_largest_offer_is_remembered() {
    let (mut sender, now) = ten_in_flight();
    assert_eq!(sender.seq.max_window, 1 << 20);
    let input = |window: u64, seq: u64| AckInput { seq, window, ..ACK };
    sender.on_ack(now, &input(2 << 20, 1));
    sender.on_ack(now, &input(1 << 19, 2));
    assert_eq!(
        (sender.seq.max_window, sender.seq.snd_wnd),
        (2 << 20, 1 << 19)
    );
}

/// RFC 5681 §2: an ACK that brings data or moves the window is no duplicate, so that without SACK it does not count.
#[test]
fn an_ack_with_data_or_another_window_is_no_duplicate() {
    let (mut sender, now) = ten_in_flight();
    sender.config.sack = false;
    let input = |not_dup: bool| AckInput { not_dup, ..ACK };
    for _ in 0..5 {
        sender.on_ack(now, &input(true));
    }
    assert_eq!(sender.board.sacked_out, 0);
    sender.on_ack(now, &input(false));
    assert_eq!(sender.board.sacked_out, 1);
}

/// RFC 8985 §6.2 step 5: a retransmission is lost if a segment that was sent no earlier was delivered. It is sent again
/// without a time-out.
#[test]
fn a_lost_retransmission_is_sent_again() {
    let (mut sender, now) = ten_in_flight();
    ack(&mut sender, now, 0, &[(4, 9)], None);
    sender.congestion.window.cwnd = 20;
    sender.retransmit_lost(now);
    let retransmitted = |sender: &mut Sender| -> Vec<u64> {
        let out = sender
            .output
            .queue
            .drain(..)
            .filter(|sent| sent.is_retransmission);
        out.map(|sent| (sent.seq - FIRST) / MSS).collect()
    };
    assert!(
        sender
            .output
            .queue
            .iter()
            .all(|sent| u64::from(sent.len) == MSS)
    );
    assert_eq!(retransmitted(&mut sender), [0, 1, 2, 3]);
    ack(&mut sender, now + RTT, 0, &[(1, 9)], None);
    assert_eq!(retransmitted(&mut sender), [0, 9], "9 was never reported");
    assert_eq!(sender.counts.timeouts, 0);
}

/// RFC 8257 §3.3: the sender counts what was delivered with ECN-Echo.
#[test]
fn deliveries_with_an_echo_are_counted_apart() {
    let (mut sender, now) = ten_in_flight();
    ack(&mut sender, now, 2, &[], None);
    assert_eq!(sender.congestion.window.delivered_ce, 0);
    let marked = AckInput {
        ack: FIRST + 5 * MSS,
        ecn_echo: true,
        ..ACK
    };
    sender.on_ack(now, &marked);
    assert_eq!(sender.congestion.window.delivered_ce, 3);
}

/// Linux `tcp_clean_rtx_queue`: the delivery of a segment that was sent before the head was retransmitted restarts the
/// RTO timer. RFC 6298 §5.3 requires that only after an ACK of new data.
#[test]
fn a_delivery_from_before_the_retransmission_of_the_head_restarts_the_timer() {
    let (mut sender, now) = ten_in_flight();
    ack(&mut sender, now, 0, &[(4, 9)], None);
    let before = sender.deadline();
    let later = now + Duration::from_millis(30);
    ack(&mut sender, later, 0, &[(4, 10)], None);
    assert!(sender.deadline() >= before + Duration::from_millis(24));
    assert!(sender.deadline() >= later + sender.rto());
}

/// RFC 2018 §5: the segments that the blocks of an ACK cover have arrived, and no others, whichever blocks earlier ACKs
/// had.
#[test]
fn only_reported_segments_have_arrived() {
    let (mut sender, now) = ten_in_flight();
    for (blocks, arrived) in [
        (&[(2, 3)][..], &[2][..]),
        (&[(6, 7), (2, 3)], &[2, 6]),
        (&[(4, 5), (6, 7), (2, 3)], &[2, 4, 6]),
        (&[(3, 8), (2, 3)], &[2, 3, 4, 5, 6, 7]),
    ] {
        ack(&mut sender, now, 0, blocks, None);
        let sacked = |ordinal: &u64| sender.board.get(*ordinal).sacked;
        let result: Vec<u64> = (0..10).filter(sacked).collect();
        assert_eq!(result, arrived, "{blocks:?}");
    }
}
