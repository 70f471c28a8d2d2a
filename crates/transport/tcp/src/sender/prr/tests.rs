//! Tests of the proportional rate reduction (RFC 9937 §6.2).

use units::Duration;

use crate::config::TcpConfig;
use crate::sender::Sender;
use crate::sender::test_sender::{MSS, established_sender};

/// Returns a sender with ten segments in flight in a reduction from `prior` to `target`, of which `delivered` were
/// delivered and `out` sent before.
fn reducing(prior: u32, target: u32, delivered: u64, out: u64) -> Sender {
    let rtt = Duration::from_millis(50);
    let (mut sender, _) = established_sender(TcpConfig::default(), rtt, 10 * MSS);
    let w = &mut sender.congestion.window;
    (w.prior_cwnd, w.ssthresh) = (prior, target);
    sender.prr.start();
    (sender.prr.delivered, sender.prr.out) = (delivered, out);
    sender
}

/// Returns how many segments `sender` may send after an ACK.
fn sends(mut sender: Sender, newly: u32, lost: u32, una_advanced: bool) -> u32 {
    sender.reduce_window(newly, lost, una_advanced);
    sender.congestion.window.cwnd - sender.board.in_flight()
}

/// RFC 9937 §6.2: above the threshold `SndCnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out`.
#[test]
fn above_the_threshold_sending_is_in_proportion_to_what_was_delivered() {
    assert_eq!(sends(reducing(18, 9, 3, 1), 1, 0, true), 1);
    assert_eq!(sends(reducing(18, 9, 6, 1), 1, 0, true), 3);
    assert_eq!(sends(reducing(18, 9, 9, 3), 1, 0, true), 2);
    assert_eq!(sends(reducing(18, 9, 9, 3), 2, 0, true), 3, "rounded up");
    assert_eq!(sends(reducing(18, 9, 9, 5), 1, 0, true), 0);
}

/// RFC 9937 §6.2: at the threshold and below `SndCnt = MAX(prr_delivered - prr_out, DeliveredData)`, and one more after
/// a safe ACK, which advances `SND.UNA` and indicates no further loss.
#[test]
fn below_the_threshold_sending_makes_up_for_what_was_delivered() {
    let below = |delivered, out| reducing(24, 20, delivered, out);
    assert_eq!(sends(below(3, 1), 1, 0, false), 3, "4 delivered, 1 sent");
    assert_eq!(sends(below(3, 4), 1, 0, false), 1, "as many as the ACK");
    assert_eq!(sends(below(3, 4), 2, 0, false), 2);
    assert_eq!(sends(below(3, 4), 2, 0, true), 3, "a safe ACK");
    assert_eq!(sends(below(3, 4), 2, 1, true), 2, "further loss");
    assert_eq!(sends(below(3, 4), 2, 1, false), 2);
}

/// RFC 9937 §6.2: `SndCnt = MIN(ssthresh - inflight, SndCnt)`.
#[test]
fn the_window_does_not_pass_the_threshold() {
    assert_eq!(sends(reducing(24, 12, 8, 1), 3, 0, true), 2);
    assert_eq!(sends(reducing(12, 10, 11, 1), 1, 0, true), 0);
}

/// RFC 9937 §6.2: "Force a fast retransmit upon entering recovery."
#[test]
fn the_first_segment_is_always_sent() {
    assert_eq!(sends(reducing(24, 10, 0, 0), 1, 1, false), 1);
    assert_eq!(sends(reducing(24, 10, 0, 1), 1, 1, false), 0);
}

/// An ACK that delivers nothing, or comes after no reduction, changes nothing.
#[test]
fn without_deliveries_the_window_stays() {
    for (prior, newly) in [(24, 0), (0, 1)] {
        let mut sender = reducing(prior, 5, 3, 1);
        let cwnd = sender.congestion.window.cwnd;
        sender.reduce_window(newly, 0, true);
        assert_eq!(sender.congestion.window.cwnd, cwnd);
    }
}
