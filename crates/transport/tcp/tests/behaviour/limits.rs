//! Tests of the times for which something held a sender back: the application, the peer's window, the network.

use cca::SendLimit;
use tcp::{Connection, Segment, TcpConfig};
use units::Duration;

use crate::alone::{OTHER, ack, at, data, exact, opened, request, sent};

const MSS: u32 = 1_460;

/// Returns the milliseconds for which the application, the peer's window and the send buffer were the limit.
fn limited(socket: &Connection) -> [u64; 3] {
    let view = socket.view();
    [
        view.application_limited,
        view.receive_window_limited,
        view.send_buffer_limited,
    ]
    .map(|time| time.map_or(0, Duration::as_millis))
}

/// Linux `tcp_write_xmit` (`TCP_CHRONO_RWND_LIMITED`): the peer's window is the limit where the congestion window
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

/// Returns the milliseconds under each limit until a time, without those that are zero.
fn times(socket: &Connection, ms: u64) -> Vec<(SendLimit, u64)> {
    let limits = socket.view_at(at(ms)).limits.expect("our TCP knows them");
    let all = core::iter::once(SendLimit::Idle).chain(SendLimit::BUSY);
    all.map(|limit| (limit, limits.get(limit).as_millis()))
        .filter(|(_, time)| *time > 0)
        .collect()
}

/// The limits of a sender that writes more than its first window, then waits for its application: they add up to its time
/// since the first data, and those of a busy sender to Linux's `tcpi_busy_time`.
#[test]
fn limits_add_up_to_the_time_since_the_first_data() {
    let mut socket = opened(exact(), "reno", &request());
    socket.write(at(100), u64::from(12 * MSS));
    assert_eq!(sent(&mut socket).len(), 10, "the initial window");
    socket.on_segment(at(140), &ack(10 * MSS));
    assert_eq!(sent(&mut socket).len(), 2);
    socket.on_segment(at(170), &ack(12 * MSS));
    use SendLimit::{Idle, InFlight, StartUp};
    let all = [(Idle, 30), (InFlight, 30), (StartUp, 40)];
    assert_eq!(times(&socket, 200), all);
    let info = socket.info(at(200));
    assert_eq!(info.busy, Duration::from_millis(70));
    assert_eq!(
        info.busy,
        socket.view_at(at(200)).busy.expect("it is known")
    );
}

/// A short segment that Nagle's algorithm keeps back in slow start, where the congestion window has room, waits for the
/// acknowledgement of what is in flight: that is no start-up.
#[test]
fn a_short_segment_that_nagle_holds_in_slow_start_waits_for_what_is_in_flight() {
    let times_with = |nodelay: bool| {
        let mut config = exact();
        config.nagle = !nodelay;
        let mut socket = opened(config, "reno", &request());
        socket.write(at(100), u64::from(2 * MSS + 100));
        let held = 3 - sent(&mut socket).len();
        socket.write(at(110), 100);
        (held, sent(&mut socket).len(), times(&socket, 140))
    };
    let in_flight = vec![(SendLimit::InFlight, 40)];
    assert_eq!(
        times_with(false),
        (0, 0, in_flight.clone()),
        "the second short one waits"
    );
    assert_eq!(times_with(true), (0, 1, in_flight));
}

/// A tail of which nothing is heard: until the time-out expires it is a wait for it, and from then on a recovery.
#[test]
fn the_time_before_a_time_out_is_a_wait_for_it() {
    let mut config = exact();
    config.settings.tlp = false;
    let mut socket = opened(config, "reno", &request());
    socket.write(at(100), u64::from(2 * MSS));
    sent(&mut socket);
    let expiry = socket.deadline();
    socket.on_deadline(expiry);
    assert_eq!(sent(&mut socket).len(), 1, "the first segment again");
    let waited = expiry.since_start().as_millis() - 100;
    let later = expiry.since_start().as_millis() + 25;
    let all = [(SendLimit::Recovery, 25), (SendLimit::TimeOut, waited)];
    assert_eq!(times(&socket, later), all);
}

/// Returns a socket that has filled a window of 4 000 bytes at 100 ms, and has more to send.
fn behind_a_closed_window(config: TcpConfig) -> Connection {
    let mut socket = opened(config, "reno", &request());
    socket.on_segment(at(30), &data(0, 1));
    let small = Segment {
        seq: OTHER + 2,
        window: 4_000,
        ..ack(0)
    };
    socket.on_segment(at(30), &small);
    sent(&mut socket);
    socket.write(at(100), u64::from(20 * MSS));
    assert_eq!(sent(&mut socket).len(), 2, "4 000 bytes have room for two");
    socket
}

/// Linux's chronograph of the receive window takes precedence over what else a busy sender waits for.
#[test]
fn a_closed_window_is_the_limit_of_the_receiver() {
    let socket = behind_a_closed_window(exact());
    assert_eq!(times(&socket, 130), [(SendLimit::ReceiveWindow, 30)]);
    assert_eq!(
        socket.info(at(130)).window_limited,
        Duration::from_millis(30)
    );
}

/// Behind a closed window nothing makes Linux look at the window again until an ACK comes: its chronograph goes on.
#[test]
fn a_time_out_behind_a_closed_window_is_a_wait_that_linux_counts_as_the_window() {
    let mut config = exact();
    config.settings.tlp = false;
    let mut socket = behind_a_closed_window(config);
    let expiry = socket.deadline();
    socket.on_deadline(expiry);
    sent(&mut socket);
    let expiry = expiry.since_start().as_millis();
    let all = [
        (SendLimit::ReceiveWindow, 25),
        (SendLimit::WindowTimeOut, expiry - 100),
    ];
    assert_eq!(times(&socket, expiry + 25), all);
    let limited = socket.info(at(expiry + 25)).window_limited;
    assert_eq!(limited.as_millis(), expiry - 75);
}
