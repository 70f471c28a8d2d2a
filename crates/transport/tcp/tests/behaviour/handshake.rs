//! Tests of the handshake: the options of SYN and SYN-ACK, and their repetition.

use tcp::{Failure, Flags, Segment, State, Tcp, TcpConfig, TimerExpiry, WindowScale};
use units::{Duration, Instant};

use crate::alone::{OTHER, OWN, ack, at, closed, exact, pass, request, sent};

fn of(settings: Tcp) -> TcpConfig {
    TcpConfig {
        timers: TimerExpiry::Exact,
        ..settings.into()
    }
}

/// Returns the SYN that a connection with that configuration sends first.
fn first_syn(config: TcpConfig) -> Segment {
    let mut socket = closed(config, "reno");
    socket.connect(Instant::ZERO);
    let all = sent(&mut socket);
    assert_eq!(all.len(), 1);
    all[0]
}

/// RFC 9293 §3.7.1, RFC 7323 §2.2 and §3.2, RFC 2018 §2: the SYN offers all that this end can do. 64 240 bytes are 44
/// segments, as Linux offers; timestamps are counted as part of the segment as long as nobody has agreed.
#[test]
fn the_syn_offers_what_this_end_can_do() {
    let syn = first_syn(exact());
    let expected = Segment {
        seq: OWN,
        flags: Flags::SYN,
        window: 64_240,
        mss: Some(1_460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some((0, 0)),
        ..Segment::default()
    };
    assert_eq!(syn, expected);
    let settings = Tcp {
        timestamps: false,
        window_scale: WindowScale::Off,
        mss: Some(units::Bytes::new(1_000)),
        ..Tcp::default()
    };
    let syn = first_syn(TcpConfig {
        sack: false,
        ..of(settings)
    });
    assert_eq!((syn.mss, syn.window), (Some(1_000), 65_000));
    assert_eq!((syn.window_scale, syn.timestamps), (None, None));
    assert!(!syn.sack_permitted);
}

/// RFC 7323 §2.2 and §3.2, RFC 2018 §2: a SYN-ACK has an option only if the SYN had it, and if this end can do it.
#[test]
fn the_syn_ack_has_only_options_of_the_syn() {
    let full = Segment {
        window_scale: Some(9),
        timestamps: Some((700, 0)),
        ..request()
    };
    let bare = Segment {
        sack_permitted: false,
        ..request()
    };
    let answer = |config: TcpConfig, request: &Segment| {
        let mut socket = closed(config, "reno");
        socket.listen();
        socket.on_segment(at(30), request);
        let answer = sent(&mut socket)[0];
        assert_eq!((answer.seq, answer.ack), (OWN, OTHER + 1));
        assert_eq!(answer.flags, Flags::SYN | Flags::ACK);
        (
            answer.window_scale,
            answer.timestamps,
            answer.sack_permitted,
        )
    };
    assert_eq!(answer(exact(), &full), (Some(7), Some((30, 700)), true));
    assert_eq!(answer(exact(), &bare), (None, None, false));
    let settings = Tcp {
        timestamps: false,
        window_scale: WindowScale::Off,
        ..Tcp::default()
    };
    let poor = TcpConfig {
        sack: false,
        ..of(settings)
    };
    assert_eq!(answer(poor, &full), (None, None, false));
}

/// RFC 7323 §2.3: the shift is at most 14, and windows of SYN segments are not scaled.
#[test]
fn the_window_is_scaled_after_the_handshake() {
    for (shift, scaled) in [(0, 1), (1, 2), (14, 1 << 14), (15, 1 << 14)] {
        let request = Segment {
            window: 1_000,
            window_scale: Some(shift),
            ..request()
        };
        let mut socket = closed(exact(), "reno");
        socket.listen();
        socket.on_segment(at(0), &request);
        let last = Segment {
            window: 1_000,
            ..ack(0)
        };
        socket.on_segment(at(20), &last);
        sent(&mut socket);
        socket.write(at(30), 1 << 20);
        let bytes: u32 = sent(&mut socket).iter().map(|each| each.len).sum();
        let window = 1_000 * scaled;
        // Ten segments are the initial window.
        assert!(bytes <= window.min(14_600), "{shift}: {bytes}");
        assert!(bytes + 1_460 > window.min(14_600), "{shift}: {bytes}");
    }
}

/// Linux `tcp_syn_linear_timeouts` and `tcp_syn_retries`: four more SYNs a second apart, six at doubled distances, the
/// last one after 67 seconds, and the end after 131.
#[test]
fn a_syn_is_repeated_ten_times() {
    let mut socket = closed(exact(), "reno");
    socket.connect(Instant::ZERO);
    let first = sent(&mut socket)[0];
    let again = pass(&mut socket, at(130_999));
    let millis: Vec<u64> = again
        .iter()
        .map(|(at, _)| at.since_start().as_millis())
        .collect();
    let expected = [1, 2, 3, 4, 5, 7, 11, 19, 35, 67].map(|second| second * 1_000);
    assert_eq!(millis, expected);
    for (at, segment) in &again {
        let clock = at.since_start().as_millis() as u32;
        let same = Segment {
            timestamps: Some((clock, 0)),
            ..first
        };
        assert_eq!(*segment, same);
    }
    assert_eq!(socket.handshake_timeouts(), 10);
    assert_eq!(
        (socket.state(), socket.failure()),
        (State::SynSent, None),
        "it still waits"
    );
    assert_eq!(pass(&mut socket, at(131_000)), []);
    assert_eq!(socket.failure(), Some(Failure::TimedOut));
    assert_eq!(socket.deadline(), Instant::NEVER);
}

/// RFC 6298 §5.5 and §2.5: doubled time-outs are bounded.
#[test]
fn the_time_out_of_a_syn_is_bounded() {
    let config = TcpConfig {
        max_rto: Duration::from_secs(3),
        ..exact()
    };
    let mut socket = closed(config, "reno");
    socket.connect(Instant::ZERO);
    sent(&mut socket);
    let again = pass(&mut socket, at(14_000));
    let millis: Vec<u64> = again
        .iter()
        .map(|(at, _)| at.since_start().as_millis())
        .collect();
    let expected = [1, 2, 3, 4, 5, 7, 10, 13].map(|second| second * 1_000);
    assert_eq!(millis, expected);
}

/// RFC 9293 §3.10.7.3: in SYN-SENT a reset counts only if it acknowledges the SYN, and an ACK of something else is
/// answered by a reset.
#[test]
fn only_an_answer_to_the_syn_counts() {
    let mut socket = closed(exact(), "reno");
    socket.connect(Instant::ZERO);
    sent(&mut socket);
    let answer = |flags: Flags, ack: u32| Segment {
        seq: OTHER,
        ack,
        flags,
        window: 65_535,
        mss: Some(1_460),
        ..Segment::default()
    };
    for (flags, ack) in [(Flags::RST, 0), (Flags::ACK, OWN + 1), (Flags::NONE, 0)] {
        socket.on_segment(at(10), &answer(flags, ack));
        assert_eq!(socket.state(), State::SynSent, "{flags:?}");
        assert_eq!(sent(&mut socket), []);
    }
    for flags in [Flags::ACK, Flags::SYN | Flags::ACK] {
        socket.on_segment(at(10), &answer(flags, OWN + 2));
        let resets = sent(&mut socket);
        assert_eq!(socket.state(), State::SynSent);
        assert_eq!((resets.len(), resets[0].flags), (1, Flags::RST));
        assert_eq!(resets[0].seq, OWN + 2);
    }
    socket.on_segment(at(10), &answer(Flags::RST | Flags::ACK, OWN + 1));
    assert_eq!(socket.failure(), Some(Failure::Refused));
    assert_eq!(socket.state(), State::Closed);
}

/// RFC 9293 §3.10.7.2: an end that listens takes only SYN segments.
#[test]
fn a_listening_end_takes_requests_only() {
    for flags in [Flags::ACK, Flags::RST, Flags::SYN | Flags::RST, Flags::FIN] {
        let mut socket = closed(exact(), "reno");
        socket.listen();
        socket.on_segment(at(10), &Segment { flags, ..request() });
        assert_eq!(socket.state(), State::Listen, "{flags:?}");
        assert_eq!(sent(&mut socket), []);
    }
}

/// RFC 9293 §3.5, figure 7: both ends open at the same time.
#[test]
fn two_ends_may_open_at_the_same_time() {
    let mut socket = closed(exact(), "reno");
    socket.connect(Instant::ZERO);
    sent(&mut socket);
    socket.on_segment(at(10), &request());
    assert_eq!(socket.state(), State::SynReceived);
    let answer = sent(&mut socket)[0];
    assert_eq!((answer.seq, answer.ack), (OWN, OTHER + 1));
    assert_eq!(answer.flags, Flags::SYN | Flags::ACK);
    socket.on_segment(at(20), &ack(0));
    assert_eq!(socket.state(), State::Established);
}
