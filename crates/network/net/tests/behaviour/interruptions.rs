//! Policers and blackouts of a link.

use net::{Blackout, DropReason, LinkCapacity, Policer};
use units::{Bytes, Duration, Rate};

use crate::lab::{Lab, ms, topology};

fn link(mbps: f64) -> LinkCapacity {
    LinkCapacity::Constant(Rate::from_mbps(mbps))
}

/// A policer of 8 Mbit/s before a link of 100 Mbit/s: 1000 bytes a millisecond pass after a burst, nothing waits, and the
/// rest is dropped.
#[test]
fn a_policer_drops_what_exceeds_its_rate_and_delays_nothing() {
    let config = topology(link(100.0), |link| {
        link.policer = Some(Policer {
            rate: Rate::from_mbps(8.0),
            burst: Bytes::new(20_000),
        });
    });
    let mut lab = Lab::of(&config, 1);
    for at in 0..1_000 {
        lab.send(ms(at), 1_000);
        lab.send(ms(at), 1_000);
    }
    let notes = lab.finish(ms(3_000));
    assert_eq!(notes.received.len(), 1_000 + 19);
    let reasons = notes.dropped.iter().map(|(_, reason)| *reason);
    assert!(reasons.clone().all(|reason| reason == DropReason::Policer));
    assert_eq!(reasons.count(), 1_000 - 19);
    assert!(notes.longest_backlog <= 1);
}

/// Everything that is transmitted in a blackout is lost, what waits meanwhile too: the queue goes on to empty itself.
#[test]
fn a_blackout_loses_what_is_transmitted_and_keeps_nothing() {
    let config = topology(link(8.0), |link| {
        link.blackouts = vec![Blackout {
            at: Duration::from_millis(100),
            duration: Duration::from_millis(50),
        }];
    });
    let mut lab = Lab::of(&config, 1);
    for at in 0..300 {
        lab.send(ms(at), 1_000);
    }
    let notes = lab.finish(ms(1_000));
    let lost: Vec<u64> = notes.dropped.iter().map(|(id, _)| *id).collect();
    assert_eq!(
        lost,
        (99..149).collect::<Vec<u64>>(),
        "each takes a millisecond"
    );
    let reasons = notes.dropped.iter().map(|(_, reason)| *reason);
    assert!(reasons.eq([DropReason::Loss; 50]));
    assert_eq!(notes.received.len(), 250);
}
