//! Tests of the times for which something held a sender back: the application, the other end's window, the network.

use tcp::{Connection, Segment};
use units::Duration;

use crate::alone::{OTHER, ack, at, data, exact, opened, request, sent};

const MSS: u32 = 1_460;

/// Returns the milliseconds for which the application, the other end's window and the send buffer were the limit.
fn limited(socket: &Connection) -> [u64; 3] {
    let view = socket.view();
    [
        view.application_limited,
        view.receive_window_limited,
        view.send_buffer_limited,
    ]
    .map(|time| time.map_or(0, Duration::as_millis))
}

/// Linux `tcp_write_xmit` (`TCP_CHRONO_RWND_LIMITED`): the other end's window is the limit where the congestion window
/// has room and the next segment does not fit. A full congestion window is a limit of the network.
#[test]
fn a_small_offered_window_is_the_limit_until_it_opens() {
    let mut socket = opened(exact(), "reno", &request());
    socket.on_segment(at(30), &data(0, 1));
    let acked = |segments: u32| Segment {
        seq: OTHER + 2,
        ..ack(segments * MSS)
    };
    let small = Segment {
        window: 4_000,
        ..acked(0)
    };
    socket.on_segment(at(30), &small);
    sent(&mut socket);
    socket.write(at(100), u64::from(20 * MSS));
    assert_eq!(sent(&mut socket).len(), 2, "4 000 bytes have room for two");
    socket.on_segment(at(130), &acked(2));
    let burst = sent(&mut socket).len() as u32;
    assert_eq!(socket.view().inflight, socket.view().cwnd);
    assert_eq!(limited(&socket), [0, 30, 0]);
    socket.on_segment(at(170), &acked(2 + burst));
    assert_eq!(limited(&socket), [0, 30, 0], "40 ms of the network");
    sent(&mut socket);
    socket.on_segment(at(180), &acked(20));
    socket.write(at(250), 100);
    assert_eq!(limited(&socket), [80, 30, 0], "it had nothing to send");
}
