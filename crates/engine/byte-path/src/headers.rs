//! Headers of a packet with bytes: its ends, its flow, and its TCP segment if it has one that is followed.

use std::net::IpAddr;

use etherparse::LaxIpSlice;
use net::Payload;
use packet::wire::{self, IpPacket};
use tcp::Ecn;

/// Protocols whose headers begin with two ports: TCP, UDP, DCCP, SCTP and UDP-Lite (IANA, "Protocol Numbers").
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

/// Headers of an IP packet of any protocol, as the path needs them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Headers {
    /// Address that it is sent to.
    pub destination: IpAddr,
    /// Index of its connection if its payload is a segment, else a hash of its 5-tuple, alike in both directions.
    pub flow: u32,
    /// The segment of a connection of the run, or any other packet.
    pub payload: Payload,
}

impl Headers {
    /// Reads the headers of an IPv4 or IPv6 packet; `None` if `bytes` are no such packet, or fewer than its headers
    /// say. `connection` returns the number of the connection that a TCP segment belongs to, if there is one.
    pub fn read(bytes: &[u8], connection: impl FnOnce(&IpPacket) -> Option<u32>) -> Option<Self> {
        if let Ok(ip) = wire::parse(bytes)
            && let Some(flow) = connection(&ip)
        {
            bytes.len().checked_sub(ip.segment.len as usize)?;
            return Some(Self {
                destination: ip.destination.ip(),
                flow,
                payload: Payload::Tcp(ip.segment),
            });
        }
        let (ip, stopped) = LaxIpSlice::from_slice(bytes).ok()?;
        let class = match &ip {
            LaxIpSlice::Ipv4(v4) => v4.header().slice()[1],
            LaxIpSlice::Ipv6(v6) => v6.header().slice()[1] >> 4,
        };
        if stopped.is_some() || ip.payload().incomplete {
            return None;
        }
        Some(Self {
            destination: ip.destination_addr(),
            flow: flow_hash(&ip),
            payload: Payload::Other {
                ecn: match class & 0b11 {
                    0b00 => Ecn::NotEct,
                    0b01 => Ecn::Ect1,
                    0b10 => Ecn::Ect0,
                    _ => Ecn::Ce,
                },
            },
        })
    }
}

/// Returns the FNV-1a hash of addresses, protocol and ports; without ports for fragments, as in Linux, since later ones
/// have none.
fn flow_hash(ip: &LaxIpSlice<'_>) -> u32 {
    let protocol = ip.payload_ip_number().0;
    let ports = if WITH_PORTS.contains(&protocol) && !ip.is_fragmenting_payload() {
        ip.payload().payload.get(..4).unwrap_or_default()
    } else {
        &[]
    };
    let (from, to) = ports.split_at(ports.len() / 2);
    let mut ends = [(ip.source_addr(), from), (ip.destination_addr(), to)];
    ends.sort_unstable();
    let fnv = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    let hash = ends.iter().fold(0x811c_9dc5, |hash, (address, port)| {
        let hash = match address {
            IpAddr::V4(v4) => v4.octets().iter().fold(hash, fnv),
            IpAddr::V6(v6) => v6.octets().iter().fold(hash, fnv),
        };
        port.iter().fold(hash, fnv)
    });
    fnv(hash, &protocol)
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;

    use super::*;

    fn udp(ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
        let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(ports[0], ports[1]);
        let mut bytes = Vec::new();
        builder.write(&mut bytes, payload).unwrap();
        bytes
    }

    #[test]
    fn a_packet_of_another_protocol_has_the_flow_of_its_5_tuple() {
        let read = |bytes: &[u8]| Headers::read(bytes, |_| None).unwrap();
        let mut there = udp([40_000, 443], &[0; 100]);
        there[1] = 0b10;
        let headers = read(&there);
        assert_eq!(headers.destination.to_string(), "10.0.0.2");
        assert_eq!(headers.payload, Payload::Other { ecn: Ecn::Ect0 });
        assert_eq!(read(&udp([40_000, 443], &[])).flow, headers.flow);
        assert_ne!(read(&udp([40_001, 443], &[])).flow, headers.flow);
        let mut back = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 0, 2], [10, 0, 0, 1], 64).udp(443, 40_000);
        builder.write(&mut back, &[1; 10]).unwrap();
        assert_eq!(read(&back).flow, headers.flow);
    }

    #[test]
    fn ipv6_is_read_and_what_is_cut_off_is_rejected() {
        let mut bytes = Vec::new();
        let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64).icmpv6_echo_request(1, 2);
        builder.write(&mut bytes, &[0; 8]).unwrap();
        bytes[1] |= 0b11 << 4;
        let headers = Headers::read(&bytes, |_| None).unwrap();
        assert_eq!(headers.destination, IpAddr::from([2; 16]));
        assert_eq!(headers.payload, Payload::Other { ecn: Ecn::Ce });
        for cut in [0, 1, 39, 40, bytes.len() - 1] {
            assert_eq!(Headers::read(&bytes[..cut], |_| None), None, "{cut} bytes");
        }
    }

    #[test]
    fn a_segment_is_followed_only_on_a_connection_of_the_run() {
        let mut bytes = Vec::new();
        let builder =
            PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).tcp(5_201, 49_152, 7, 9);
        builder.write(&mut bytes, b"data").unwrap();
        let known = Headers::read(&bytes, |ip| {
            assert_eq!(ip.source.port(), 5_201);
            Some(3)
        });
        let known = known.unwrap();
        let Payload::Tcp(segment) = known.payload else {
            panic!("{known:?}");
        };
        assert_eq!((known.flow, segment.seq, segment.len), (3, 7, 4));
        let unknown = Headers::read(&bytes, |_| None).unwrap();
        assert_eq!(unknown.payload, Payload::Other { ecn: Ecn::NotEct });
        assert_eq!(Headers::read(&bytes[..bytes.len() - 5], |_| Some(3)), None);
    }
}
