//! Pcap tap: an observer that writes the packets of one node to a capture file.

use std::io::{self, Write};
use std::net::SocketAddr;

use net::{HostId, Observer, Packet};
use packet::addressing::address;
use packet::pcap::Writer;
use packet::wire::{IpPacket, encode};
use tcp::Segment;
use units::Instant;

/// Hosts and ports of the two ends of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FlowPorts {
    /// The end that opens it.
    pub(crate) client: (HostId, u16),
    /// The end that listens.
    pub(crate) server: (HostId, u16),
}

impl FlowPorts {
    fn port(&self, host: HostId) -> u16 {
        let (client, client_port) = self.client;
        if host == client {
            client_port
        } else {
            self.server.1
        }
    }
}

/// Observer that captures the TCP segments at one host or one middlebox.
pub(crate) struct PcapTap<W: Write> {
    host: HostId,
    /// Ends of each connection.
    flows: Vec<FlowPorts>,
    out: Writer<W>,
    /// Buffer of a packet.
    buffer: Vec<u8>,
    /// Packets written per direction, for the identification field.
    identification: [u16; 2],
    /// First error of writing.
    error: Option<io::Error>,
}

impl<W: Write> PcapTap<W> {
    /// Taps `host`, whose connections [`add_flow`](Self::add_flow) names, and stores `snaplen` bytes of each packet.
    pub(crate) fn new(host: HostId, snaplen: u32, out: W) -> io::Result<Self> {
        Ok(Self {
            host,
            flows: Vec::new(),
            out: Writer::new(out, snaplen)?,
            buffer: Vec::with_capacity(2_048),
            identification: [0; 2],
            error: None,
        })
    }

    /// Adds the next flow, a connection between the ends in `ports`.
    pub(crate) fn add_flow(&mut self, ports: FlowPorts) {
        self.flows.push(ports);
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// Returns the first error since the beginning.
    pub(crate) fn finish(self) -> io::Result<W> {
        match self.error {
            Some(error) => Err(error),
            None => self.out.finish(),
        }
    }

    fn write(&mut self, at: Instant, packet: &Packet, segment: &Segment) -> io::Result<()> {
        let flow = self.flows.get(packet.flow as usize).ok_or_else(|| {
            io::Error::other(format!(
                "flow {} has no ports: {} have",
                packet.flow,
                self.flows.len()
            ))
        })?;
        let endpoint = |host: HostId| SocketAddr::new(address(host.0).into(), flow.port(host));
        let identification = &mut self.identification[usize::from(packet.source == self.host)];
        let ip_packet = IpPacket {
            source: endpoint(packet.source),
            destination: endpoint(packet.destination),
            identification: *identification,
            segment: *segment,
        };
        *identification = identification.wrapping_add(1);
        let total = encode(&ip_packet, self.out.snaplen() as usize, &mut self.buffer)
            .map_err(io::Error::other)?;
        self.out.write(at, u32::from(total), &self.buffer)
    }

    /// Writes a packet if it is sent, received or forwarded at the node of the capture. Most runs have no capture.
    #[cold]
    fn capture(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let Some(segment) = packet.segment() else {
            return;
        };
        if host == self.host
            && self.error.is_none()
            && let Err(error) = self.write(at, packet, segment)
        {
            self.error = Some(error);
        }
    }
}

impl<W: Write> Observer for PcapTap<W> {
    fn on_sent(&mut self, at: Instant, host: HostId, packet: &Packet) {
        self.capture(at, host, packet);
    }

    fn on_received(&mut self, at: Instant, host: HostId, packet: &Packet) {
        self.capture(at, host, packet);
    }

    fn on_arrived(&mut self, at: Instant, node: HostId, packet: &Packet) {
        self.capture(at, node, packet);
    }

    fn on_created(&mut self, at: Instant, node: HostId, packet: &Packet) {
        self.capture(at, node, packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::Payload;
    use packet::wire;
    use tcp::Ecn;

    #[test]
    fn a_capture_has_a_header_and_a_record_per_packet_of_its_host() {
        let (server, client) = (HostId(0), HostId(1));
        let flow = FlowPorts {
            client: (client, 50_000),
            server: (server, 443),
        };
        let mut tap = PcapTap::new(server, 96, Vec::new()).unwrap();
        tap.add_flow(flow);
        let segment = Segment {
            seq: 1,
            len: 1_000,
            ..Segment::default()
        };
        let data = Packet {
            source: server,
            destination: client,
            payload: segment.into(),
            ..Packet::default()
        };
        tap.on_sent(Instant::from_nanos(2_000_000_003), server, &data);
        tap.on_received(Instant::from_nanos(2_000_000_004), client, &data);
        for payload in [Payload::Cross, Payload::Other { ecn: Ecn::Ect0 }] {
            let beside = Packet { payload, ..data };
            tap.on_sent(Instant::from_nanos(2_000_000_005), server, &beside);
        }

        let file = tap.finish().unwrap();
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        assert_eq!((word(0), word(16), word(20)), (0xa1b2_3c4d, 96, 101));
        assert_eq!([24, 28, 32, 36].map(word), [2, 3, 96, 1_040]);
        assert_eq!(file.len(), 24 + 16 + 96);
        let datagram = wire::parse(&file[40..]).unwrap();
        assert_eq!(datagram.source.to_string(), "10.0.0.1:443");
        assert_eq!(datagram.destination.to_string(), "10.0.0.2:50000");
        assert_eq!(datagram.segment, segment);
    }

    #[test]
    fn a_flow_without_ports_fails_the_capture() {
        let mut tap = PcapTap::new(HostId(0), 96, Vec::new()).unwrap();
        tap.on_sent(Instant::ZERO, HostId(0), &Packet::default());
        assert_eq!(
            tap.finish().unwrap_err().to_string(),
            "flow 0 has no ports: 0 have"
        );
    }
}
