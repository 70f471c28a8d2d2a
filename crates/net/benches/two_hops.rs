//! What one packet costs on its way through two links.

use criterion::{Criterion, criterion_group, criterion_main};
use net::{Capacity, LinkConfig, Network, Packet, Topology};
use units::{Duration, Instant, Rate};

fn topology() -> Topology {
    let mut topology = Topology::default();
    let nodes = ["server", "router", "client"].map(|name| topology.node(name));
    let mut link = |name, from: usize, to: usize, mbps| {
        let capacity = Capacity::Constant(Rate::from_mbps(mbps));
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

/// Sends packets `spacing` apart through a network that is in its stride.
fn run(criterion: &mut Criterion, name: &str, spacing: Duration) {
    let mut network = Network::new(&topology(), 1).unwrap();
    let (source, destination) = (
        network.host_id("server").unwrap(),
        network.host_id("client").unwrap(),
    );
    let mut deliveries = Vec::with_capacity(64);
    let (mut now, mut id) = (Instant::ZERO, 0);
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| {
            let packet = Packet {
                id,
                source,
                destination,
                size: 1_500,
                ..Packet::default()
            };
            network.inject(now, packet, &mut ());
            now += spacing;
            id += 1;
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
    run(criterion, "two idle hops", Duration::from_micros(300));
    // 1500 bytes take 240 us: what comes in pairs waits.
    let mut network = Network::new(&topology(), 1).unwrap();
    let (source, destination) = (
        network.host_id("server").unwrap(),
        network.host_id("client").unwrap(),
    );
    let mut deliveries = Vec::with_capacity(64);
    let (mut now, mut id) = (Instant::ZERO, 0);
    criterion.bench_function("burst of ten through two hops", |bencher| {
        bencher.iter(|| {
            for _ in 0..10 {
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
            now += Duration::from_micros(2_500);
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

criterion_group!(benches, two_hops);
criterion_main!(benches);
