//! Tests of the end of a connection: FINs in any order, TIME-WAIT, resets (RFC 9293 §3.6 and §3.10.7.4).

use tcp::{Connection, Failure, Flags, Segment, State};
use units::Instant;

use crate::alone::{OTHER, OWN, ack, at, data, exact, opened, pass, request, sent};

/// Returns the FIN of the peer after `offset` bytes, which acknowledges the first `bytes` of this end.
fn fin(offset: u32, bytes: u32) -> Segment {
    Segment {
        flags: Flags::ACK | Flags::FIN,
        ack: OWN + 1 + bytes,
        ..data(offset, 0)
    }
}

fn open() -> Connection {
    opened(exact(), "reno", &request())
}

/// Returns flags, number and acknowledged number of all segments that are ready.
fn said(socket: &mut Connection) -> Vec<(Flags, u32, u32)> {
    let all = sent(socket);
    assert!(all.iter().all(|each| each.sack.is_empty()));
    all.iter()
        .map(|each| (each.flags, each.seq, each.ack))
        .collect()
}

const FIN_ACK: Flags = Flags::from_bits(0x11);

/// RFC 9293 §3.6, case 1: this end closes first and waits.
#[test]
fn the_end_that_closes_first_waits_for_a_minute() {
    let mut socket = open();
    socket.close(at(100));
    assert_eq!(said(&mut socket), [(FIN_ACK, OWN + 1, OTHER + 1)]);
    assert_eq!(socket.state(), State::FinWait1);
    socket.on_segment(at(120), &ack(1));
    assert_eq!(socket.state(), State::FinWait2);
    socket.on_segment(at(140), &fin(0, 1));
    assert_eq!(said(&mut socket), [(Flags::ACK, OWN + 2, OTHER + 2)]);
    assert_eq!(socket.state(), State::TimeWait);
    assert_eq!(pass(&mut socket, at(60_139)), []);
    assert_eq!(socket.state(), State::TimeWait);
    assert_eq!(pass(&mut socket, at(60_140)), []);
    assert_eq!((socket.state(), socket.failure()), (State::Closed, None));
}

/// RFC 9293 §3.6, case 2: the peer closes first. This end may go on to send.
#[test]
fn the_end_that_closes_last_is_done_with_the_ack() {
    let mut socket = open();
    socket.on_segment(at(100), &fin(0, 0));
    assert_eq!(said(&mut socket), [(Flags::ACK, OWN + 1, OTHER + 2)]);
    assert_eq!(socket.state(), State::CloseWait);
    assert!(socket.has_ended());
    assert_eq!(socket.write(at(110), 500), 500);
    assert_eq!(sent(&mut socket)[0].len, 500);
    socket.close(at(120));
    assert_eq!(socket.state(), State::LastAck);
    assert_eq!(said(&mut socket), [(FIN_ACK, OWN + 501, OTHER + 2)]);
    let last = |bytes| Segment {
        seq: OTHER + 2,
        ..ack(bytes)
    };
    socket.on_segment(at(140), &last(500));
    assert_eq!(
        socket.state(),
        State::LastAck,
        "the FIN is not acknowledged"
    );
    socket.on_segment(at(150), &last(501));
    assert_eq!(socket.state(), State::Closed);
    assert_eq!(socket.acknowledged(), 500);
    assert_eq!(socket.deadline(), Instant::NEVER);
}

/// RFC 9293 §3.6, case 3: both ends close at the same time.
#[test]
fn two_ends_may_close_at_the_same_time() {
    let mut socket = open();
    socket.close(at(100));
    sent(&mut socket);
    socket.on_segment(at(110), &fin(0, 0));
    assert_eq!(said(&mut socket), [(Flags::ACK, OWN + 2, OTHER + 2)]);
    assert_eq!(socket.state(), State::Closing);
    let last = Segment {
        seq: OTHER + 2,
        ..ack(1)
    };
    socket.on_segment(at(120), &last);
    assert_eq!(socket.state(), State::TimeWait);
}

/// RFC 9293 §3.10.7.4: a FIN that also acknowledges ours leads from FIN-WAIT-1 to TIME-WAIT.
#[test]
fn a_fin_may_acknowledge_a_fin() {
    let mut socket = open();
    socket.close(at(100));
    sent(&mut socket);
    socket.on_segment(at(120), &fin(0, 1));
    assert_eq!(said(&mut socket), [(Flags::ACK, OWN + 2, OTHER + 2)]);
    assert_eq!(socket.state(), State::TimeWait);
}

/// Linux `tcp_timewait_state_process`: a FIN that arrives again is acknowledged without SACK, and the minute begins
/// anew. So it does with the ACK that is expected, which needs no answer. Old ACKs are answered twice a second.
#[test]
fn time_wait_answers_what_arrives_late() {
    let mut socket = open();
    socket.close(at(100));
    sent(&mut socket);
    socket.on_segment(at(120), &fin(0, 1));
    sent(&mut socket);
    let answer = [(Flags::ACK, OWN + 2, OTHER + 2)];
    for ms in [320, 330] {
        socket.on_segment(at(ms), &fin(0, 1));
        assert_eq!(said(&mut socket), answer);
    }
    let expected = Segment {
        seq: OTHER + 2,
        ..ack(1)
    };
    socket.on_segment(at(20_000), &expected);
    assert_eq!(said(&mut socket), []);
    for (ms, answers) in [(30_000, 1), (30_499, 0), (30_500, 1)] {
        socket.on_segment(at(ms), &ack(1));
        assert_eq!(said(&mut socket), answer[..answers], "{ms}");
    }
    assert_eq!(socket.deadline(), at(90_500));
    let reset = Segment {
        seq: OTHER + 2,
        flags: Flags::RST,
        ..Segment::default()
    };
    socket.on_segment(at(40_000), &reset);
    assert_eq!(socket.state(), State::Closed);
}

/// RFC 9293 §3.10.4: the FIN follows all data, and goes again if it is lost.
#[test]
fn a_lost_fin_goes_again() {
    let mut socket = open();
    socket.write(at(100), 300);
    socket.close(at(100));
    let first: Vec<_> = sent(&mut socket).iter().map(|each| each.len).collect();
    assert_eq!(first, [300, 0]);
    socket.on_segment(at(120), &ack(300));
    let again = pass(&mut socket, at(2_000));
    assert!(!again.is_empty());
    for (_, segment) in again {
        assert_eq!((segment.flags, segment.seq), (FIN_ACK, OWN + 301));
    }
}

/// RFC 5961 §3.2: only a reset at the expected number counts; one elsewhere in the window is challenged, one outside is
/// dropped.
#[test]
fn only_an_exact_reset_counts() {
    for (offset, answers, failure) in [
        (0, 0, Some(Failure::Reset)),
        (1, 1, None),
        (30_000, 1, None),
        (100_000, 0, None),
    ] {
        let mut socket = open();
        let reset = Segment {
            flags: Flags::RST,
            ..data(offset, 0)
        };
        socket.on_segment(at(100), &reset);
        assert_eq!(socket.failure(), failure, "{offset}");
        let challenge = (Flags::ACK, OWN + 1, OTHER + 1);
        assert_eq!(said(&mut socket), vec![challenge; answers], "{offset}");
    }
}

/// RFC 9293 §3.10.7.4 and Linux `tcp_reset`: the error depends on what the application was doing.
#[test]
fn a_reset_after_the_fin_breaks_the_pipe() {
    let mut socket = open();
    socket.on_segment(at(100), &fin(0, 0));
    let reset = Segment {
        seq: OTHER + 2,
        flags: Flags::RST,
        ..Segment::default()
    };
    socket.on_segment(at(110), &reset);
    assert_eq!(socket.failure(), Some(Failure::Pipe));
    assert_eq!(socket.write(at(120), 10), 0);
}

/// RFC 9293 §3.10.5: an abort resets the connection, unless it is already over.
#[test]
fn an_abort_sends_a_reset() {
    let mut socket = open();
    socket.write(at(100), 300);
    sent(&mut socket);
    socket.abort(at(110));
    let reset = (Flags::RST | Flags::ACK, OWN + 301, OTHER + 1);
    assert_eq!(said(&mut socket), [reset]);
    assert_eq!((socket.state(), socket.failure()), (State::Closed, None));
    let mut waiting = open();
    waiting.close(at(100));
    sent(&mut waiting);
    waiting.on_segment(at(120), &fin(0, 1));
    sent(&mut waiting);
    waiting.abort(at(130));
    assert_eq!(said(&mut waiting), []);
    assert_eq!(waiting.state(), State::Closed);
}

/// RFC 9293 §3.10.7.4: data behind the FIN of the peer does not exist.
#[test]
fn the_stream_ends_with_the_fin() {
    let mut socket = open();
    socket.on_segment(at(100), &data(0, 400));
    socket.on_segment(at(101), &fin(700, 0));
    assert!(!socket.has_ended(), "300 bytes are missing");
    assert_eq!(socket.received(), 400);
    socket.on_segment(at(102), &data(400, 300));
    assert!(socket.has_ended());
    assert_eq!(socket.received(), 700);
    assert_eq!(socket.state(), State::CloseWait);
}
