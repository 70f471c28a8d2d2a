//! Tests of an open connection with segments whose acknowledgement numbers are implausible.

use cca::{CongestionState, Window, cca_by_name};
use tcp::{Connection, Flags, Segment, State, TcpConfig};
use units::Instant;
use units::random::{Purpose, RngStream};

const LOCAL_ISS: u32 = 5_000;
const PEER_ISS: u32 = 1_000;

fn segment(ack: u32, len: u32, flags: Flags) -> Segment {
    Segment {
        seq: PEER_ISS + 1,
        ack,
        len,
        flags,
        window: 65_535,
        ..Segment::default()
    }
}

/// Returns the listening end of an open connection.
fn open() -> Connection {
    let draws = RngStream::new(1, Purpose::CongestionControl, 0);
    let cca = cca_by_name("reno").expect("a CCA of ours");
    let congestion = CongestionState::new(Window::new(1_460, 10, draws), cca);
    let mut socket = Connection::new(TcpConfig::default(), congestion, LOCAL_ISS, 0);
    socket.listen();
    let request = Segment {
        seq: PEER_ISS,
        flags: Flags::SYN,
        window: 65_535,
        mss: Some(1_460),
        ..Segment::default()
    };
    socket.on_segment(Instant::ZERO, &request);
    socket.on_segment(Instant::ZERO, &segment(LOCAL_ISS + 1, 0, Flags::ACK));
    assert_eq!(socket.state(), State::Established);
    while socket.poll_transmit().is_some() {}
    socket
}

/// RFC 5961 §5.2: an ACK of data that was never sent, or far older than any window, is challenged, and the data with
/// it is dropped.
#[test]
fn data_with_an_impossible_ack_is_dropped_and_challenged() {
    for ack in [LOCAL_ISS + 2, LOCAL_ISS.wrapping_sub(70_000)] {
        let mut socket = open();
        socket.on_segment(Instant::ZERO, &segment(ack, 100, Flags::ACK));
        assert_eq!(socket.received(), 0, "{ack}");
        let answer = socket.poll_transmit().expect("a challenge");
        assert_eq!(
            (answer.flags, answer.ack, answer.len),
            (Flags::ACK, PEER_ISS + 1, 0)
        );
    }
}

#[test]
fn data_with_an_old_ack_is_accepted() {
    let mut socket = open();
    socket.on_segment(
        Instant::ZERO,
        &segment(LOCAL_ISS.wrapping_sub(60_000), 100, Flags::ACK),
    );
    assert_eq!(socket.received(), 100);
}

/// RFC 9293 §3.10.7.4: a segment without the ACK flag is dropped.
#[test]
fn data_without_an_ack_is_dropped() {
    let mut socket = open();
    socket.on_segment(Instant::ZERO, &segment(0, 100, Flags::PSH));
    assert_eq!(socket.received(), 0);
    assert!(socket.poll_transmit().is_none());
}

/// RFC 1122 §4.2.2.13, Linux `tcp_rcv_state_process`: data for an application that is gone is answered by a reset, old
/// data is not.
#[test]
fn data_after_close_is_rejected() {
    for (detached, len, rejected) in [(true, 100, true), (false, 100, false), (true, 0, false)] {
        let mut socket = open();
        if detached {
            socket.detach(Instant::ZERO);
        } else {
            socket.close(Instant::ZERO);
        }
        while socket.poll_transmit().is_some() {}
        socket.on_segment(Instant::ZERO, &segment(LOCAL_ISS + 1, len, Flags::ACK));
        let answers: Vec<_> = core::iter::from_fn(|| socket.poll_transmit()).collect();
        let resets = answers.iter().any(|each| each.flags.contains(Flags::RST));
        assert_eq!(resets, rejected, "{detached} {len}");
        assert_eq!(socket.state() == State::Closed, rejected);
    }
}

/// `tcpi_options`: SACK is reported once the peer has agreed, not before and not where it is off.
#[test]
fn options_are_reported_once_negotiated() {
    let sack = 2;
    assert_eq!(
        open().info(Instant::ZERO).options & sack,
        0,
        "not asked for"
    );
    let draws = RngStream::new(1, Purpose::CongestionControl, 0);
    let cca = cca_by_name("reno").expect("a CCA of ours");
    let congestion = CongestionState::new(Window::new(1_460, 10, draws), cca);
    let socket = Connection::new(TcpConfig::default(), congestion, LOCAL_ISS, 0);
    assert_eq!(socket.info(Instant::ZERO).options & sack, 0, "not open");
}
