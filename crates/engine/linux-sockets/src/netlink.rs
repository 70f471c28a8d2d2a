//! Netlink: links, addresses and routes of a network namespace (rtnetlink(7)).

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd};

use netlink_packet_core::{
    DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader,
    NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;

/// Flags of a request for something that must not exist yet.
const CREATE_NEW: u16 = NLM_F_CREATE | NLM_F_EXCL;

/// Bit of a metric in `RTAX_LOCK`, without which the kernel ignores `RTAX_RTO_MIN`.
const LOCK_RTO_MIN: u32 = 1 << 13;

/// Returns the metrics of a route. `initial_window` is that of its connections, segments, and `min_rto` is the shortest
/// retransmission time-out, ms; with `quick_ack` ACKs are not delayed.
pub fn route_metrics(
    initial_window: u32,
    min_rto: Option<u32>,
    quick_ack: bool,
) -> Vec<RouteMetric> {
    let mut metrics = vec![RouteMetric::InitCwnd(initial_window)];
    if let Some(rto) = min_rto {
        metrics.extend([RouteMetric::Lock(LOCK_RTO_MIN), RouteMetric::RtoMin(rto)]);
    }
    if quick_ack {
        metrics.push(RouteMetric::QuickAck(1));
    }
    metrics
}

/// Requests to the kernel about the network namespace in which it was opened.
pub struct Netlink(Socket);

impl Netlink {
    /// Opens a netlink socket in the network namespace of this thread.
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        Ok(Self(socket))
    }

    fn request(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.0.send(&bytes, 0)?;
        let (reply, _) = self.0.recv_from_full()?;
        let reply =
            NetlinkMessage::<RouteNetlinkMessage>::deserialize(&reply).map_err(io::Error::other)?;
        match reply.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            _ => Ok(()),
        }
    }

    /// Moves a device to the network namespace of a file.
    pub fn move_link(&self, index: u32, namespace: &impl AsFd) -> io::Result<()> {
        let file = namespace.as_fd().as_raw_fd();
        self.set_link(
            index,
            LinkFlags::empty(),
            vec![LinkAttribute::NetNsFd(file)],
        )
    }

    /// Sets flags and attributes of a device.
    fn set_link(
        &self,
        index: u32,
        flags: LinkFlags,
        attributes: Vec<LinkAttribute>,
    ) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.flags = flags;
        message.header.change_mask = flags;
        message.attributes = attributes;
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Creates a pair of virtual Ethernet devices (veth(4)). The first has this hardware address, and no ARP.
    pub fn add_veth(&self, [name, peer]: [&str; 2], address: [u8; 6]) -> io::Result<()> {
        let mut peer_message = LinkMessage::default();
        let if_name = |name: &str| LinkAttribute::IfName(name.to_owned());
        peer_message.attributes.push(if_name(peer));
        let mut message = LinkMessage::default();
        message.header.flags = LinkFlags::Noarp;
        message.header.change_mask = LinkFlags::Noarp;
        message.attributes = vec![
            if_name(name),
            LinkAttribute::Address(address.to_vec()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer_message))),
            ]),
        ];
        self.request(RouteNetlinkMessage::NewLink(message), CREATE_NEW)
    }

    /// Disables ARP of a device: the host behind it receives all packets.
    pub fn disable_arp(&self, index: u32) -> io::Result<()> {
        self.set_link(index, LinkFlags::Noarp, Vec::new())
    }

    /// Brings a device up. `burst` is the maximum number of segments that TCP hands it at once.
    pub fn bring_up(&self, index: u32, mtu: u32, burst: Option<u32>) -> io::Result<()> {
        let mut attributes = vec![LinkAttribute::Mtu(mtu)];
        attributes.extend(burst.map(LinkAttribute::GsoMaxSegs));
        self.set_link(index, LinkFlags::Up, attributes)
    }

    /// Sets the queue length of a device, packets.
    pub fn set_queue_length(&self, index: u32, packets: u32) -> io::Result<()> {
        let attributes = vec![LinkAttribute::TxQueueLen(packets)];
        self.set_link(index, LinkFlags::empty(), attributes)
    }

    /// Sets the queueing discipline of a device. Options are those of the discipline, by number.
    pub fn set_qdisc(&self, index: u32, kind: &str, options: &[(u16, u32)]) -> io::Result<()> {
        let mut message = TcMessage::with_index(index as i32);
        message.header.parent = TcHandle::ROOT;
        let option = |&(number, value): &(u16, u32)| {
            TcOption::Other(DefaultNla::new(number, value.to_ne_bytes().to_vec()))
        };
        message.attributes = vec![
            TcAttribute::Kind(kind.to_owned()),
            TcAttribute::Options(options.iter().map(option).collect()),
        ];
        self.request(
            RouteNetlinkMessage::NewQueueDiscipline(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    /// Adds an address of a device.
    pub fn add_address(&self, index: u32, address: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = host_prefix(address);
        message.header.index = index;
        // A route could not use it during duplicate address detection (RFC 4862 section 5.4).
        message.header.flags = AddressHeaderFlags::Nodad;
        message.attributes = vec![
            AddressAttribute::Local(address),
            AddressAttribute::Address(address),
        ];
        self.request(RouteNetlinkMessage::NewAddress(message), CREATE_NEW)
    }

    /// Routes all destinations through a device, with these metrics.
    pub fn add_default_route(
        &self,
        index: u32,
        source: IpAddr,
        metrics: Vec<RouteMetric>,
    ) -> io::Result<()> {
        self.request(
            RouteNetlinkMessage::NewRoute(default_route(index, source, metrics)),
            CREATE_NEW,
        )
    }

    /// Routes packets of `source`, another host, through a device, by the routing table of this number.
    pub fn add_source_route(&self, index: u32, source: IpAddr, table: u32) -> io::Result<()> {
        let mut message = default_route(index, source, Vec::new());
        message.header.table = RouteHeader::RT_TABLE_UNSPEC;
        message.attributes = vec![RouteAttribute::Oif(index), RouteAttribute::Table(table)];
        self.request(RouteNetlinkMessage::NewRoute(message), CREATE_NEW)?;
        let mut rule = RuleMessage::default();
        rule.header.family = family(source);
        rule.header.src_len = host_prefix(source);
        rule.header.action = RuleAction::ToTable;
        rule.attributes = vec![RuleAttribute::Source(source), RuleAttribute::Table(table)];
        self.request(RouteNetlinkMessage::NewRule(rule), CREATE_NEW)
    }

    /// Routes a destination through a device, with these metrics, in place of its earlier route if there is one.
    pub fn set_route(
        &self,
        index: u32,
        source: IpAddr,
        to: IpAddr,
        metrics: Vec<RouteMetric>,
    ) -> io::Result<()> {
        let mut message = default_route(index, source, metrics);
        message.header.destination_prefix_length = host_prefix(to);
        let to = RouteAttribute::Destination(to.into());
        message.attributes.push(to);
        self.request(
            RouteNetlinkMessage::NewRoute(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }
}

/// Returns the request for a route to all destinations.
fn default_route(index: u32, source: IpAddr, metrics: Vec<RouteMetric>) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(source);
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Boot;
    message.header.scope = RouteScope::Link;
    message.header.kind = RouteType::Unicast;
    message.attributes = vec![
        RouteAttribute::Oif(index),
        RouteAttribute::PrefSource(source.into()),
    ];
    if !metrics.is_empty() {
        message.attributes.push(RouteAttribute::Metrics(metrics));
    }
    message
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

/// Returns the length of the prefix of a single host, bits.
fn host_prefix(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}
