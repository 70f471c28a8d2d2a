//! Tests of recovery without SACK: duplicate ACKs (RFC 5681 §3.2), partial ACKs (RFC 6582), reordering.

use cca::CaState;
use tcp::{Connection, Segment};

use crate::alone::{OWN, ack, at, exact, opened, request, sent};

const MSS: u32 = 1_460;

/// Returns a connection without SACK that has sent its first segments at 100 ms.
fn sending(segments: u32) -> Connection {
    let request = Segment {
        sack_permitted: false,
        ..request()
    };
    let mut socket = opened(exact(), "reno", &request);
    socket.write(at(100), u64::from(segments * MSS));
    sent(&mut socket);
    socket
}

/// Handles an ACK of the first segments, and returns the numbers of those that leave.
fn acked(socket: &mut Connection, ms: u64, segments: u32) -> Vec<u32> {
    socket.on_segment(at(ms), &ack(segments * MSS));
    let all = sent(socket);
    all.iter().map(|each| (each.seq - OWN - 1) / MSS).collect()
}

/// RFC 5681 §3.2 and RFC 6582 §3.2: the third duplicate ACK retransmits the first segment, and a partial ACK the next
/// missing one. The ACK of all outstanding data ends the recovery at half of the window.
#[test]
fn three_duplicates_begin_a_recovery_and_partial_acks_go_on() {
    let mut socket = sending(10);
    assert_eq!(acked(&mut socket, 120, 0), [0_u32; 0]);
    assert_eq!(acked(&mut socket, 121, 0), [0_u32; 0]);
    assert_eq!(socket.view().ca_state, CaState::Disorder);
    assert_eq!(acked(&mut socket, 122, 0), [0]);
    assert_eq!(socket.view().ca_state, CaState::Recovery);
    assert_eq!(socket.view().ssthresh, 5);
    // The first and the fifth segment are lost, so that eight duplicates come.
    for ms in 123..128 {
        assert_eq!(acked(&mut socket, ms, 0), [0_u32; 0]);
    }
    assert_eq!(acked(&mut socket, 142, 4), [4]);
    assert_eq!(socket.view().ca_state, CaState::Recovery);
    assert_eq!(acked(&mut socket, 162, 10), [0_u32; 0]);
    let view = socket.view();
    assert_eq!((view.fast_recoveries, view.timeouts), (Some(1), Some(0)));
    assert_eq!(view.retransmissions, 2);
    // RFC 6582 §4.1: later duplicates of the same number begin no other recovery.
    assert_eq!(view.ca_state, CaState::Recovery);
    socket.write(at(170), u64::from(2 * MSS));
    sent(&mut socket);
    acked(&mut socket, 190, 12);
    let view = socket.view();
    assert_eq!((view.ca_state, view.cwnd), (CaState::Open, 5));
}

/// RFC 3042: each of the first duplicate ACKs lets a new segment leave.
#[test]
fn duplicates_let_new_segments_leave() {
    let mut socket = sending(14);
    assert_eq!(acked(&mut socket, 120, 0), [10]);
    assert_eq!(acked(&mut socket, 125, 0), [11]);
    assert_eq!(socket.view().inflight, 10);
}

/// Linux `tcp_add_reno_sack` and `tcp_remove_reno_sacks`: each segment counts as delivered once, by a duplicate ACK or by
/// the number that covers it.
#[test]
fn each_segment_is_delivered_once() {
    let mut socket = sending(10);
    let before = socket.view().delivered;
    let delivered = |socket: &Connection| socket.view().delivered - before;
    acked(&mut socket, 120, 0);
    acked(&mut socket, 121, 0);
    assert_eq!((delivered(&socket), socket.info(at(121)).sacked), (2, 2));
    acked(&mut socket, 122, 6);
    assert_eq!(delivered(&socket), 6);
    acked(&mut socket, 123, 10);
    assert_eq!(delivered(&socket), 10);
    assert_eq!(socket.info(at(123)).sacked, 0);
}

/// Linux `tcp_limit_reno_sacked`: more duplicate ACKs than segments can have arrived show reordering of all that is
/// outstanding.
#[test]
fn too_many_duplicates_are_reordering() {
    let mut socket = sending(2);
    acked(&mut socket, 120, 0);
    let info = socket.info(at(120));
    assert_eq!((info.sacked, info.reordering_seen), (1, 0));
    acked(&mut socket, 121, 0);
    let info = socket.info(at(121));
    assert_eq!((info.sacked, info.reordering), (1, 2));
    assert_eq!(info.reordering_seen, 1);
    acked(&mut socket, 122, 0);
    assert_eq!(socket.info(at(122)).reordering_seen, 2);
}

/// RFC 5681 §2: a segment with data, or with another window, is no duplicate ACK.
#[test]
fn data_and_windows_are_no_duplicates() {
    let mut socket = sending(10);
    for n in 0..4 {
        let window = Segment {
            window: 60_000 - n,
            ..crate::alone::data(u32::from(n) * 10, 10)
        };
        socket.on_segment(at(120), &window);
        let larger = Segment {
            window: 65_000 + n,
            seq: crate::alone::OTHER + 1 + (u32::from(n) + 1) * 10,
            ..ack(0)
        };
        socket.on_segment(at(120), &larger);
    }
    assert_eq!(socket.info(at(120)).sacked, 0);
    assert_eq!(socket.view().ca_state, CaState::Open);
}

/// Linux `tcp_enter_loss`: a disorder has not reduced the window, so that a time-out does.
#[test]
fn a_time_out_in_disorder_reduces_the_window() {
    let mut socket = sending(10);
    acked(&mut socket, 120, 0);
    assert_eq!(socket.view().ca_state, CaState::Disorder);
    while socket.view().timeouts < Some(1) {
        let due = socket.deadline();
        crate::alone::pass(&mut socket, due);
    }
    let view = socket.view();
    assert_eq!((view.ca_state, view.ssthresh), (CaState::Loss, 5));
    assert_eq!(view.cwnd, 1);
    assert_eq!(socket.info(at(400)).sacked, 0, "the count begins anew");
}
