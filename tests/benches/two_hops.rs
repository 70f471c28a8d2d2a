//! Benchmark: the cost of one packet on its way through two links.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

use criterion::{Criterion, criterion_group, criterion_main};
use net::{LinkCapacity, LinkConfig, Network, Packet, Topology};
use units::{Duration, Instant, Rate};

fn topology() -> Topology {
    let mut topology = Topology::default();
    let nodes = ["server", "router", "client"].map(|name| topology.node(name));
    let mut link = |name, from: usize, to: usize, mbps| {
        let capacity = LinkCapacity::Constant(Rate::from_mbps(mbps));
        let delay = Duration::from_millis(5);
        topology.links.push(LinkConfig::new(
            name,
            nodes[from],
            nodes[to],
            capacity,
            delay,
        ));
    };
    link("core-down", 0, 1, 1_000.0);
    link("access-down", 1, 2, 50.0);
    link("access-up", 2, 1, 50.0);
    link("core-up", 1, 0, 1_000.0);
    topology
}

/// Sends bursts `spacing` apart through a network that is in its stride.
fn run(criterion: &mut Criterion, name: &str, burst: u64, spacing: Duration) {
    let mut network = Network::new(&topology(), 1).unwrap();
    let [source, destination] = ["server", "client"].map(|name| network.host_id(name).unwrap());
    let mut deliveries = Vec::with_capacity(64);
    let (mut now, mut id) = (Instant::ZERO, 0);
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| {
            for _ in 0..burst {
                let packet = Packet {
                    id,
                    source,
                    destination,
                    size: 1_500,
                    ..Packet::default()
                };
                network.inject(now, packet, &mut ());
                id += 1;
            }
            now += spacing;
            while network.next_event() <= now {
                let next = network.next_event();
                network.advance(next, &mut (), &mut deliveries);
            }
            let delivered = deliveries.len();
            deliveries.clear();
            delivered
        });
    });
}

fn two_hops(criterion: &mut Criterion) {
    run(
        criterion,
        "a packet through two idle hops",
        1,
        Duration::from_micros(300),
    );
    run(
        criterion,
        "ten packets through two hops, where they queue",
        10,
        Duration::from_micros(2_500),
    );
}

criterion_group!(benches, two_hops);
criterion_main!(benches);
