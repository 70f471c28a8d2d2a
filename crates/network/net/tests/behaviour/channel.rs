//! Loss and jitter, and their independence of size, load and each other.

use net::{DropReason, Jitter, JitterDistribution, LinkCapacity, LinkConfig, Loss, Network};
use units::{Duration, Instant, Rate};

use crate::lab::{Lab, Notes, ms, topology};

const PACKETS: u64 = 4_000;

fn fast() -> LinkCapacity {
    LinkCapacity::Constant(Rate::from_mbps(1_000.0))
}

/// Packets 1 ms apart.
fn run(seed: u64, size: u32, change: impl FnOnce(&mut LinkConfig)) -> Notes {
    let mut lab = Lab::of(&topology(fast(), change), seed);
    for at in 0..PACKETS {
        lab.send(ms(at), size);
    }
    lab.finish(ms(PACKETS + 1_000))
}

fn exponential(reorder: bool) -> impl Fn(&mut LinkConfig) {
    let mean = Duration::from_millis(4);
    move |link| {
        link.jitter = Some(Jitter {
            distribution: JitterDistribution::Exponential,
            mean,
            sd: Duration::ZERO,
            reorder,
        })
    }
}

#[test]
fn jitter_without_reordering_keeps_the_order() {
    let order = run(1, 1_000, exponential(false)).order();
    assert!(order.is_sorted());
    assert_eq!(order.len() as u64, PACKETS);
}

#[test]
fn jitter_with_reordering_lets_packets_overtake() {
    let order = run(1, 1_000, exponential(true)).order();
    let overtaken = order.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!(
        overtaken > order.len() / 10,
        "{overtaken} of {}",
        order.len()
    );
}

#[test]
fn jitter_only_adds_to_the_delay() {
    let notes = run(1, 1_000, |link| {
        link.delay = Duration::from_millis(20);
        exponential(true)(link);
    });
    let delays: Vec<_> = notes
        .received
        .iter()
        .map(|&(id, at)| at.saturating_since(ms(id)).as_secs_f64() * 1e3)
        .collect();
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    assert!(delays.iter().all(|&delay| delay >= 20.0));
    assert!((mean - 24.0).abs() < 0.3, "mean delay of {mean} ms");
}

fn lost(notes: &Notes) -> Vec<u64> {
    assert!(
        notes
            .dropped
            .iter()
            .all(|&(_, reason)| reason == DropReason::Loss)
    );
    notes.dropped.iter().map(|&(id, _)| id).collect()
}

#[test]
fn the_share_of_lost_packets_is_the_probability() {
    let notes = run(3, 1_000, |link| link.loss = Loss::Random(0.05));
    let lost = lost(&notes).len() as f64 / PACKETS as f64;
    assert!((lost - 0.05).abs() < 0.012, "{lost}");
    assert_eq!(notes.received.len() + notes.dropped.len(), PACKETS as usize);
}

#[test]
fn the_same_packets_are_lost_whatever_their_size_and_not_with_another_seed() {
    let lossy = |link: &mut LinkConfig| link.loss = Loss::Random(0.05);
    let result = lost(&run(3, 1_000, lossy));
    assert_eq!(result, lost(&run(3, 60, lossy)));
    assert_ne!(result, lost(&run(4, 1_000, lossy)));
}

#[test]
fn loss_does_not_change_jitter() {
    let times = |notes: Notes| notes.received;
    let clean = times(run(3, 1_000, exponential(true)));
    let lossy = times(run(3, 1_000, |link| {
        exponential(true)(link);
        link.loss = Loss::Random(0.3);
    }));
    assert!(lossy.len() < clean.len());
    assert!(lossy.iter().all(|arrival| clean.contains(arrival)));
}

#[test]
fn capacity_does_not_depend_on_traffic() {
    let network = |busy: bool| {
        let generator = link_trace::Generate {
            mean: Rate::from_mbps(8.0),
            variability: 0.7,
            correlation: Duration::from_secs(1),
            outage_interval: Duration::from_secs(5),
            outage_duration: Duration::from_millis(500),
            period: Duration::from_secs(20),
        };
        let trace = std::sync::Arc::new(generator.generate(1, 0).unwrap());
        let capacity = LinkCapacity::Trace {
            trace,
            offset: Duration::from_secs(3),
        };
        let mut lab = Lab::new(capacity, |_| {});
        for at in 0..if busy { 3_000 } else { 0 } {
            lab.send(ms(at), 1_500);
        }
        lab.until(ms(60_000));
        slots(lab.network())
    };
    assert_eq!(network(true), network(false));
}

fn slots(network: &Network) -> Vec<u64> {
    let slot = |n: u64| Instant::ZERO + Duration::from_millis(100) * n;
    (0..500)
        .map(|n| {
            network
                .capacity_bytes(crate::lab::LINK, slot(n), slot(n + 1))
                .get()
        })
        .collect()
}
