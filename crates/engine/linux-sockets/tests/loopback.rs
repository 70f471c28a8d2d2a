//! Tests on TCP sockets of this machine, over its loopback device.

use std::io::Write;
use std::net::{TcpListener, TcpStream};

use cca::{CaState, SenderInfo};
use linux_sockets::{Counters, PacingCap, SockDiag, options, read_sender};
use nix::sys::socket::{getsockopt, sockopt::TcpCongestion};
use units::{Duration, Instant, Rate};

/// Returns a sender and its receiver.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let sender = TcpStream::connect(listener.local_addr().expect("bound")).expect("a connection");
    (sender, listener.accept().expect("the other end").0)
}

fn view(sender: &TcpStream) -> SenderInfo {
    read_sender(sender, "reno").expect("TCP_INFO")
}

fn transfer((sender, receiver): (&mut TcpStream, &TcpStream), bytes: u64) {
    let piece = vec![0; bytes as usize];
    std::thread::scope(|scope| {
        scope.spawn(|| sender.write_all(&piece).expect("room"));
        assert_eq!(options::discard(receiver, bytes).expect("data"), bytes);
    });
}

#[test]
fn a_new_connection_shows_its_handshake() {
    let (sender, _receiver) = pair();
    let view = view(&sender);
    assert_eq!((view.ca_state, view.cwnd), (CaState::Open, 10));
    assert_eq!((view.packets_out, view.inflight), (0, 0));
    assert!(view.mss > 500, "{view:?}");
    assert!(view.slow_start && view.is_app_limited());
    let (srtt, min_rtt) = (view.srtt.expect("an RTT"), view.min_rtt.expect("an RTT"));
    assert!(min_rtt <= srtt && srtt < Duration::from_secs(1), "{view:?}");
    assert!(view.rto >= Duration::from_millis(100), "{view:?}");
    // Linux knows these per namespace only.
    assert_eq!((view.loss_probes, view.fast_recoveries), (None, None));
    assert_eq!((view.undone, view.slow_start_exit), (None, None));
}

/// Compares a socket without traffic, as counters of others may change between the two calls.
#[test]
fn sock_diag_shows_each_socket_as_its_owner_sees_it() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(address) else {
            println!("skipped: no address such as {address}");
            continue;
        };
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (receiver, _) = listener.accept().unwrap();
        options::set_congestion(&sender, "cubic").expect("Linux's default");
        transfer((&mut sender, &receiver), 300_000);
        let mut sockets = Vec::new();
        SockDiag::open().unwrap().tcp_sockets(&mut sockets).unwrap();
        let local = sender.local_addr().unwrap();
        let shown = sockets.iter().find(|socket| socket.local == local).unwrap();
        assert_eq!(shown.remote, sender.peer_addr().unwrap());
        let own = read_sender(&sender, "cubic").unwrap();
        assert_eq!(shown.sender.delivered, own.delivered);
        assert_eq!((shown.sender.cwnd, shown.sender.mss), (own.cwnd, own.mss));
        assert_eq!(shown.sender.busy, own.busy);
    }
}

#[test]
fn a_socket_without_a_connection_has_no_rtt() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let view = read_sender(&listener, "reno").expect("TCP_INFO");
    assert_eq!((view.srtt, view.min_rtt), (None, None));
    assert_eq!(view.delivery_rate, None);
}

#[test]
fn delivered_segments_are_counted() {
    let (mut sender, receiver) = pair();
    let before = view(&sender);
    transfer((&mut sender, &receiver), 1_000_000);
    let after = view(&sender);
    let segments = after.delivered - before.delivered;
    assert!(
        segments * u64::from(after.mss) >= 900_000,
        "{segments} {after:?}"
    );
    assert!(after.delivery_rate > Some(Rate::ZERO), "{after:?}");
}

#[test]
fn the_end_of_a_stream_ends_reading() {
    let (mut sender, receiver) = pair();
    sender.write_all(&[0; 10]).expect("room");
    drop(sender);
    assert_eq!(options::discard(&receiver, 1_000).expect("data"), 10);
    assert_eq!(options::discard(&receiver, 1_000).expect("the end"), 0);
}

#[test]
fn the_congestion_control_changes_in_flight() {
    let (mut sender, receiver) = pair();
    transfer((&mut sender, &receiver), 10_000);
    options::set_congestion(&sender, "reno").expect("reno is always there");
    let current = getsockopt(&sender, TcpCongestion).expect("its name");
    assert!(current.to_string_lossy().starts_with("reno"), "{current:?}");
    transfer((&mut sender, &receiver), 10_000);
    assert!(options::set_congestion(&sender, "no-such-cca").is_err());
}

#[test]
fn a_cap_of_the_pacing_rate_is_kept_and_lifted() {
    let (mut sender, receiver) = pair();
    options::cap_pacing_rate(&sender, 2_000_000).expect("a cap");
    transfer((&mut sender, &receiver), 100_000);
    assert_eq!(view(&sender).pacing_rate, Some(Rate::from_mbps(16.0)));
    options::cap_pacing_rate(&sender, u64::MAX).expect("no cap");
    transfer((&mut sender, &receiver), 100_000);
    assert!(view(&sender).pacing_rate > Some(Rate::from_mbps(16.0)));
}

#[test]
fn a_cap_bounds_the_rate_of_a_real_connection() {
    let (mut sender, receiver) = pair();
    transfer((&mut sender, &receiver), 100_000);
    let before = SenderInfo {
        srtt: Some(Duration::from_millis(2)),
        min_rtt: Some(Duration::from_millis(1)),
        ..view(&sender)
    };
    let cap = PacingCap::new(Instant::ZERO, &before).expect("RTTs are known");
    cap.apply(&sender).expect("a cap");
    assert!(cap.window() <= before.cwnd);
    transfer((&mut sender, &receiver), 100_000);
    let rate = view(&sender).pacing_rate.expect("a rate");
    let whole_window = u64::from(before.cwnd) * u64::from(before.mss) * 8 * 1_000 / 2;
    assert!(rate.bits_per_second() < whole_window, "{rate:?}");
}

#[test]
fn announced_window_and_mss_are_capped() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    options::clamp_window(&listener, 20_000).expect("a clamp");
    options::set_max_segment(&listener, 1_000).expect("a segment size");
    let sender = TcpStream::connect(listener.local_addr().expect("bound")).expect("a connection");
    let view = view(&sender);
    assert!(view.send_window <= Some(20_000), "{view:?}");
    assert!(view.send_window > Some(0), "{view:?}");
    assert!(view.mss <= 1_000, "{view:?}");
}

#[test]
fn counters_can_be_read() {
    let counters = Counters::read().expect("/proc");
    let again = Counters::read().expect("/proc");
    assert!(again.timeouts >= counters.timeouts);
}
