//! Tests of the scoreboard after a time-out that F-RTO undoes.

use units::{Duration, Instant};

use crate::config::TcpConfig;
use crate::sender::test_sender::{ACK, FIRST, MSS, ack, established_sender};
use crate::sender::{AckInput, Sender};
use cca::CaState;

const RTT: Duration = Duration::from_millis(50);

/// Returns a sender whose ten segments have timed out at the returned time: the first one is repeated.
fn timed_out() -> (Sender, Instant) {
    let (mut sender, start) = established_sender(TcpConfig::default(), RTT, 1 << 20);
    let mut now = start;
    while sender.congestion.window.state != CaState::Loss {
        now = sender.deadline();
        sender.on_deadline(now);
    }
    repeated(&mut sender);
    (sender, now)
}

/// Handles an ACK that reports the segments in `from..to` by SACK.
fn sack(sender: &mut Sender, now: Instant, from: u64, to: u64) {
    let input = AckInput {
        sack: &[(FIRST + from * MSS, FIRST + to * MSS)],
        ..ACK
    };
    sender.on_ack(now, &input);
}

/// Returns the numbers of the segments that the sender has repeated since the last call.
fn repeated(sender: &mut Sender) -> Vec<u64> {
    sender
        .output
        .queue
        .drain(..)
        .filter(|sent| sent.is_retransmission)
        .map(|sent| (sent.seq - FIRST) / MSS)
        .collect()
}

/// Linux `tcp_undo_cwnd_reduction`, `tcp_mark_skb_lost`, `tcp_rack_detect_loss`: an undo clears the loss marks alone.
/// Segments keep their place in the order of transmissions, so RACK finds those lost that are really missing. The
/// retransmission of the time-out stays in flight. It counts against the lost segments (`tcp_xmit_retransmit_queue`),
/// so the last of them is held back. Found lost later, it is not repeated before the next time-out.
#[test]
fn after_an_undone_time_out_losses_are_found_and_the_head_waits_for_the_next_one() {
    let (mut sender, timed_out_at) = timed_out();
    let mut now = timed_out_at + Duration::from_millis(100);
    sack(&mut sender, now, 3, 5);
    assert_eq!(
        sender.congestion.window.state,
        CaState::Disorder,
        "F-RTO: originals arrive"
    );
    assert_eq!(sender.board.lost_out, 0);
    assert!(
        repeated(&mut sender).is_empty(),
        "two SACKs: reordering, perhaps"
    );

    now += Duration::from_millis(1);
    sack(&mut sender, now, 3, 8);
    assert_eq!(sender.congestion.window.state, CaState::Recovery);
    assert_eq!(sender.board.lost_out, 2, "segments 1 and 2");
    assert_eq!(
        repeated(&mut sender),
        [1],
        "one less than lost: the head is repeated already"
    );

    // Data that was sent after the time-out arrives: the head is lost, and so is its retransmission.
    let mut again = Vec::new();
    for _ in 0..20 {
        let newest = (sender.seq.snd_nxt - FIRST) / MSS;
        now += RTT;
        sack(&mut sender, now, 3, newest);
        again.append(&mut repeated(&mut sender));
    }
    let head = *sender.board.head().expect("nothing is acknowledged");
    assert!(head.lost && head.retransmitted);
    assert!(again.contains(&2) && !again.contains(&0), "{again:?}");
    let timeouts = sender.counts.timeouts;
    while sender.counts.timeouts == timeouts {
        now = sender.deadline();
        sender.on_deadline(now);
    }
    assert!(repeated(&mut sender).contains(&0));
}

/// Linux `tcp_try_undo_partial`: an ACK that advances in a recovery, and echoes a time before the repetitions, is for the
/// original segments. Nothing was lost, and the window is what it was (RFC 4015 §3.2).
#[test]
fn a_recovery_without_a_loss_is_undone_by_the_first_ack_of_an_original() {
    let outcome = |echo: u32| {
        let (mut sender, start) = established_sender(TcpConfig::default(), RTT, 10 * MSS);
        let now = start + RTT;
        ack(&mut sender, now, 0, &[(4, 9)], None);
        assert_eq!(sender.congestion.window.state, CaState::Recovery);
        let later = now + Duration::from_millis(5);
        ack(&mut sender, later, 9, &[], Some(echo));
        let w = &sender.congestion.window;
        (w.state, w.cwnd >= 10)
    };
    assert_eq!(outcome(50), (CaState::Open, true));
    assert_eq!(outcome(100), (CaState::Recovery, false));
}

/// RFC 6675 §5: a partial acknowledgement leaves the sender in the recovery, which goes on with the next lost segment.
#[test]
fn a_partial_acknowledgement_goes_on_with_the_recovery() {
    let (mut sender, start) = established_sender(TcpConfig::default(), RTT, 10 * MSS);
    let now = start + RTT;
    ack(&mut sender, now, 0, &[(7, 10)], None);
    let first = repeated(&mut sender);
    let next = *first.last().expect("the head is repeated") + 1;
    assert!(next < 7, "{first:?}");
    ack(&mut sender, now + RTT, 1, &[(7, 10)], None);
    assert_eq!(repeated(&mut sender).first(), Some(&next));
}
