//! Delivery opportunities as mahimahi uses them.

use std::sync::Arc;

use link_trace::Opportunities;
use net::{DropReason, Limit, LinkCapacity};
use units::{Bytes, Duration, Instant};

use crate::lab::{LINK, Lab, ms};

fn capacity(at_ms: &[u32], offset: u64) -> LinkCapacity {
    let trace = Arc::new(Opportunities::new(at_ms.to_vec()).unwrap().into());
    LinkCapacity::Trace {
        trace,
        offset: Duration::from_millis(offset),
    }
}

fn lab(at_ms: &[u32]) -> Lab {
    Lab::new(capacity(at_ms, 0), |_| {})
}

#[test]
fn a_packet_leaves_at_the_first_opportunity_after_it_came() {
    let mut lab = lab(&[5, 9, 20]);
    lab.send(ms(1), 1_500);
    lab.send(ms(9), 1_500);
    assert_eq!(lab.finish(ms(100)).arrivals_ms(), [5, 20]);
}

#[test]
fn several_small_packets_share_an_opportunity() {
    let mut lab = lab(&[5, 20]);
    for _ in 0..4 {
        lab.send(ms(0), 500);
    }
    assert_eq!(lab.finish(ms(100)).arrivals_ms(), [5, 5, 5, 20]);
}

#[test]
fn a_packet_that_does_not_fit_goes_on_at_the_next_opportunity() {
    let mut lab = lab(&[5, 20, 30, 50]);
    for _ in 0..3 {
        lab.send(ms(0), 1_000);
    }
    // 1000 + 500 at 5 ms, 500 + 1000 at 20 ms.
    assert_eq!(lab.finish(ms(100)).arrivals_ms(), [5, 20, 20]);
}

#[test]
fn what_is_left_of_an_opportunity_is_lost_when_nothing_waits() {
    let mut lab = lab(&[5, 20, 30]);
    lab.send(ms(0), 100);
    lab.send(ms(6), 1_500);
    lab.send(ms(6), 100);
    assert_eq!(lab.finish(ms(100)).arrivals_ms(), [5, 20, 30]);
}

#[test]
fn a_packet_that_came_during_a_transmission_uses_the_rest_of_its_last_opportunity() {
    let mut lab = Lab::new(capacity(&[5, 20, 30], 0), |link| link.mtu = 9_000);
    lab.send(ms(0), 2_000);
    lab.send(ms(10), 1_000);
    assert_eq!(lab.finish(ms(100)).arrivals_ms(), [20, 20]);
}

#[test]
fn opportunities_of_one_millisecond_add_up() {
    let mut lab = lab(&[7, 7, 7, 20]);
    for _ in 0..4 {
        lab.send(ms(0), 1_500);
    }
    assert_eq!(lab.finish(ms(100)).arrivals_ms(), [7, 7, 7, 20]);
}

#[test]
fn nothing_is_lost_between_opportunities_of_one_millisecond() {
    let mut lab = lab(&[7, 7, 20]);
    for _ in 0..3 {
        lab.send(ms(0), 1_000);
    }
    assert_eq!(lab.finish(ms(100)).arrivals_ms(), [7, 7, 7]);
}

#[test]
fn the_trace_begins_again_after_its_last_opportunity_and_where_the_offset_says() {
    let mut lab = Lab::new(capacity(&[0, 4, 10], 3), |_| {});
    for _ in 0..5 {
        lab.send(ms(0), 1_500);
    }
    assert_eq!(lab.finish(ms(100)).arrivals_ms(), [1, 7, 7, 11, 17]);
}

#[test]
fn a_packet_waits_in_the_queue_until_its_opportunity() {
    let mut lab = Lab::new(capacity(&[50], 0), |link| {
        link.queue.limit = Limit::Bytes(Bytes::new(3_000))
    });
    for at in [0, 10, 20] {
        lab.send(ms(at), 1_500);
    }
    assert_eq!(lab.network().queue(LINK).packets, 2);
    let notes = lab.finish(ms(200));
    assert_eq!(notes.dropped, [(2, DropReason::Overflow)]);
    assert_eq!(notes.arrivals_ms(), [50, 100]);
}

#[test]
fn capacity_counts_opportunities_whatever_is_sent() {
    let lab = lab(&[5, 20, 30]);
    let capacity = |from, to| lab.network().capacity_bytes(LINK, ms(from), ms(to)).get();
    assert_eq!(capacity(0, 5), 1_500);
    assert_eq!(capacity(5, 30), 3_000);
    assert_eq!(capacity(0, 300), 45_000);
    assert_eq!(
        lab.network()
            .capacity_bytes(LINK, Instant::ZERO, Instant::ZERO),
        Bytes::new(0)
    );
}
