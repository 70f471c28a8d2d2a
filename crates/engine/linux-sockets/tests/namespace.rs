//! Tests in a network namespace of their own, which need root.
//!
//! They are a separate binary, because a thread that has entered the namespace would run later tests in it.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use linux_sockets::{Netlink, RouteMetric, sysctl_file};
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, unshare};

/// Enters a namespace with only `lo`, which is down; returns false if that is not permitted.
fn enter() -> bool {
    let entered = unshare(CloneFlags::CLONE_NEWNET);
    if let Err(error) = entered {
        println!("skipped: no network namespace: {error}");
    }
    entered.is_ok()
}

#[test]
fn a_device_gets_an_address_and_a_route() {
    if !enter() {
        return;
    }
    let netlink = Netlink::open().expect("netlink");
    let lo = if_nametoindex("lo").expect("lo");
    let address = IpAddr::from([10, 1, 2, 3]);
    let connect = || UdpSocket::bind(("0.0.0.0", 0))?.connect((Ipv4Addr::new(192, 0, 2, 1), 9));
    assert!(connect().is_err());
    netlink.bring_up(lo, 1_500, Some(2)).expect("up");
    netlink.add_address(lo, address).expect("an address");
    let metrics = vec![RouteMetric::InitCwnd(4)];
    netlink
        .add_default_route(lo, address, metrics)
        .expect("a route");
    connect().expect("a route for everything");
    let again = netlink.add_address(lo, address).expect_err("it is there");
    assert_eq!(again.kind(), std::io::ErrorKind::AlreadyExists);
    // A route over a new IPv6 address works at once: the address skips duplicate address detection.
    let [own, other] = [1, 2].map(|host| IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, host]));
    netlink.add_address(lo, own).expect("an IPv6 address");
    netlink
        .set_route(lo, own, other, vec![RouteMetric::InitCwnd(4)])
        .expect("an IPv6 route");
    let ecn = std::fs::read_to_string(sysctl_file("net.ipv4.tcp_ecn")).expect("a sysctl");
    assert!(ecn.trim().parse::<u8>().is_ok(), "{ecn:?}");
}
