//! Tests of the maximum segment size where the ends announce different ones (RFC 9293 §3.7.1).

use tcp::{Flags, Segment, Tcp, TcpConfig};
use units::Instant;

use crate::alone::{OTHER, ack, at, closed, data, exact, opened, request, sent};

fn syn_with_mss(mss: Option<u16>) -> Segment {
    Segment { mss, ..request() }
}

/// RFC 9293 §3.7.1: an end sends segments up to the MSS of its peer, 536 bytes without one. Its own MSS and its window,
/// a multiple of that (Linux `tcp_select_initial_window`), do not depend on the peer's.
#[test]
fn segments_are_bounded_by_the_peers_mss() {
    for (announced, len) in [(Some(1_000), 1_000), (Some(9_000), 1_460), (None, 536)] {
        let mut socket = closed(exact(), "reno");
        socket.listen();
        socket.on_segment(Instant::ZERO, &syn_with_mss(announced));
        let answer = sent(&mut socket)[0];
        assert_eq!(answer.flags, Flags::SYN | Flags::ACK);
        assert_eq!((answer.mss, answer.window), (Some(1_460), 64_240));
        socket.on_segment(at(20), &ack(0));
        socket.write(at(20), 5_000);
        let first = sent(&mut socket)[0];
        assert_eq!(first.len, len, "{announced:?}");
    }
}

/// Linux `tcp_measure_rcv_mss`: the sizes that arrive are bounded by what this end announces, not by what the peer
/// takes. So every second segment is acknowledged (RFC 1122 §4.2.3.2).
#[test]
fn the_peer_may_send_larger_segments_than_it_takes() {
    let mut socket = opened(exact(), "reno", &syn_with_mss(Some(536)));
    let mut acks = Vec::new();
    for n in 0..44 {
        socket.on_segment(at(100 + u64::from(n)), &data(n * 1_460, 1_460));
        acks.push(sent(&mut socket).len());
    }
    assert_eq!(acks[24..].iter().sum::<usize>(), 10, "{acks:?}");
}

/// RFC 7323 §3.2: the option takes 12 bytes of each segment, once both ends have agreed on it.
#[test]
fn timestamps_take_room_in_each_segment() {
    for (local, peer) in [(true, true), (true, false), (false, true), (false, false)] {
        let settings = Tcp {
            timestamps: local,
            ..Tcp::default()
        };
        let config: TcpConfig = settings.into();
        let request = Segment {
            timestamps: peer.then_some((700, 0)),
            ..request()
        };
        let mut socket = opened(config, "reno", &request);
        socket.write(at(20), 5_000);
        let first = sent(&mut socket)[0];
        let agreed = local && peer;
        assert_eq!(first.len, if agreed { 1_448 } else { 1_460 });
        assert_eq!(first.timestamps, agreed.then_some((20, 720)));
        assert_eq!((first.ip_len(), first.ack), (1_500, OTHER + 1));
    }
}
