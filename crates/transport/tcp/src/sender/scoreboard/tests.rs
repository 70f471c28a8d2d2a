//! Tests of the counters of the scoreboard.

use super::*;
use proptest::prelude::*;

/// Returns a transmission at `n` nanoseconds.
fn tx(n: u64) -> Transmission {
    let at = Instant::from_nanos(n);
    Transmission {
        sent_at: at,
        first_tx: at,
        delivered_at: at,
        delivered: n,
        app_limited: false,
        tx_in_flight: 0,
        lost: 0,
    }
}

/// Adds the segment with the ten bytes from `10 * n` on, sent at `at` nanoseconds.
fn push(board: &mut Scoreboard, n: u64, at: u64) {
    board.push(n * 10, n * 10 + 10, false, tx(at));
}

fn recount(board: &Scoreboard) -> (u32, u32, u32) {
    let mut counts = (0, 0, 0);
    for ordinal in board.ordinals() {
        let entry = board.get(ordinal);
        counts.0 += u32::from(entry.sacked);
        counts.1 += u32::from(entry.lost);
        counts.2 += u32::from(entry.retransmitted);
    }
    counts
}

/// RFC 8985 §7.3 like in Linux: a probe repeats a segment without counting as in flight again.
#[test]
fn a_probe_is_not_counted_in_flight_a_second_time() {
    let mut board = Scoreboard::new();
    push(&mut board, 1, 1);
    push(&mut board, 2, 2);
    board.mark_tlp(1, tx(3));
    assert_eq!((board.in_flight(), board.retrans_out), (2, 0));
    assert!(board.get(1).ever_retransmitted);
    board.mark_lost(1);
    board.mark_retransmitted(1, tx(4));
    assert_eq!((board.in_flight(), board.retrans_out), (2, 1));
}

/// Linux retransmits the contents of one buffer as one burst.
#[test]
fn losses_of_one_burst_are_retransmitted_together() {
    let mut board = Scoreboard::new();
    for (n, at) in [(1, 1), (2, 1), (3, 1), (4, 9), (5, 9)] {
        push(&mut board, n, at);
    }
    for ordinal in [0, 1, 2, 3] {
        board.mark_lost(ordinal);
    }
    assert_eq!(board.lost_together(0, 10), 3);
    assert_eq!(board.lost_together(0, 2), 2);
    assert_eq!(board.lost_together(3, 10), 1);
}

proptest! {
    #[test]
    fn counters_and_time_order_hold_for_any_events(
        steps in prop::collection::vec((0_u8..6, 0_u64..20), 1..200)
    ) {
        let mut board = Scoreboard::new();
        let mut clock = 0;
        for (what, which) in steps {
            clock += 1;
            let range = board.ordinals();
            let ordinal = range.start + which % (range.end - range.start).max(1);
            let inside = range.contains(&ordinal);
            match what {
                0 | 1 => push(&mut board, clock, clock),
                2 => { board.pop(); }
                3 if inside && !board.get(ordinal).sacked => board.mark_sacked(ordinal),
                4 if inside => { board.mark_lost(ordinal); }
                5 => if let Some(next) = board.next_to_retransmit() {
                    board.mark_retransmitted(next, tx(clock));
                },
                _ => {}
            }
            prop_assert_eq!(
                recount(&board), (board.sacked_out, board.lost_out, board.retrans_out)
            );
            let mut walked = board.oldest_transmission();
            let mut last = Instant::ZERO;
            while let Some(ordinal) = walked {
                prop_assert!(board.get(ordinal).tx.sent_at >= last);
                last = board.get(ordinal).tx.sent_at;
                walked = board.next_transmission(ordinal);
            }
        }
    }
}
