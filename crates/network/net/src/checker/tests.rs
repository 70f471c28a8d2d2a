//! Tests of the checker: it finds each violation in forged events.

use units::{Bytes, Duration, Rate};

use super::*;
use crate::{Jitter, JitterDistribution, Limit, LinkCapacity, LinkConfig};

const LINK: LinkId = LinkId(0);

/// A link of 1 Mbit/s (12 ms per packet) and 10 ms from node 0 to node 1, for 3000 waiting bytes.
fn checker(change: impl FnOnce(&mut LinkConfig)) -> Checker {
    let mut topology = Topology::default();
    let (a, b) = (topology.node("a"), topology.node("b"));
    let rate = LinkCapacity::Constant(Rate::from_mbps(1.0));
    let mut forward = LinkConfig::new("there", a, b, rate.clone(), Duration::from_millis(10));
    forward.queue.limit = Limit::Bytes(Bytes::new(3_000));
    change(&mut forward);
    let back = LinkConfig::new("back", b, a, rate, Duration::from_millis(10));
    topology.links = vec![forward, back];
    Checker::new(&topology).unwrap()
}

fn packet(id: u64) -> Packet {
    Packet {
        id,
        size: 1_500,
        destination: HostId(1),
        ..Packet::default()
    }
}

fn ms(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

fn backlog(packets: u64) -> Backlog {
    Backlog {
        bytes: 1_500 * packets,
        packets,
    }
}

fn send(checker: &mut Checker, id: u64, at: u64, finish: u64) {
    checker.on_sent(ms(at), HostId(0), &packet(id));
    checker.on_transmitted(LINK, &packet(id), ms(at), ms(finish));
}

#[track_caller]
fn assert_found(checker: &Checker, message: &str) {
    assert_eq!(checker.verify().unwrap_err().to_string(), message);
}

#[test]
fn a_correct_run_passes() {
    let mut checker = checker(|_| {});
    send(&mut checker, 1, 0, 12);
    checker.on_sent(ms(5), HostId(0), &packet(2));
    checker.on_enqueued(ms(5), LINK, &packet(2), backlog(1));
    checker.on_transmitted(LINK, &packet(2), ms(12), ms(24));
    checker.on_received(ms(22), HostId(1), &packet(1));
    checker.on_dropped(ms(34), LINK, &packet(2), DropReason::Loss);
    assert_eq!(checker.verify(), Ok(()));
    assert_eq!((checker.packets.len(), checker.inside), (2, 0));
}

#[test]
fn a_link_above_its_rate_is_found_over_several_packets() {
    let mut checker = checker(|_| {});
    send(&mut checker, 1, 100, 112);
    send(&mut checker, 2, 112, 124);
    assert_eq!(checker.verify(), Ok(()));
    // Capacity of idle time cannot be used later.
    send(&mut checker, 3, 200, 212);
    send(&mut checker, 4, 210, 222);
    assert_found(
        &checker,
        "link \"there\" is above its rate: 250 bytes too many until 0.222000000s",
    );
}

#[test]
fn an_opportunity_is_used_once() {
    let opportunities = link_trace::Opportunities::new(vec![10, 20]).unwrap();
    let trace = std::sync::Arc::new(opportunities.into());
    let capacity = LinkCapacity::Trace {
        trace,
        offset: Duration::ZERO,
    };
    let mut checker = checker(|link| link.capacity = capacity);
    send(&mut checker, 1, 10, 10);
    assert_eq!(checker.verify(), Ok(()));
    send(&mut checker, 2, 10, 10);
    assert_found(
        &checker,
        "link \"there\" is above its rate: 1500 bytes too many until 0.010000000s",
    );
}

#[test]
fn a_full_queue_is_found() {
    let mut checker = checker(|_| {});
    for id in 1..=3 {
        checker.on_sent(ms(0), HostId(0), &packet(id));
        checker.on_enqueued(ms(0), LINK, &packet(id), backlog(id));
    }
    assert_found(
        &checker,
        "the queue of link \"there\" holds 4500 bytes at 0.000000000s, its limit is 3000",
    );
}

#[test]
fn a_wrong_backlog_is_found() {
    let mut checker = checker(|_| {});
    checker.on_sent(ms(0), HostId(0), &packet(1));
    checker.on_enqueued(ms(0), LINK, &packet(1), backlog(0));
    assert_found(
        &checker,
        "queue of link \"there\": reported 0 bytes at 0.000000000s, actual 1500",
    );
}

#[test]
fn a_packet_faster_than_the_delay_is_found() {
    let mut checker = checker(|_| {});
    send(&mut checker, 1, 0, 12);
    checker.on_received(ms(21), HostId(1), &packet(1));
    assert_found(
        &checker,
        "packet 1 is early: seen at 0.021000000s, possible from 0.022000000s",
    );
}

#[test]
fn a_packet_sent_before_it_came_is_found() {
    let mut checker = checker(|_| {});
    checker.on_sent(ms(5), HostId(0), &packet(1));
    checker.on_enqueued(ms(5), LINK, &packet(1), backlog(1));
    checker.on_transmitted(LINK, &packet(1), ms(4), ms(16));
    assert_found(
        &checker,
        "packet 1 is early: seen at 0.004000000s, possible from 0.005000000s",
    );
}

#[test]
fn overtaking_in_the_queue_is_found() {
    let mut checker = checker(|_| {});
    for id in 1..=2 {
        checker.on_sent(ms(0), HostId(0), &packet(id));
        checker.on_enqueued(ms(0), LINK, &packet(id), backlog(id));
    }
    checker.on_transmitted(LINK, &packet(2), ms(0), ms(12));
    assert_found(
        &checker,
        "packet 2 overtakes packet 1 at link \"there\" at 0.000000000s",
    );
}

#[test]
fn overtaking_on_the_wire_is_found_unless_the_link_reorders() {
    let overtake = |checker: &mut Checker| {
        send(checker, 1, 0, 12);
        send(checker, 2, 12, 24);
        checker.on_received(ms(50), HostId(1), &packet(2));
        checker.on_received(ms(51), HostId(1), &packet(1));
    };
    let mut strict = checker(|_| {});
    overtake(&mut strict);
    assert_found(
        &strict,
        "packet 2 overtakes packet 1 at link \"there\" at 0.050000000s",
    );
    let mean = Duration::from_millis(9);
    let mut loose = checker(|link| {
        link.jitter = Some(Jitter {
            distribution: JitterDistribution::Exponential,
            mean,
            sd: Duration::ZERO,
            reorder: true,
        })
    });
    overtake(&mut loose);
    assert_eq!(loose.verify(), Ok(()));
}

#[test]
fn a_packet_delivered_twice_or_never_sent_is_found() {
    let twice = "and was never sent, sent twice, or gone before";
    let mut repeated = checker(|_| {});
    send(&mut repeated, 1, 0, 12);
    repeated.on_received(ms(22), HostId(1), &packet(1));
    repeated.on_received(ms(23), HostId(1), &packet(1));
    assert_found(
        &repeated,
        &format!("packet 1 is seen at 0.023000000s, {twice}"),
    );
    let mut invented = checker(|_| {});
    invented.on_transmitted(LINK, &packet(9), ms(0), ms(12));
    assert_found(
        &invented,
        &format!("packet 9 is seen at 0.000000000s, {twice}"),
    );
}

#[test]
fn a_packet_that_jumps_out_of_the_queue_is_found() {
    let mut checker = checker(|_| {});
    checker.on_sent(ms(0), HostId(0), &packet(1));
    checker.on_enqueued(ms(0), LINK, &packet(1), backlog(1));
    checker.on_received(ms(50), HostId(1), &packet(1));
    assert_found(
        &checker,
        "packet 1 leaves the queue of link \"there\" at 0.050000000s without transmission",
    );
}

#[test]
fn a_packet_at_the_wrong_host_is_found() {
    let mut checker = checker(|_| {});
    send(&mut checker, 1, 0, 12);
    checker.on_received(ms(22), HostId(0), &packet(1));
    assert_found(
        &checker,
        "packet 1 is delivered to HostId(0) at 0.022000000s, which is not its destination",
    );
}

#[test]
fn a_packet_that_vanishes_is_found() {
    let mut topology = Topology::default();
    let (a, b) = (topology.node("a"), topology.node("b"));
    let link = |name, from, to| {
        LinkConfig::new(
            name,
            from,
            to,
            LinkCapacity::Constant(Rate::from_mbps(1.0)),
            Duration::ZERO,
        )
    };
    topology.links = vec![link("there", a, b), link("back", b, a)];
    let mut checker = Checker::new(&topology).unwrap();
    let empty = Network::new(&topology, 1).unwrap();
    checker.on_sent(ms(0), a, &packet(1));
    let message = checker.verify_with(&empty).unwrap_err().to_string();
    assert_eq!(message, "1 packets should be under way, 0 are");
}

#[test]
fn a_correct_middlebox_passes() {
    let mut checker = checker(|_| {});
    send(&mut checker, 1, 0, 12);
    checker.on_arrived(ms(22), HostId(1), &packet(1));
    checker.on_created(ms(22), HostId(0), &packet(2));
    checker.on_transmitted(LINK, &packet(2), ms(22), ms(34));
    checker.on_arrived(ms(44), HostId(1), &packet(2));
    // The first one was held back.
    checker.on_received(ms(50), HostId(1), &packet(2));
    checker.on_absorbed(ms(60), HostId(1), &packet(1));
    assert_eq!(checker.verify(), Ok(()));
    assert_eq!((checker.packets.len(), checker.inside), (2, 0));
}

#[test]
fn a_middlebox_that_forges_is_found() {
    let twice = "and was never sent, sent twice, or gone before";
    let mut unsent = checker(|_| {});
    unsent.on_arrived(ms(0), HostId(0), &packet(7));
    assert_found(
        &unsent,
        &format!("packet 7 is seen at 0.000000000s, {twice}"),
    );
    let mut reappeared = checker(|_| {});
    reappeared.on_sent(ms(0), HostId(0), &packet(1));
    reappeared.on_absorbed(ms(0), HostId(0), &packet(1));
    reappeared.on_transmitted(LINK, &packet(1), ms(1), ms(13));
    assert_found(
        &reappeared,
        &format!("packet 1 is seen at 0.001000000s, {twice}"),
    );
    let mut copied = checker(|_| {});
    copied.on_sent(ms(0), HostId(0), &packet(1));
    copied.on_created(ms(1), HostId(0), &packet(1));
    assert_found(
        &copied,
        &format!("packet 1 is seen at 0.001000000s, {twice}"),
    );
    let mut moved = checker(|_| {});
    moved.on_created(ms(0), HostId(1), &packet(1));
    moved.on_transmitted(LINK, &packet(1), ms(0), ms(12));
    assert_found(
        &moved,
        "packet 1 is seen at HostId(0) at 0.000000000s, expected at HostId(1)",
    );
    let mut remote = checker(|_| {});
    send(&mut remote, 1, 0, 12);
    remote.on_absorbed(ms(22), HostId(0), &packet(1));
    assert_found(
        &remote,
        "packet 1 is seen at HostId(0) at 0.022000000s, expected at HostId(1)",
    );
}
