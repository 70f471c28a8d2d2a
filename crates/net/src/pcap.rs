//! A capture of what one host sends and receives, as Wireshark reads it.
//!
//! The format (draft-ietf-opsawg-pcap) is two headers of fixed fields; libraries for it bring their
//! own derive macros, which weigh more than the format.

use std::io::{self, Write};
use std::net::SocketAddrV4;

use units::Instant;

use crate::wire::{Datagram, address, encode};
use crate::{HostId, Kind, Observer, Packet};

/// Nanoseconds instead of microseconds.
const MAGIC: u32 = 0xa1b2_3c4d;
const VERSION: [u16; 2] = [2, 4];
/// Packets begin with their IP header.
const LINKTYPE_RAW: u32 = 101;

/// The ends of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowPorts {
    /// One end and its port.
    pub client: (HostId, u16),
    /// The other end and its port.
    pub server: (HostId, u16),
}

impl FlowPorts {
    fn port(&self, host: HostId) -> u16 {
        if host == self.client.0 {
            self.client.1
        } else {
            self.server.1
        }
    }
}

/// An observer that writes a pcap file with nanoseconds. Cross-traffic is left out.
pub struct PcapTap<W> {
    host: HostId,
    /// By the number of the flow.
    flows: Vec<FlowPorts>,
    snaplen: u32,
    out: W,
    packet: Vec<u8>,
    /// Packets written per direction, for the identification field.
    identification: [u16; 2],
    failed: Option<io::Error>,
}

impl<W: Write> PcapTap<W> {
    /// Taps `host`, where `flows[n]` has the ports of flow `n`, and keeps `snaplen` bytes of each
    /// packet.
    ///
    /// # Errors
    /// If the header of the file cannot be written.
    pub fn new(host: HostId, flows: Vec<FlowPorts>, snaplen: u32, mut out: W) -> io::Result<Self> {
        out.write_all(&MAGIC.to_le_bytes())?;
        out.write_all(&VERSION[0].to_le_bytes())?;
        out.write_all(&VERSION[1].to_le_bytes())?;
        // Two reserved fields.
        out.write_all(&[0; 8])?;
        out.write_all(&snaplen.to_le_bytes())?;
        out.write_all(&LINKTYPE_RAW.to_le_bytes())?;
        let packet = Vec::with_capacity(2_048);
        Ok(Self {
            host,
            flows,
            snaplen,
            out,
            packet,
            identification: [0; 2],
            failed: None,
        })
    }

    /// The next flow is a connection between these ends.
    pub fn add_flow(&mut self, ports: FlowPorts) {
        self.flows.push(ports);
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// The first one since the beginning.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.out.flush()?;
        Ok(self.out)
    }

    fn write(&mut self, at: Instant, packet: &Packet) -> io::Result<()> {
        let flow = self.flows.get(packet.flow as usize).ok_or_else(|| {
            io::Error::other(format!(
                "flow {} has no ports: {} have",
                packet.flow,
                self.flows.len()
            ))
        })?;
        let endpoint = |host| SocketAddrV4::new(address(host), flow.port(host));
        let identification = &mut self.identification[usize::from(packet.source == self.host)];
        let datagram = Datagram {
            source: endpoint(packet.source),
            destination: endpoint(packet.destination),
            identification: *identification,
            segment: packet.segment,
        };
        *identification = identification.wrapping_add(1);
        let total =
            encode(&datagram, self.snaplen as usize, &mut self.packet).map_err(io::Error::other)?;
        let nanoseconds = at.as_nanos();
        let fields = [
            (nanoseconds / 1_000_000_000) as u32,
            (nanoseconds % 1_000_000_000) as u32,
            self.packet.len() as u32,
            u32::from(total),
        ];
        for field in fields {
            self.out.write_all(&field.to_le_bytes())?;
        }
        self.out.write_all(&self.packet)
    }

    fn capture(&mut self, at: Instant, host: HostId, packet: &Packet) {
        if host != self.host || packet.kind == Kind::Cross || self.failed.is_some() {
            return;
        }
        if let Err(error) = self.write(at, packet) {
            self.failed = Some(error);
        }
    }
}

impl<W: Write> Observer for PcapTap<W> {
    fn sent(&mut self, at: Instant, host: HostId, packet: &Packet) {
        self.capture(at, host, packet);
    }

    fn received(&mut self, at: Instant, host: HostId, packet: &Packet) {
        self.capture(at, host, packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;
    use tcp::Segment;

    #[test]
    fn a_capture_has_a_header_and_a_record_per_packet_of_its_host() {
        let (server, client) = (HostId(0), HostId(1));
        let flows = vec![FlowPorts {
            client: (client, 50_000),
            server: (server, 443),
        }];
        let mut tap = PcapTap::new(server, flows, 96, Vec::new()).unwrap();
        let segment = Segment {
            seq: 1,
            len: 1_000,
            ..Segment::default()
        };
        let data = Packet {
            source: server,
            destination: client,
            segment,
            ..Packet::default()
        };
        tap.sent(Instant::from_nanos(2_000_000_003), server, &data);
        tap.received(Instant::from_nanos(2_000_000_004), client, &data);
        let cross = Packet {
            kind: Kind::Cross,
            ..data
        };
        tap.sent(Instant::from_nanos(2_000_000_005), server, &cross);

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
        let mut tap = PcapTap::new(HostId(0), vec![], 96, Vec::new()).unwrap();
        tap.sent(Instant::ZERO, HostId(0), &Packet::default());
        assert_eq!(
            tap.finish().unwrap_err().to_string(),
            "flow 0 has no ports: 0 have"
        );
    }
}
