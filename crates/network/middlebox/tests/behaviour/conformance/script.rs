//! Script: a far host and a mobile host that send what a test says, with a split host between them.
//!
//! Every packet takes 1 ms to the split host and 1 ms from it. Sequence and acknowledgement numbers count from the
//! first byte of the data, as in the figures.

use std::sync::Arc;

use cca::{Settings, reno};
use middlebox::{Kind, Middlebox, RunDefaults, SplitHost};
use net::{
    CREATED_FROM, Contents, Delivery, HostId, LinkCapacity, LinkConfig, Network, Node, Packet,
    Topology,
};
use tcp::{Ecn, FarAck, Flags, SackBlocks, Segment, Tcp, TcpConfig, WindowScale};
use units::{Bytes, Duration, Instant, Rate};

use crate::conformance::contents::pattern;

/// The far host and the mobile host.
pub const FAR: HostId = HostId(0);
pub const MOBILE: HostId = HostId(2);

/// Initial sequence numbers of the two.
const FAR_ISS: u32 = 70_000;
const MOBILE_ISS: u32 = 5_000;

/// Request of the mobile host.
const SYN: Segment = Segment {
    seq: MOBILE_ISS,
    ack: 0,
    len: 0,
    window: 60_000,
    flags: Flags::SYN,
    mss: Some(1_000),
    window_scale: None,
    sack_permitted: false,
    timestamps: None,
    sack: SackBlocks::EMPTY,
    far_ack: None,
    eln: false,
    ecn: Ecn::NotEct,
    more_in_burst: false,
};

/// Returns a split host with these settings.
fn split_host(settings: &Middlebox) -> Box<dyn Node> {
    let environment = RunDefaults {
        tcp: TcpConfig::from(Tcp {
            mss: Some(Bytes::new(1_000)),
            timestamps: false,
            window_scale: WindowScale::Off,
            delayed_ack: false,
            ..Tcp::default()
        }),
        cca: Arc::new(|_, _| reno::INFO.build(&Settings::new()).unwrap()),
        seed: 1,
    };
    Box::new(SplitHost::new(settings, environment))
}

/// Returns a fast link with outages between these times, milliseconds.
fn capacity(outages: &[(u64, u64)]) -> LinkCapacity {
    let fast = Rate::from_mbps(1e5);
    let mut steps = vec![(Duration::ZERO, fast)];
    for &(start, end) in outages {
        steps.push((Duration::from_millis(start), Rate::ZERO));
        steps.push((Duration::from_millis(end), fast));
    }
    LinkCapacity::steps(&steps).unwrap()
}

/// The three nodes, and what has arrived at the hosts.
pub struct Script {
    network: Network,
    now: Instant,
    next_id: u64,
    arrived: Vec<Delivery>,
    /// Data segments that the split host has created and that have arrived.
    created: u64,
}

impl Script {
    /// Opens a connection of the mobile host to the far host, through a split host with these settings.
    pub fn open(settings: &Middlebox) -> Self {
        Self::open_to(settings, false)
    }

    /// Opens the connection; the far host may understand far acknowledgements.
    pub fn open_to(settings: &Middlebox, understands: bool) -> Self {
        let mut script = Self::new(split_host(settings), &[]);
        script.shake_hands(settings.kind, understands);
        script
    }

    /// Opens the connection through a split host whose link to the mobile host is interrupted between these times,
    /// milliseconds.
    pub fn open_interrupted(settings: &Middlebox, outage: (u64, u64), understands: bool) -> Self {
        let mut script = Self::new(split_host(settings), &[outage]);
        script.shake_hands(settings.kind, understands);
        script
    }

    /// Opens the connection through a middlebox that does not split it.
    pub fn open_through(node: Box<dyn Node>, outages: &[(u64, u64)]) -> Self {
        let mut script = Self::new(node, outages);
        script.put(MOBILE, SYN);
        assert_eq!(script.take(FAR).len(), 1);
        let answer = Segment {
            seq: FAR_ISS,
            ack: MOBILE_ISS + 1,
            flags: Flags::SYN | Flags::ACK,
            ..SYN
        };
        script.put(FAR, answer);
        assert_eq!(script.take(MOBILE).len(), 1);
        script.mobile_acks(0);
        assert_eq!(script.acks(), [(0, true)]);
        script
    }

    /// Puts a middlebox between the hosts.
    fn new(node: Box<dyn Node>, outages: &[(u64, u64)]) -> Self {
        let mut topology = Topology::default();
        let nodes = ["server", "gateway", "phone"].map(|name| topology.node(name));
        for (from, to) in [(0, 1), (1, 2), (2, 1), (1, 0)] {
            let capacity = capacity(if to == 2 { outages } else { &[] });
            let name = format!("{from}-{to}");
            let delay = Duration::from_millis(1);
            let link = LinkConfig::new(&name, nodes[from], nodes[to], capacity, delay);
            topology.links.push(link);
        }
        let mut network = Network::new(&topology, 1).unwrap();
        network.place("gateway", node).unwrap();
        network.enable_contents();
        Self {
            network,
            now: Instant::ZERO,
            next_id: 0,
            arrived: Vec::new(),
            created: 0,
        }
    }

    /// Where ACKs follow those of the mobile host, that of the SYN-ACK does: from it the far host has its first RTT.
    fn shake_hands(&mut self, kind: Kind, understands: bool) {
        self.put(MOBILE, SYN);
        let request = self.take(FAR);
        assert_eq!(request.len(), 1);
        assert_eq!((request[0].flags, request[0].seq), (Flags::SYN, MOBILE_ISS));
        assert!(
            self.take(MOBILE).is_empty(),
            "the far host has not answered"
        );
        let answer = Segment {
            seq: FAR_ISS,
            ack: MOBILE_ISS + 1,
            flags: Flags::SYN | Flags::ACK,
            far_ack: request[0]
                .far_ack
                .filter(|_| understands)
                .map(|offer| FarAck { number: 0, ..offer }),
            ..SYN
        };
        self.put(FAR, answer);
        let follows = matches!(kind, Kind::Mtcp | Kind::MtcpPlus | Kind::Pam);
        let acks = self.take(FAR).len();
        assert_eq!(acks, usize::from(!follows), "the ACK of the SYN-ACK");
        let answer = self.take(MOBILE);
        assert_eq!(answer.len(), 1);
        assert_eq!((answer[0].seq, answer[0].ack), (FAR_ISS, MOBILE_ISS + 1));
        self.mobile_acks(0);
        let acks = self.take(FAR).len();
        assert_eq!(acks, usize::from(follows), "the ACK of the SYN-ACK");
    }

    fn put(&mut self, from: HostId, segment: Segment) {
        let packet = Packet {
            id: self.next_id,
            source: from,
            destination: if from == FAR { MOBILE } else { FAR },
            size: segment.ip_len(),
            payload: segment.into(),
            sent_at: self.now,
            ..Packet::default()
        };
        self.next_id += 1;
        let bytes = pattern(segment.seq, segment.len);
        self.contents().insert(packet.id, &bytes, 0);
        self.network.inject(self.now, packet, &mut ());
        self.wait(3);
    }

    /// Lets time pass until this many milliseconds after the start.
    pub fn wait_until(&mut self, milliseconds: u64) {
        self.now = Instant::ZERO + Duration::from_millis(milliseconds);
        self.wait(0);
    }

    /// Returns the data segments that the split host has created and that have arrived.
    pub fn created(&self) -> u64 {
        self.created
    }

    fn contents(&mut self) -> &mut Contents {
        self.network.contents().unwrap()
    }

    /// Lets time pass, milliseconds.
    pub fn wait(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
        let mut arrived = Vec::new();
        self.network.advance(self.now, &mut (), &mut arrived);
        for Delivery { packet, .. } in &arrived {
            let Segment { seq, len, .. } = *packet.segment().unwrap();
            let bytes = self.contents().pop(packet.id).unwrap();
            assert_eq!(bytes, pattern(seq, len), "bytes of {len} from {seq} on");
            self.created += u64::from(packet.id >= CREATED_FROM && len > 0);
        }
        self.arrived.append(&mut arrived);
    }

    /// Removes and returns the packets that have arrived at a host.
    pub fn take(&mut self, host: HostId) -> Vec<Segment> {
        let of_host = |delivery: &Delivery| delivery.host == host;
        let taken: Vec<_> = self.arrived.extract_if(.., |each| of_host(each)).collect();
        let segment = |each: &Delivery| *each.packet.segment().unwrap();
        taken.iter().map(segment).collect()
    }

    /// The far host sends `len` bytes from `from` on.
    pub fn far_sends(&mut self, from: u32, len: u32) {
        self.far(from, len, Flags::ACK | Flags::PSH);
    }

    /// The far host ends its data at `at`.
    pub fn far_ends(&mut self, at: u32) {
        self.far(at, 0, Flags::ACK | Flags::FIN);
    }

    fn far(&mut self, from: u32, len: u32, flags: Flags) {
        let segment = Segment {
            seq: FAR_ISS + 1 + from,
            ack: MOBILE_ISS + 1,
            len,
            flags,
            window: 60_000,
            ..Segment::default()
        };
        self.put(FAR, segment);
    }

    /// The mobile host acknowledges the first `bytes`.
    pub fn mobile_acks(&mut self, bytes: u32) {
        let segment = Segment {
            seq: MOBILE_ISS + 1,
            ack: FAR_ISS + 1 + bytes,
            flags: Flags::ACK,
            window: 60_000,
            ..Segment::default()
        };
        self.put(MOBILE, segment);
    }

    /// Removes and returns the ACKs that have arrived at the far host: number, and whether there is a window.
    pub fn acks(&mut self) -> Vec<(u32, bool)> {
        let acks = self.take(FAR);
        acks.iter()
            .map(|ack| (ack.ack - FAR_ISS - 1, ack.window > 0))
            .collect()
    }

    /// Removes and returns the ACKs that have arrived at the far host: number, whether there is a window, far
    /// acknowledgement.
    pub fn far_acks(&mut self) -> Vec<(u32, bool, Option<u32>)> {
        let acks = self.take(FAR);
        let position = |number: u32| number - FAR_ISS - 1;
        acks.iter()
            .map(|ack| {
                let far = ack.far_ack.map(|far| position(far.number));
                (position(ack.ack), ack.window > 0, far)
            })
            .collect()
    }

    /// The far host asks for the far acknowledgement, having sent `bytes`.
    pub fn far_asks(&mut self, bytes: u32) {
        self.far(bytes - 1, 0, Flags::ACK);
    }

    /// Removes and returns the data that has arrived at the mobile host: first byte and length.
    pub fn data(&mut self) -> Vec<(u32, u32)> {
        let data = self.take(MOBILE);
        data.iter()
            .filter(|each| each.len > 0)
            .map(|each| (each.seq - FAR_ISS - 1, each.len))
            .collect()
    }
}
