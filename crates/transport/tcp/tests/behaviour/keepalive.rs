//! Tests of keep-alive (RFC 9293 §3.8.4), as Linux does it.

use tcp::{Connection, Failure, Flags, Segment, State, Tcp, TcpConfig};
use units::Duration;

use crate::alone::{ack, at, data, exact, opened, pass, request, sent};

/// A connection that is probed after 10 s of silence, then every 3 s, and times out after four probes.
fn probed(user_timeout: Option<Duration>) -> Connection {
    let seconds = Duration::from_secs;
    let settings = Tcp {
        keepalive: Some(seconds(10)),
        keepalive_interval: Some(seconds(3)),
        keepalive_probes: Some(4),
        user_timeout,
        ..Tcp::default()
    };
    let config = TcpConfig {
        user_timeout,
        settings,
        ..exact()
    };
    opened(config, "reno", &request())
}

/// Times of what is sent until `end`, milliseconds.
fn times(socket: &mut Connection, end: u64) -> Vec<u64> {
    let all = pass(socket, at(end));
    all.iter()
        .map(|(at, _)| at.since_start().as_millis())
        .collect()
}

#[test]
fn an_idle_connection_is_probed_and_then_given_up() {
    let mut socket = probed(None);
    let all = pass(&mut socket, at(60_000));
    let times: Vec<u64> = all
        .iter()
        .map(|(at, _)| at.since_start().as_millis())
        .collect();
    assert_eq!(times, [10_020, 13_020, 16_020, 19_020, 22_020]);
    let (reset, probes) = all.split_last().expect("there are some");
    for (_, probe) in probes {
        assert_eq!((probe.len, probe.flags), (0, Flags::ACK));
        assert_eq!(
            probe.seq,
            ack(0).ack - 1,
            "below what the other end expects"
        );
    }
    assert!(reset.1.flags.contains(Flags::RST));
    assert_eq!(socket.failure(), Some(Failure::TimedOut));
}

/// The first probe comes ten seconds after the latest segment, whatever it was.
#[test]
fn an_answer_begins_the_silence_anew() {
    let mut socket = probed(None);
    assert_eq!(times(&mut socket, 12_000), [10_020]);
    socket.on_segment(at(12_000), &ack(0));
    assert_eq!(times(&mut socket, 24_000), [22_000]);
    socket.on_segment(at(24_000), &data(0, 100));
    sent(&mut socket);
    let later = times(&mut socket, 34_500);
    assert_eq!(later.last(), Some(&34_000));
    assert_eq!(socket.state(), State::Established);
}

#[test]
fn data_on_its_way_is_left_to_its_own_timers() {
    let mut socket = probed(None);
    socket.write(at(100), 100);
    sent(&mut socket);
    let all = pass(&mut socket, at(15_000));
    assert!(all.iter().all(|(_, segment)| segment.len == 100));
}

/// `TCP_USER_TIMEOUT` takes the place of the number of probes.
#[test]
fn the_user_timeout_bounds_the_silence() {
    let mut socket = probed(Some(Duration::from_secs(12)));
    assert_eq!(times(&mut socket, 60_000), [10_020, 13_020]);
    assert_eq!(socket.failure(), Some(Failure::TimedOut));
}

/// An application that has ended its own stream still reads; its connection is probed until the peer ends, too.
#[test]
fn half_a_connection_is_probed_too() {
    let mut socket = probed(None);
    socket.close(at(100));
    sent(&mut socket);
    let fin = data(0, 0).ack.wrapping_add(1);
    socket.on_segment(at(120), &Segment { ack: fin, ..ack(0) });
    assert_eq!(socket.state(), State::FinWait2);
    assert_eq!(
        times(&mut socket, 60_000),
        [10_120, 13_120, 16_120, 19_120, 22_120]
    );
    assert_eq!(socket.failure(), Some(Failure::TimedOut));
}

#[test]
fn without_it_nothing_is_sent() {
    let mut socket = opened(exact(), "reno", &request());
    assert_eq!(pass(&mut socket, at(100 * 3_600 * 1_000)).len(), 0);
}
