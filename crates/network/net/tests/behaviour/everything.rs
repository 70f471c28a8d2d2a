//! Whatever is configured, the checker has nothing to complain about, and the seed decides.

use config::{Cross, Distribution};
use net::{
    Codel, FqCodel, GilbertElliott, GilbertElliottTime, Jitter, JitterDistribution, Limit,
    LinkCapacity, LinkConfig, Loss, LossStep, Pie, Queue, QueueConfig, Red, Topology,
};
use proptest::prelude::*;
use tcp::Ecn;
use units::{Bytes, Duration, Instant, Rate};

use crate::lab::{Lab, Notes, ms};

prop_compose! {
    fn queues()(
        discipline in prop_oneof![
            Just(Queue::Droptail),
            any::<bool>().prop_map(|ecn| {
                Queue::Codel(Codel { ecn, ..Codel::default() })
            }),
            (1_u32..20).prop_map(|flows| {
                Queue::FqCodel(FqCodel { flows, ..FqCodel::default() })
            }),
            any::<bool>().prop_map(|ecn| {
                Queue::Pie(Pie { ecn, ..Pie::default() })
            }),
            (any::<bool>(), any::<bool>()).prop_map(|(ecn, adaptive)| {
                Queue::Red(Red { ecn, adaptive, ..Red::default() })
            }),
        ],
        limit in prop_oneof![
            (1_u64..60_000).prop_map(|bytes| Limit::Bytes(Bytes::new(bytes))),
            (1_u64..50).prop_map(Limit::Packets),
            Just(Limit::Unlimited),
        ],
    ) -> QueueConfig {
        QueueConfig { limit, discipline }
    }
}

fn jitter() -> impl Strategy<Value = Option<Jitter>> {
    let distribution = prop_oneof![
        (0_u64..9).prop_map(|ms| {
            // From zero to twice the mean: a standard deviation of the mean / √3.
            let (mean, sd) = (ms * 500_000, ms * 288_675);
            (JitterDistribution::Uniform, mean, sd)
        }),
        (0_u64..9).prop_map(|ms| (JitterDistribution::Normal, ms * 1_000_000, 3_000_000)),
    ];
    let jitter =
        (distribution, any::<bool>()).prop_map(|((distribution, mean, sd), reorder)| Jitter {
            distribution,
            mean: Duration::from_nanos(mean),
            sd: Duration::from_nanos(sd),
            reorder,
        });
    prop::option::of(jitter)
}

fn losses() -> impl Strategy<Value = Loss> {
    prop_oneof![
        Just(Loss::NONE),
        (0.0..0.5).prop_map(Loss::Random),
        Just(Loss::GilbertElliott(GilbertElliott {
            to_bad: 0.05,
            to_good: 0.3,
            loss_good: 0.01,
            loss_bad: 0.6
        })),
        (1..50u64, 1..50u64).prop_map(|(good, bad)| {
            Loss::GilbertElliottTime(GilbertElliottTime {
                good: Duration::from_millis(good),
                bad: Duration::from_millis(bad),
                loss_good: 0.0,
                loss_bad: 1.0,
            })
        }),
        (0.0..1.0, 1..90u64).prop_map(|(loss, from)| {
            let step = |ms, loss| LossStep {
                at: Duration::from_millis(ms),
                loss,
            };
            Loss::Steps(vec![step(0, 0.0), step(from, loss)])
        }),
    ]
}

fn capacities() -> impl Strategy<Value = LinkCapacity> {
    let opportunities = |mut at: Vec<u32>| {
        at.sort_unstable();
        at.push(90);
        let trace = std::sync::Arc::new(link_trace::Opportunities::new(at).unwrap().into());
        LinkCapacity::Trace {
            trace,
            offset: Duration::from_micros(12_345),
        }
    };
    let steps = |mbps: u64| {
        let rate = |mbps: u64| Rate::from_bits_per_second(1_000_000 * mbps);
        let ms = Duration::from_millis;
        LinkCapacity::steps(&[
            (ms(0), rate(mbps)),
            (ms(40), Rate::ZERO),
            (ms(90), rate(2 * mbps)),
        ])
        .unwrap()
    };
    prop_oneof![
        (1_u64..100)
            .prop_map(|mbps| LinkCapacity::Constant(Rate::from_bits_per_second(999_983 * mbps))),
        (1_u64..50).prop_map(steps),
        prop::collection::vec(0_u32..90, 0..90).prop_map(opportunities),
    ]
}

prop_compose! {
    fn links()(
        capacity in capacities(), queue in queues(), jitter in jitter(), loss in losses(),
        delay in 0_u64..30_000_000, mtu in 1_200_u32..=1_500, has_cross in any::<bool>()
    ) -> LinkConfig {
        let link = LinkConfig::new("", net::HostId(0), net::HostId(1), capacity, Duration::ZERO);
        let on = Distribution::Constant { value: Duration::from_millis(5) };
        let off = Distribution::Exponential { mean: Duration::from_millis(20) };
        let cross = Cross {
            rate: Rate::from_mbps(3.0),
            packet: Some(Bytes::new(700)),
            on: Some(on),
            off: Some(off),
            start: Duration::from_millis(3),
            stop: Some(Duration::from_millis(400)),
        };
        let delay = Duration::from_nanos(delay);
        let cross = if has_cross { vec![cross] } else { vec![] };
        LinkConfig { delay, queue, jitter, loss, mtu, cross, ..link }
    }
}

fn run(topology: &Topology, sends: &[(u64, u32, bool)], seed: u64) -> Notes {
    let mut lab = Lab::of(topology, seed);
    lab.ecn = Ecn::Ect0;
    let mut at = Instant::ZERO;
    for (n, &(pause, size, forth)) in (0..).zip(sends) {
        at += Duration::from_nanos(pause);
        let ends = if forth { (0, 2) } else { (2, 0) };
        lab.send_between(at, ends, n % 5, size);
    }
    lab.finish(ms(100_000))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_path_keeps_its_promises_and_repeats_itself(
        links in prop::collection::vec(links(), 4),
        sends in prop::collection::vec((0_u64..3_000_000, 40_u32..=1_500, any::<bool>()), 1..200),
        seed in any::<u64>(),
    ) {
        let mut topology = Topology::default();
        let nodes = ["a", "b", "c"].map(|name| topology.node(name));
        for (mut link, (from, to)) in links.into_iter().zip([(0, 1), (1, 2), (2, 1), (1, 0)]) {
            (link.from, link.to) = (nodes[from], nodes[to]);
            link.name = format!("{from}-{to}");
            topology.links.push(link);
        }
        let notes = run(&topology, &sends, seed);
        prop_assert_eq!(notes.received, run(&topology, &sends, seed).received);
    }
}
