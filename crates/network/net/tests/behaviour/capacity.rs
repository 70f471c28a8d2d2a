//! Rates: never above, and not below where something waits.

use std::sync::Arc;

use link_trace::{Opportunities, Steps};
use net::{Limit, LinkCapacity};
use proptest::prelude::*;
use units::{Bytes, Duration, Instant, Rate};

use crate::lab::{LINK, Lab, ms};

#[test]
fn packets_follow_each_other_at_the_rate_and_arrive_after_the_delay() {
    let capacity = LinkCapacity::Constant(Rate::from_mbps(12.0));
    let mut lab = Lab::new(capacity, |link| link.delay = Duration::from_millis(30));
    for _ in 0..3 {
        lab.send(ms(0), 1_500);
    }
    lab.send(ms(10), 1_500);
    assert_eq!(lab.finish(ms(100)).arrivals_ms(), [31, 32, 33, 41]);
}

#[test]
fn an_outage_only_takes_time() {
    let mbps = Rate::from_mbps;
    let after = Duration::from_millis;
    let steps = vec![
        (after(0), mbps(12.0)),
        (after(2), Rate::ZERO),
        (after(50), mbps(24.0)),
    ];
    let mut lab = Lab::new(LinkCapacity::steps(&steps).unwrap(), |_| {});
    lab.send(ms(0), 1_500);
    lab.send(ms(0), 1_500);
    lab.send(ms(0), 1_500);
    lab.send(ms(20), 1_500);
    let notes = lab.finish(ms(100));
    let micros: Vec<_> = notes
        .received
        .iter()
        .map(|(_, at)| at.since_start().as_micros())
        .collect();
    assert_eq!(micros, [1_000, 2_000, 50_500, 51_000]);
}

#[test]
fn a_link_that_ends_keeps_what_it_has() {
    let after = Duration::from_millis;
    let steps = vec![(after(0), Rate::from_mbps(12.0)), (after(1), Rate::ZERO)];
    let mut lab = Lab::new(LinkCapacity::steps(&steps).unwrap(), |_| {});
    for _ in 0..3 {
        lab.send(ms(0), 1_500);
    }
    lab.until(ms(1_000_000));
    assert_eq!(lab.network().next_event(), Instant::NEVER);
    assert_eq!(lab.network().packets_inside(), 2);
    assert_eq!(lab.finish(ms(1_000_000)).arrivals_ms(), [1]);
}

#[test]
fn an_empty_network_waits_for_nothing() {
    let lab = Lab::new(LinkCapacity::Constant(Rate::from_mbps(1.0)), |_| {});
    assert_eq!(lab.network().next_event(), Instant::NEVER);
}

#[test]
fn a_packet_above_the_mtu_is_dropped() {
    let capacity = LinkCapacity::Constant(Rate::from_mbps(1.0));
    let mut lab = Lab::new(capacity, |link| link.mtu = 1_400);
    lab.send(ms(0), 1_401);
    lab.send(ms(0), 1_400);
    let notes = lab.finish(ms(100));
    assert_eq!(notes.dropped, [(0, net::DropReason::Mtu)]);
    assert_eq!(notes.order(), [1]);
}

#[test]
fn a_queue_in_packets_holds_that_many_beside_the_one_in_transmission() {
    let capacity = LinkCapacity::Constant(Rate::from_mbps(12.0));
    let mut lab = Lab::new(capacity, |link| link.queue.limit = Limit::Packets(2));
    for _ in 0..5 {
        lab.send(ms(0), 1_500);
    }
    let notes = lab.finish(ms(100));
    assert_eq!(notes.order(), [0, 1, 2]);
    assert_eq!(notes.longest_backlog, 2);
}

fn capacities() -> impl Strategy<Value = LinkCapacity> {
    let rate = || (0_u64..40_000_000).prop_map(Rate::from_bits_per_second);
    let offset = || (0_u64..500_000_000).prop_map(Duration::from_nanos);
    let steps = || {
        prop::collection::vec((1_u64..40_000_000, rate()), 1..8).prop_map(|lengths| {
            let mut at = Duration::ZERO;
            let mut steps = Vec::new();
            for (length, rate) in lengths {
                steps.push((at, rate));
                at += Duration::from_nanos(length);
            }
            steps.push((at, Rate::from_mbps(3.0)));
            steps
        })
    };
    let in_trace = |trace, offset| LinkCapacity::Trace {
        trace: Arc::new(trace),
        offset,
    };
    prop_oneof![
        (10_000_u64..10_000_000_000)
            .prop_map(|bits| LinkCapacity::Constant(Rate::from_bits_per_second(bits))),
        steps().prop_map(|steps| { LinkCapacity::steps(&steps).unwrap() }),
        (steps(), offset()).prop_map(move |(steps, offset)| {
            let period = steps[steps.len() - 1].0 + Duration::from_millis(7);
            in_trace(Steps::new(&steps, period).unwrap().into(), offset)
        }),
        (prop::collection::vec(0_u32..60, 1..30), offset()).prop_map(move |(mut at, offset)| {
            at.sort_unstable();
            at.push(61);
            in_trace(Opportunities::new(at).unwrap().into(), offset)
        }),
    ]
}

proptest! {
    /// Held against [`net::Network::capacity_bytes`] in every window between a start and a finish,
    /// the slow way; the checker of the lab does it its own way.
    #[test]
    fn no_window_carries_more_than_the_capacity(
        capacity in capacities(),
        sends in prop::collection::vec((0_u64..20_000_000, 40_u32..=1_500), 1..60),
    ) {
        let moment_counts = match &capacity {
            LinkCapacity::Trace { trace, .. } => matches!(**trace, link_trace::Trace::Opportunities(_)),
            _ => false,
        };
        let mut lab = Lab::new(capacity.clone(), |_| {});
        let reference = Lab::new(capacity, |_| {});
        let mut at = Instant::ZERO;
        let count = sends.len();
        for (pause, size) in sends {
            at += Duration::from_nanos(pause);
            lab.send(at, size);
        }
        let notes = lab.finish(ms(10_000_000));
        prop_assert_eq!(notes.received.len(), count);
        for (first, &(_, start, _)) in notes.transmitted.iter().enumerate() {
            let back = u64::from(moment_counts && start > Instant::ZERO);
            let from = Instant::from_nanos(start.as_nanos() - back);
            let mut bytes = 0;
            for &(packet, _, finish) in &notes.transmitted[first..] {
                bytes += u64::from(packet.size);
                let allowed = reference.network().capacity_bytes(LINK, from, finish);
                prop_assert!(bytes <= allowed.get(), "{bytes} > {allowed} from {from:?} to {finish:?}");
            }
        }
    }

    #[test]
    fn a_busy_link_loses_less_than_a_nanosecond_per_packet(
        bits in 100_000_u64..10_000_000_000, sizes in prop::collection::vec(40_u32..=1_500, 1..80)
    ) {
        let rate = Rate::from_bits_per_second(bits);
        let mut lab = Lab::new(LinkCapacity::Constant(rate), |_| {});
        for &size in &sizes {
            lab.send(ms(0), size);
        }
        let notes = lab.finish(ms(10_000_000));
        let bytes = sizes.iter().map(|&size| u64::from(size)).sum();
        let ideal = rate.time_to_send(Bytes::new(bytes)).as_nanos();
        let last = notes.received.last().unwrap().1.as_nanos();
        prop_assert!(last >= ideal && last <= ideal + sizes.len() as u64);
    }
}
