//! One end of a connection whose peer is played by the test, segment by segment.

use cca::{CongestionState, cca_by_name};
use tcp::{Connection, Flags, Segment, State, TcpConfig, TimerExpiry};
use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

/// Initial sequence numbers of the end under test and of the other one.
pub const OWN: u32 = 5_000;
pub const OTHER: u32 = 1_000;

/// Returns the time that many milliseconds after the start.
pub fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

/// Returns a configuration whose timers end after exactly their wait.
pub fn exact() -> TcpConfig {
    TcpConfig {
        timers: TimerExpiry::Exact,
        ..TcpConfig::default()
    }
}

/// Returns the SYN of the peer: SACK, no timestamps, no window scale.
pub fn request() -> Segment {
    Segment {
        seq: OTHER,
        flags: Flags::SYN,
        window: 65_535,
        mss: Some(1_460),
        sack_permitted: true,
        ..Segment::default()
    }
}

/// Returns a connection that is neither listening nor opening.
pub fn closed(config: TcpConfig, cca: &str) -> Connection {
    let draws = RngStream::new(1, Purpose::CongestionControl, 0);
    let built = cca_by_name(cca).expect("a CCA of ours");
    let window = config.initial_window(draws);
    Connection::new(config, CongestionState::new(window, built), OWN, 0)
}

/// Removes and returns the segments that are ready.
pub fn sent(socket: &mut Connection) -> Vec<Segment> {
    core::iter::from_fn(|| socket.poll_transmit()).collect()
}

/// Lets time pass until `end`, and returns what was sent and when.
pub fn pass(socket: &mut Connection, end: Instant) -> Vec<(Instant, Segment)> {
    let mut all = Vec::new();
    while socket.deadline() <= end {
        let deadline = socket.deadline();
        socket.on_deadline(deadline);
        all.extend(sent(socket).into_iter().map(|segment| (deadline, segment)));
    }
    all
}

/// Returns the listening end of a connection that `request` has opened; the SYN came at time zero, and the ACK of the
/// SYN-ACK 20 ms after it.
pub fn opened(config: TcpConfig, cca: &str, request: &Segment) -> Connection {
    let mut socket = closed(config, cca);
    socket.listen();
    socket.on_segment(Instant::ZERO, request);
    let answer = sent(&mut socket)[0];
    let last = Segment {
        timestamps: answer
            .timestamps
            .map(|(value, echo)| (echo.wrapping_add(20), value)),
        ecn: request.ecn,
        ..ack(0)
    };
    socket.on_segment(at(20), &last);
    assert_eq!(socket.state(), State::Established);
    sent(&mut socket);
    socket
}

/// Returns an ACK for the first `bytes` that the end under test has sent, before any data of the peer.
pub fn ack(bytes: u32) -> Segment {
    Segment {
        seq: OTHER + 1,
        ack: OWN + 1 + bytes,
        flags: Flags::ACK,
        window: 65_535,
        ..Segment::default()
    }
}

/// Returns `len` bytes of the peer's stream from `offset` on, which acknowledge nothing new.
pub fn data(offset: u32, len: u32) -> Segment {
    Segment {
        seq: OTHER + 1 + offset,
        len,
        ..ack(0)
    }
}
