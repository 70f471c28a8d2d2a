//! Discarding of packets that wait at the base station, and heads of packets that come from users.

use std::collections::BTreeSet;

use proptest::prelude::*;
use radio::ran::Direction;
use radio::settings::RlcMode;

use crate::ran::lab::{Lab, lte, ms, steady};

/// A step: packets for a user, or a discard of all that have an odd number.
#[derive(Clone, Copy, Debug)]
enum Step {
    Send(u32),
    Discard,
}

fn step() -> impl Strategy<Value = (u64, Step)> {
    let step = prop_oneof![
        4 => (40_u32..1_500).prop_map(Step::Send),
        1 => Just(Step::Discard),
    ];
    (0_u64..4, step)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A discard touches no packet but those it names, and each of these has one fate: it is discarded, or was begun
    /// and arrives.
    #[test]
    fn a_discard_touches_nothing_else(
        steps in prop::collection::vec(step(), 1..120),
        sinr_db in 2.0_f64..20.0,
        acknowledged in any::<bool>(),
    ) {
        let mut config = lte(6, vec![steady(sinr_db)]);
        config.radio.rlc.mode = if acknowledged { RlcMode::Am } else { RlcMode::Um };
        let mut lab = Lab::new(config);
        let mut discarded = BTreeSet::new();
        for (wait, step) in steps {
            match step {
                Step::Send(bytes) => {
                    let now = lab.ran.next_event();
                    lab.send(now, 0, Direction::Down, bytes);
                }
                Step::Discard => {
                    let gone = lab.ran.discard(lab.ran.next_event(), 0, &|name| name % 2 == 1);
                    for name in gone {
                        prop_assert_eq!(name % 2, 1);
                        prop_assert!(lab.sent.remove(&name).is_some(), "{} is discarded twice", name);
                        discarded.insert(name);
                    }
                }
            }
            (0..wait).for_each(|_| lab.tick());
        }
        let end = lab.ran.next_event() + units::Duration::from_secs(20);
        lab.run(end);
        prop_assert!(lab.sent.is_empty(), "without a fate: {:?}", lab.sent);
        let arrived: Vec<u64> = lab.arrived.iter().map(|(name, _)| *name).collect();
        prop_assert!(arrived.is_sorted());
        prop_assert!(arrived.iter().all(|name| !discarded.contains(name)));
        if acknowledged {
            prop_assert!(lab.lost.is_empty(), "{:?}", lab.lost);
        }
    }
}

/// The headers of a long packet arrive before the packet, which needs several blocks.
#[test]
fn the_head_of_a_packet_is_told_before_the_packet_is_whole() {
    let mut config = lte(6, vec![steady(20.0)]);
    config.radio.uplink.sinr = units::Decibel::new(0.0);
    let mut lab = Lab::new(config);
    lab.ran.report_headers();
    lab.run(ms(50));
    lab.send(ms(50), 0, Direction::Up, 1_500);
    let (mut head, mut whole) = (None, None);
    while whole.is_none() {
        let now = lab.ran.next_event();
        lab.tick();
        if lab.outcome.headers.drain(..).any(|head| head == (0, 0)) {
            head.get_or_insert(now);
        }
        if !lab.arrived.is_empty() {
            whole = Some(now);
        }
    }
    assert!(head < whole, "{head:?} {whole:?}");
}
