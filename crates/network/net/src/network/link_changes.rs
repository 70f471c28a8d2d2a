//! Changes of links while a run goes on.

use units::Instant;

use super::Network;
use crate::links::LinkKind;
use crate::queue::QueueContext;
use crate::{LinkConfig, LinkId, Observer};

impl Network {
    /// Gives a wire the capacity, delay, loss, blackouts and limit of its queue that `config` has, from `now` on. Packets
    /// on their way keep their arrival, and none overtakes them; those that wait stay, even above a lower limit.
    /// Middleboxes are not warned of the outages of a new capacity. The checker knows no such change.
    pub fn change_wire(
        &mut self,
        now: Instant,
        id: LinkId,
        config: &LinkConfig,
        observer: &mut impl Observer,
    ) {
        let index = id.0 as usize;
        if let LinkKind::Wire(link) = &mut self.links[index] {
            let mut context = QueueContext::new(now, id, &mut self.pool, observer);
            link.change(config, &mut context);
            self.deadlines.set(index, link.next_at());
        }
    }
}

#[cfg(test)]
mod tests {
    use units::{Bytes, Duration, Instant, Rate};

    use crate::{
        Blackout, Delivery, Limit, LinkCapacity, LinkConfig, LinkId, Loss, Network, Packet,
        Topology,
    };

    /// The downlink.
    const DOWN: LinkId = LinkId(0);
    /// Bytes of a packet, which takes 1 ms at 8 Mbit/s.
    const SIZE: u32 = 1_000;

    struct Bench {
        network: Network,
        config: LinkConfig,
        sent: u64,
        deliveries: Vec<Delivery>,
    }

    fn ms(time: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(time)
    }

    fn rate(mbps: u64) -> LinkCapacity {
        LinkCapacity::Constant(Rate::from_bits_per_second(mbps * 1_000_000))
    }

    impl Bench {
        /// A link of 8 Mbit/s and 10 ms, and one back.
        fn new() -> Self {
            let mut topology = Topology::default();
            let [server, phone] = ["server", "phone"].map(|name| topology.node(name));
            let delay = Duration::from_millis(10);
            topology.links = vec![
                LinkConfig::new("down", server, phone, rate(8), delay),
                LinkConfig::new("up", phone, server, rate(8), delay),
            ];
            Self {
                network: Network::new(&topology, 1).unwrap(),
                config: topology.links[0].clone(),
                sent: 0,
                deliveries: Vec::new(),
            }
        }

        fn send(&mut self, at: u64, packets: u64) {
            for _ in 0..packets {
                let packet = Packet {
                    id: self.sent,
                    destination: self.config.to,
                    size: SIZE,
                    ..Packet::default()
                };
                self.network.inject(ms(at), packet, &mut ());
                self.sent += 1;
            }
        }

        fn advance(&mut self, to: u64) {
            self.network.advance(ms(to), &mut (), &mut self.deliveries);
        }

        fn change(&mut self, at: u64, change: impl FnOnce(&mut LinkConfig)) {
            self.advance(at);
            change(&mut self.config);
            self.network
                .change_wire(ms(at), DOWN, &self.config, &mut ());
        }

        /// Returns the arrivals until a time, ms.
        fn arrivals(&mut self, until: u64) -> Vec<u64> {
            self.advance(until);
            let arrivals = self.deliveries.drain(..);
            arrivals
                .map(|delivery| delivery.at.since_start().as_millis())
                .collect()
        }
    }

    #[test]
    fn a_new_rate_holds_for_the_packets_that_wait() {
        let mut bench = Bench::new();
        bench.send(0, 4);
        bench.change(1, |config| config.capacity = rate(2));
        // The second packet is in transmission, until 2 ms. The others take 4 ms each.
        assert_eq!(bench.arrivals(100), [11, 12, 16, 20]);
        let carried = |from, to| bench.network.capacity_bytes(DOWN, ms(from), ms(to));
        assert_eq!(carried(0, 1), Bytes::new(1_000));
        assert_eq!(carried(0, 5), Bytes::new(2_000));
        assert_eq!(carried(4, 8), Bytes::new(1_000));
    }

    #[test]
    fn a_link_goes_from_a_rate_to_opportunities_and_back() {
        let mut bench = Bench::new();
        bench.send(0, 3);
        let times = (1..=20).map(|n| 5 * n).collect();
        let trace = link_trace::Opportunities::new(times).unwrap();
        let trace = LinkCapacity::Trace {
            trace: link_trace::Trace::Opportunities(trace).into(),
            offset: Duration::ZERO,
        };
        bench.change(1, |config| config.capacity = trace);
        // An opportunity of 1500 bytes holds a packet and half of the next.
        assert_eq!(bench.arrivals(30), [11, 12, 15]);
        bench.send(31, 2);
        bench.change(32, |config| config.capacity = rate(8));
        assert_eq!(bench.arrivals(100), [43, 44]);
    }

    #[test]
    fn nothing_overtakes_where_the_delay_falls() {
        let mut bench = Bench::new();
        bench.send(0, 1);
        bench.change(2, |config| config.delay = Duration::from_millis(1));
        bench.send(2, 1);
        bench.send(20, 1);
        assert_eq!(bench.arrivals(100), [11, 11, 22]);
    }

    #[test]
    fn losses_blackouts_and_limits_hold_from_then_on() {
        let mut bench = Bench::new();
        bench.send(0, 1);
        bench.change(1, |config| config.loss = Loss::Random(1.0));
        bench.send(1, 1);
        bench.change(5, |config| {
            config.loss = Loss::NONE;
            config.blackouts = vec![Blackout {
                at: Duration::from_millis(20),
                duration: Duration::from_millis(5),
            }];
        });
        bench.send(6, 1);
        bench.advance(20);
        bench.send(20, 1);
        bench.advance(30);
        bench.send(30, 1);
        assert_eq!(bench.arrivals(50), [11, 17, 41]);
        bench.change(60, |config| config.queue.limit = Limit::Packets(2));
        bench.send(60, 5);
        assert_eq!(bench.arrivals(100), [71, 72, 73]);
    }
}
