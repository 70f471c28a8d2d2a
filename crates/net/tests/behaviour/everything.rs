//! Whatever is configured, the checker has nothing to complain about, and the seed decides.

use net::{
    Capacity, CodelConfig, CrossTraffic, DisciplineConfig, FqCodelConfig, Jitter,
    JitterDistribution, Limit, LinkConfig, Loss, Pattern, PieConfig, QueueConfig, Times, Topology,
};
use proptest::prelude::*;
use tcp::Ecn;
use units::{Bytes, Duration, Instant, Rate};

use crate::lab::{Lab, Notes, ms};

prop_compose! {
    fn queues()(
        discipline in prop_oneof![
            Just(DisciplineConfig::DropTail),
            any::<bool>().prop_map(|ecn| {
                DisciplineConfig::Codel(CodelConfig { ecn, ..CodelConfig::default() })
            }),
            (1_u32..20).prop_map(|flows| {
                DisciplineConfig::FqCodel(FqCodelConfig { flows, ..FqCodelConfig::default() })
            }),
            any::<bool>().prop_map(|ecn| {
                DisciplineConfig::Pie(PieConfig { ecn, ..PieConfig::default() })
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
        (0_u64..9).prop_map(|ms| JitterDistribution::Uniform {
            max: Duration::from_millis(ms)
        }),
        (0_u64..9).prop_map(|ms| {
            let (mean, deviation) = (Duration::from_millis(ms), Duration::from_millis(3));
            JitterDistribution::Normal { mean, deviation }
        }),
    ];
    let jitter = (distribution, any::<bool>()).prop_map(|(distribution, reorder)| Jitter {
        distribution,
        reorder,
    });
    prop::option::of(jitter)
}

fn losses() -> impl Strategy<Value = Loss> {
    prop_oneof![
        Just(Loss::None),
        (0.0..0.5).prop_map(|probability| Loss::Random { probability }),
        Just(Loss::GilbertElliott {
            p: 0.05,
            r: 0.3,
            loss_good: 0.01,
            loss_bad: 0.6
        }),
    ]
}

fn capacities() -> impl Strategy<Value = Capacity> {
    let opportunities = |mut at: Vec<u32>| {
        at.sort_unstable();
        at.push(90);
        let trace = std::sync::Arc::new(trace::Opportunities::new(at).unwrap().into());
        Capacity::Trace {
            trace,
            offset: Duration::from_micros(12_345),
        }
    };
    let steps = |mbps: u64| {
        let rate = |mbps: u64| Rate::from_bits_per_second(1_000_000 * mbps);
        Capacity::Steps(vec![
            (ms(0), rate(mbps)),
            (ms(40), Rate::ZERO),
            (ms(90), rate(2 * mbps)),
        ])
    };
    prop_oneof![
        (1_u64..100)
            .prop_map(|mbps| Capacity::Constant(Rate::from_bits_per_second(999_983 * mbps))),
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
        let (on, mean) = (Times::Constant(Duration::from_millis(5)), Duration::from_millis(20));
        let cross = CrossTraffic {
            rate: Rate::from_mbps(3.0),
            packet_size: 700,
            pattern: Pattern::OnOff { on, off: Times::Exponential { mean } },
            start: ms(3),
            stop: ms(400),
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
