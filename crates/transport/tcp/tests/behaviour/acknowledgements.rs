//! Tests of what ACKs carry: SACK blocks, ECN, echoes of marks, and when they leave.

use tcp::{Connection, Ecn, Flags, Segment, Tcp, TcpConfig, TimerExpiry};

use crate::alone::{OTHER, OWN, at, data, exact, opened, request, sent};

const MSS: u32 = 1_460;

fn with_ecn() -> TcpConfig {
    let settings = Tcp {
        ecn: true,
        ..Tcp::default()
    };
    TcpConfig {
        timers: TimerExpiry::Exact,
        ..settings.into()
    }
}

/// Returns the listening end of a connection on which both ends use ECN.
fn capable(cca: &str) -> Connection {
    let request = Segment {
        flags: Flags::SYN | Flags::ECE | Flags::CWR,
        ..request()
    };
    opened(with_ecn(), cca, &request)
}

/// Receives the n-th segment at that time with the ECN field, and returns the ACKs that leave at once.
fn receive(socket: &mut Connection, ms: u64, n: u32, ecn: Ecn) -> Vec<Segment> {
    let segment = Segment {
        ecn,
        ..data(n * MSS, MSS)
    };
    socket.on_segment(at(ms), &segment);
    sent(socket)
}

/// Receives segments until the quick ACKs of the start are used up and the latest ACK covers everything; returns the
/// time and the number of the next segment.
fn settle(socket: &mut Connection, ecn: Ecn) -> (u64, u32) {
    let mut acked = Vec::new();
    for n in 0..40 {
        acked.push(receive(socket, 100 + u64::from(n), n, ecn).len());
        if acked.ends_with(&[0, 1]) {
            return (101 + u64::from(n), n + 1);
        }
    }
    panic!("ACKs are never delayed: {acked:?}");
}

/// RFC 3168 §6.1.4: pure ACKs are not ECN-capable. Linux `INET_ECN_xmit`: with DCTCP all segments are.
#[test]
fn acks_of_dctcp_are_ecn_capable() {
    for (cca, expected) in [("reno", Ecn::NotEct), ("dctcp", Ecn::Ect0)] {
        let mut socket = capable(cca);
        let acks = receive(&mut socket, 100, 0, Ecn::Ect0);
        assert_eq!((acks.len(), acks[0].ecn), (1, expected), "{cca}");
        socket.write(at(100), 100);
        let answer = sent(&mut socket)[0];
        assert_eq!((answer.len, answer.ecn), (100, Ecn::Ect0), "{cca}");
    }
}

/// RFC 8257 §3.2, figure 1: when marks begin or end, what was delayed is acknowledged first, without or with ECE as it
/// was; then the current segment.
#[test]
fn delayed_data_is_acknowledged_before_a_change_of_marks() {
    let mut socket = capable("dctcp");
    let (time, next) = settle(&mut socket, Ecn::Ect0);
    let number = |n: u32| OTHER + 1 + n * MSS;
    let said = |acks: &[Segment]| -> Vec<(u32, bool)> {
        let acks = acks.iter();
        acks.map(|ack| (ack.ack, ack.flags.contains(Flags::ECE)))
            .collect()
    };
    assert_eq!(receive(&mut socket, time, next, Ecn::Ect0), [], "delayed");
    let acks = receive(&mut socket, time + 1, next + 1, Ecn::Ce);
    let expected = [(number(next + 1), false), (number(next + 2), true)];
    assert_eq!(said(&acks), expected, "marks begin");
    assert_eq!(acks[0].flags, Flags::ACK);
    // Nothing is delayed here, so that one ACK is enough.
    let acks = receive(&mut socket, time + 2, next + 2, Ecn::Ect0);
    assert_eq!(said(&acks), [(number(next + 3), false)], "marks end");
}

/// RFC 3168 §6.1.3: ECE from the first mark on, until the peer says that it has reduced its window.
#[test]
fn a_mark_is_echoed_until_the_window_is_reduced() {
    let mut socket = capable("reno");
    let echoes = |acks: &[Segment]| {
        assert_eq!(acks.len(), 1);
        acks[0].flags.contains(Flags::ECE)
    };
    assert!(!echoes(&receive(&mut socket, 100, 0, Ecn::Ect0)));
    assert!(echoes(&receive(&mut socket, 101, 1, Ecn::Ce)));
    assert!(echoes(&receive(&mut socket, 102, 2, Ecn::Ect0)));
    let reduced = Segment {
        flags: Flags::ACK | Flags::CWR,
        ..data(3 * MSS, MSS)
    };
    socket.on_segment(at(103), &reduced);
    assert!(!echoes(&sent(&mut socket)));
    assert!(!echoes(&receive(&mut socket, 104, 4, Ecn::Ect0)));
}

/// Linux `tcp_sack_new_ofo_skb`: ACKs that were merged leave before a third block would displace what they report, and
/// report what had arrived until then.
#[test]
fn merged_acks_leave_with_their_blocks_before_a_third_one() {
    let mut socket = opened(exact(), "reno", &request());
    let (time, next) = settle(&mut socket, Ecn::NotEct);
    let number = |n: u32| OTHER + 1 + (next + n) * MSS;
    for n in [1, 2, 3, 4] {
        receive(&mut socket, time, next + n, Ecn::NotEct);
    }
    for n in [6, 7] {
        assert_eq!(receive(&mut socket, time, next + n, Ecn::NotEct), []);
    }
    let acks = receive(&mut socket, time, next + 9, Ecn::NotEct);
    assert_eq!((acks.len(), acks[0].flags), (1, Flags::ACK));
    let blocks = [(number(6), number(8)), (number(1), number(5))];
    assert_eq!(acks[0].sack.as_slice(), blocks);
    assert_eq!((acks[0].seq, acks[0].ack), (OWN + 1, number(0)));
    assert_eq!(acks[0].len, 0);
}

/// RFC 2018 §3: an end that was not permitted to does not send SACK blocks.
#[test]
fn blocks_need_permission() {
    for permitted in [true, false] {
        let request = Segment {
            sack_permitted: permitted,
            ..request()
        };
        let mut socket = opened(exact(), "reno", &request);
        let acks = receive(&mut socket, 100, 1, Ecn::NotEct);
        assert_eq!(acks[0].sack.is_empty(), !permitted);
        assert_eq!(acks[0].options_len(), if permitted { 12 } else { 0 });
    }
}

/// RFC 9293 §3.10.7.4, Linux `tcp_send_dupack`: a segment before the window is answered; only data in it is reported as
/// a duplicate (RFC 2883 §4).
#[test]
fn an_old_segment_without_data_is_no_duplicate() {
    let mut socket = opened(exact(), "reno", &request());
    receive(&mut socket, 100, 0, Ecn::NotEct);
    receive(&mut socket, 100, 1, Ecn::NotEct);
    socket.on_segment(at(200), &data(0, 0));
    let answers = sent(&mut socket);
    assert_eq!((answers.len(), answers[0].sack.as_slice()), (1, &[][..]));
    let again = receive(&mut socket, 201, 0, Ecn::NotEct);
    let whole = (OTHER + 1, OTHER + 1 + MSS);
    assert_eq!((again.len(), again[0].sack.as_slice()), (1, &[whole][..]));
}

/// Linux `tcp_fin`: an end whose application has not read yet acknowledges the FIN with its next segment, or after the
/// delay of ACKs. One that reads at once acknowledges it at once.
#[test]
fn a_fin_nobody_reads_is_acknowledged_later() {
    for by_request in [true, false] {
        let mut socket = opened(exact(), "reno", &request());
        let (time, next) = settle(&mut socket, Ecn::NotEct);
        if by_request {
            socket.read(at(time), 0);
        }
        let fin = Segment {
            flags: Flags::ACK | Flags::FIN,
            ..data(next * MSS, 0)
        };
        socket.on_segment(at(time + 1), &fin);
        assert_eq!(sent(&mut socket).len(), usize::from(!by_request));
        if by_request {
            let acks = crate::alone::pass(&mut socket, at(time + 1_000));
            assert_eq!(acks.len(), 1);
            assert_eq!(acks[0].1.ack, OTHER + 2 + next * MSS);
            let wait = acks[0].0.saturating_since(at(time + 1)).as_millis();
            assert!((40..=200).contains(&wait), "{wait} ms");
        }
    }
}

/// RFC 7323 §4.3: an ACK echoes the timestamp of the segment that advanced the window, not of one beyond a hole, and
/// that of the first of the segments that it acknowledges.
#[test]
fn echoes_are_of_the_data_that_is_acknowledged() {
    let asks = Segment {
        timestamps: Some((700, 0)),
        ..request()
    };
    let mut socket = opened(exact(), "reno", &asks);
    let mut receive = |n: u32, clock: u32| {
        let segment = Segment {
            timestamps: Some((clock, 20)),
            ..data(n * 1_000, 1_000)
        };
        socket.on_segment(at(100), &segment);
        let acks = sent(&mut socket);
        acks.last()
            .and_then(|ack| ack.timestamps)
            .map(|(_, echo)| echo)
    };
    assert_eq!(receive(0, 800), Some(800));
    assert_eq!(receive(2, 830), Some(800), "beyond a hole");
    assert_eq!(receive(1, 840), Some(840), "it fills the hole");
}
