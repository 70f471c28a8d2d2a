//! Repeated requests: what a listening end does when the SYN arrives again before the handshake is complete.

use cca::{CongestionState, Window, cca_by_name};
use tcp::{Connection, Failure, Flags, Segment, State, TcpConfig, TimerExpiry};
use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

fn request() -> Segment {
    Segment {
        seq: 1_000,
        flags: Flags::SYN,
        window: 65_535,
        mss: Some(1_460),
        ..Segment::default()
    }
}

/// A listening end that has got a request at time zero and answered it.
fn answering() -> Connection {
    let draws = RngStream::new(1, Purpose::CongestionControl, 0);
    let cca = cca_by_name("reno").expect("a CCA of ours");
    let congestion = CongestionState::new(Window::new(1_448, 10, draws), cca);
    let config = TcpConfig {
        timers: TimerExpiry::Exact,
        ..TcpConfig::default()
    };
    let mut socket = Connection::new(config, congestion, 5_000, 0);
    socket.listen();
    socket.on_segment(Instant::ZERO, &request());
    assert_eq!(answers(&mut socket), 1);
    socket
}

/// Removes the SYN-ACKs that are ready and counts them.
fn answers(socket: &mut Connection) -> usize {
    core::iter::from_fn(|| socket.poll_transmit())
        .inspect(|segment| assert_eq!(segment.flags, Flags::SYN | Flags::ACK))
        .count()
}

/// Lets time pass until `end`, and returns how many SYN-ACKs were sent.
fn pass(socket: &mut Connection, end: Instant) -> usize {
    let mut sent = 0;
    while socket.deadline() <= end {
        let deadline = socket.deadline();
        socket.on_deadline(deadline);
        sent += answers(socket);
    }
    sent
}

/// Linux `reqsk_timer_handler`: five repetitions after 1, 2, 4, 8 and 16 seconds, a time-out 32 seconds after the last.
#[test]
fn a_request_is_given_up_after_63_seconds() {
    let mut socket = answering();
    assert_eq!(pass(&mut socket, at(62_999)), 5);
    assert_eq!(socket.state(), State::SynReceived);
    assert_eq!(pass(&mut socket, at(63_000)), 0);
    assert_eq!(socket.failure(), Some(Failure::TimedOut));
}

/// Linux `tcp_check_req`: a SYN that arrives again is answered again. It counts as no time-out, or a network that
/// repeats packets would end the attempt early.
#[test]
fn repeated_requests_do_not_shorten_the_attempt() {
    let mut socket = answering();
    for second in 1..=20 {
        let now = at(600 * second);
        assert_eq!(pass(&mut socket, now), 0, "the time-out begins anew");
        socket.on_segment(now, &request());
        assert_eq!(answers(&mut socket), 1, "at {now:?}");
    }
    assert_eq!(pass(&mut socket, at(12_000 + 62_999)), 5);
    assert_eq!(socket.state(), State::SynReceived);
}

/// Linux `tcp_oow_rate_limited`: one answer in half a second.
#[test]
fn a_burst_of_repeated_requests_is_answered_once() {
    let mut socket = answering();
    for millisecond in 100..110 {
        socket.on_segment(at(millisecond), &request());
    }
    assert_eq!(answers(&mut socket), 1);
}

/// Karn's rule: the ACK may be for any of the SYN-ACKs (Linux `tcp_synack_rtt_meas`).
#[test]
fn a_repeated_answer_measures_no_rtt() {
    let mut socket = answering();
    socket.on_segment(at(700), &request());
    assert_eq!(answers(&mut socket), 1);
    let last = Segment {
        seq: 1_001,
        ack: 5_001,
        flags: Flags::ACK,
        window: 65_535,
        ..Segment::default()
    };
    socket.on_segment(at(710), &last);
    assert_eq!(socket.state(), State::Established);
    assert_eq!(socket.view().srtt, None);
}
