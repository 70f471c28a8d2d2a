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
const NEW: u16 = NLM_F_CREATE | NLM_F_EXCL;

/// Bit of a metric in `RTAX_LOCK`, without which the kernel does not take `RTAX_RTO_MIN`.
const LOCK_RTO_MIN: u32 = 1 << 13;

/// Returns the metrics of a route on which connections begin with this window, segments. `min_rto` is the shortest
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
        let (answer, _) = self.0.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer)
            .map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            _ => Ok(()),
        }
    }

    /// Moves a device to the network namespace of a file.
    pub fn move_link(&self, index: u32, namespace: &impl AsFd) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        let file = namespace.as_fd().as_raw_fd();
        message.attributes.push(LinkAttribute::NetNsFd(file));
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Makes a pair of virtual Ethernet devices (veth(4)). The first has this hardware address, and resolves none.
    pub fn add_veth(&self, [name, peer]: [&str; 2], address: [u8; 6]) -> io::Result<()> {
        let mut of_peer = LinkMessage::default();
        let name_of = |name: &str| LinkAttribute::IfName(name.to_owned());
        of_peer.attributes.push(name_of(peer));
        let mut message = LinkMessage::default();
        message.header.flags = LinkFlags::Noarp;
        message.header.change_mask = LinkFlags::Noarp;
        message.attributes = vec![
            name_of(name),
            LinkAttribute::Address(address.to_vec()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(of_peer))),
            ]),
        ];
        self.request(RouteNetlinkMessage::NewLink(message), NEW)
    }

    /// Disables the resolution of hardware addresses of a device: the host behind it receives all packets.
    pub fn resolve_nothing(&self, index: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.flags = LinkFlags::Noarp;
        message.header.change_mask = LinkFlags::Noarp;
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Brings a device up. `burst` is the maximum number of segments that TCP hands it at once.
    pub fn bring_up(&self, index: u32, mtu: u32, burst: Option<u32>) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        message.attributes.push(LinkAttribute::Mtu(mtu));
        if let Some(segments) = burst {
            message.attributes.push(LinkAttribute::GsoMaxSegs(segments));
        }
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Sets the queue length of a device, packets.
    pub fn set_queue_length(&self, index: u32, packets: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.attributes.push(LinkAttribute::TxQueueLen(packets));
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Gives a device this queueing discipline. Options are those of the discipline, by number.
    pub fn set_queue(&self, index: u32, kind: &str, options: &[(u16, u32)]) -> io::Result<()> {
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

    /// Gives a device its address.
    pub fn add_address(&self, index: u32, address: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = bits(address);
        message.header.index = index;
        // Nobody else has it, and a route cannot use it while that is found out (RFC 4862 section 5.4).
        message.header.flags = AddressHeaderFlags::Nodad;
        message.attributes = vec![
            AddressAttribute::Local(address),
            AddressAttribute::Address(address),
        ];
        self.request(RouteNetlinkMessage::NewAddress(message), NEW)
    }

    /// Routes all destinations through a device, with these metrics.
    pub fn add_default_route(
        &self,
        index: u32,
        source: IpAddr,
        metrics: Vec<RouteMetric>,
    ) -> io::Result<()> {
        self.request(
            RouteNetlinkMessage::NewRoute(route(index, source, metrics)),
            NEW,
        )
    }

    /// Routes packets of `source`, another host, through a device, by the routing table of this number.
    pub fn add_route_of(&self, index: u32, source: IpAddr, table: u32) -> io::Result<()> {
        let mut message = route(index, source, Vec::new());
        message.header.table = RouteHeader::RT_TABLE_UNSPEC;
        message.attributes = vec![RouteAttribute::Oif(index), RouteAttribute::Table(table)];
        self.request(RouteNetlinkMessage::NewRoute(message), NEW)?;
        let mut rule = RuleMessage::default();
        rule.header.family = family(source);
        rule.header.src_len = bits(source);
        rule.header.action = RuleAction::ToTable;
        rule.attributes = vec![RuleAttribute::Source(source), RuleAttribute::Table(table)];
        self.request(RouteNetlinkMessage::NewRule(rule), NEW)
    }

    /// Routes a destination through a device, with these metrics, in place of its earlier route if there is one.
    pub fn set_route(
        &self,
        index: u32,
        source: IpAddr,
        to: IpAddr,
        metrics: Vec<RouteMetric>,
    ) -> io::Result<()> {
        let mut message = route(index, source, metrics);
        message.header.destination_prefix_length = bits(to);
        let to = RouteAttribute::Destination(to.into());
        message.attributes.push(to);
        self.request(
            RouteNetlinkMessage::NewRoute(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }
}

/// Returns the request for a route to all destinations.
fn route(index: u32, source: IpAddr, metrics: Vec<RouteMetric>) -> RouteMessage {
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

/// Returns the bits of an address, the length of the prefix of a single host.
fn bits(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}
