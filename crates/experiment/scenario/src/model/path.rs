//! Path between server and phone, and further links.

use config::table;
use middlebox::Middlebox;
use units::{Bytes, Duration, Rate};

use super::{Blackout, Buffer, Capacity, Cross, Jitter, Loss, Policer, Queue};

/// Default capacity of an access link.
const ACCESS: Capacity = Capacity::constant(Rate::from_bits_per_second(50_000_000));

/// Default capacity of a wire.
const WIRE: Capacity = Capacity::constant(Rate::from_bits_per_second(1_000_000_000));

/// MTU of Ethernet.
const MTU: Bytes = Bytes::new(1500);

table! {
    /// Path from the server over wired hops to the gateway, and over the access link to the phone.
    pub struct Path {
        /// Base round-trip propagation time, on the wired hops, half in each direction; default 40ms.
        pub rtt: Duration = Duration::from_millis(40),
        /// Capacity of the access link towards the phone; default a rate of 50Mbit/s.
        pub down: Capacity = ACCESS,
        /// Capacity of the access link from the phone; default a rate of 50Mbit/s.
        pub up: Capacity = ACCESS,
        /// Downlink buffer of the access link: bandwidth-delay products ("1bdp", of the mean rate and rtt),
        /// packets ("150packets"), bytes ("300kB") or time at the mean rate ("90ms"); default 1bdp.
        pub buffer: Buffer = Buffer::Bdp(1.0),
        /// Uplink buffer of the access link; default 1000packets.
        pub uplink_buffer: Buffer = Buffer::Packets(1000),
        /// Queue discipline of the access link, both directions: "droptail", "codel", "fq-codel", "pie", or a
        /// table of kind and parameters; default "droptail". Of a cell it is above RLC, with its buffers.
        pub queue: Queue = Queue::Droptail,
        /// Queue discipline of the uplink; unset: that of queue.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub uplink_queue: Option<Queue>,
        /// Largest IP packet of the access link; default 1500B.
        pub mtu: Bytes = MTU,
        /// Random loss on the downlink: a probability per packet, a list of steps with the time from which each
        /// holds (at, loss), or a table with kind "trace" (a file of these), "gilbert-elliott" (bursts of packets),
        /// "gilbert-elliott-time" (bursts over time) or "list" (packets by their numbers); default 0.
        pub loss: Loss = Loss::NONE,
        /// Random loss on the uplink; default 0.
        pub uplink_loss: Loss = Loss::NONE,
        /// Times in which both directions of the access link lose all that they transmit; default none.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub blackouts: Vec<Blackout>,
        /// Token bucket before the downlink that drops what exceeds its rate; unset: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub policer: Option<Policer>,
        /// Jitter of the downlink; unset: none.
        pub jitter: Option<Jitter>,
        /// Cross-traffic on the downlink; default none.
        pub cross_traffic: Vec<Cross>,
        /// Hops from the server towards the access link; default one, "wan", of 1Gbit/s.
        pub wired: Vec<WiredHop> = vec![WiredHop {
                name: "wan".to_owned(),
                ..WiredHop::default()
            }],
        /// Hosts in the middle, at nodes between server and phone, one at each; default none.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub middleboxes: Vec<Middlebox>,
    }
}

impl Path {
    /// Returns the queue discipline of the uplink of the access link.
    pub fn queue_of_uplink(&self) -> &Queue {
        self.uplink_queue.as_ref().unwrap_or(&self.queue)
    }

    /// Returns the size of the largest packet that passes all links between server and phone.
    pub fn path_mtu(&self) -> Bytes {
        self.wired
            .iter()
            .map(|hop| hop.mtu)
            .fold(self.mtu, Bytes::min)
    }

    /// Returns the names of the nodes between server and phone, in this order: one behind each hop.
    pub(crate) fn inner_nodes(&self) -> Vec<String> {
        let hops = self.wired.len();
        let name = |hop| {
            if hop == hops {
                "gateway".to_owned()
            } else {
                format!("node-{hop}")
            }
        };
        (1..=hops).map(name).collect()
    }

    /// Returns the one-way propagation delay of each wired hop. The first hop without a delay of its own has what the
    /// other hops leave of half the RTT.
    pub fn wired_delays(&self) -> Vec<Duration> {
        let named = self.wired.iter().filter_map(|hop| hop.delay);
        let mut rest = (self.rtt / 2).saturating_sub(named.fold(Duration::ZERO, |sum, d| sum + d));
        let delay = |hop: &WiredHop| match hop.delay {
            Some(delay) => delay,
            None => core::mem::replace(&mut rest, Duration::ZERO),
        };
        self.wired.iter().map(delay).collect()
    }
}

table! {
    /// Wired hop. Both directions are alike, but for cross-traffic.
    pub struct WiredHop {
        /// Name in results; default "wan" for the first, then "hop-2" and so on.
        pub name: String,
        /// Rate, or any other capacity; default 1Gbit/s.
        pub rate: Capacity = WIRE,
        /// One-way propagation delay; unset: for the first such hop what the others leave of half the RTT, for further
        /// ones 0s.
        pub delay: Option<Duration>,
        /// Buffer of each direction; default 10000packets.
        pub buffer: Buffer = Buffer::Packets(10_000),
        /// Queue discipline; default "droptail".
        pub queue: Queue = Queue::Droptail,
        /// Largest IP packet; default 1500B.
        pub mtu: Bytes = MTU,
        /// Random loss, each direction; default 0.
        pub loss: Loss = Loss::NONE,
        /// Times in which both directions lose all that they transmit; default none.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub blackouts: Vec<Blackout>,
        /// Token bucket that drops what exceeds its rate, towards the phone; unset: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub policer: Option<Policer>,
        /// Jitter, each direction; unset: none.
        pub jitter: Option<Jitter>,
        /// Cross-traffic towards the phone; default none.
        pub cross_traffic: Vec<Cross>,
    }
}

table! {
    /// Further link off the path. Both directions are alike, but for cross-traffic. Links and path together form a
    /// tree.
    pub struct ExtraLink {
        /// Name in results; default "link-1", "link-2" and so on.
        pub name: String,
        /// Node at one end: "server", "gateway", "phone", or a new name for a new node; compulsory.
        pub from: String,
        /// Node at the other end; compulsory.
        pub to: String,
        /// Rate, or any other capacity; default 1Gbit/s.
        pub rate: Capacity = WIRE,
        /// One-way propagation delay; default 0s.
        pub delay: Duration,
        /// Buffer of each direction; default 10000packets.
        pub buffer: Buffer = Buffer::Packets(10_000),
        /// Queue discipline; default "droptail".
        pub queue: Queue = Queue::Droptail,
        /// Largest IP packet; default 1500B.
        pub mtu: Bytes = MTU,
        /// Random loss, each direction; default 0.
        pub loss: Loss = Loss::NONE,
        /// Times in which both directions lose all that they transmit; default none.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub blackouts: Vec<Blackout>,
        /// Token bucket that drops what exceeds its rate, towards the end named second; unset: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub policer: Option<Policer>,
        /// Jitter, each direction; unset: none.
        pub jitter: Option<Jitter>,
        /// Cross-traffic towards the end named second; default none.
        pub cross_traffic: Vec<Cross>,
    }
}
