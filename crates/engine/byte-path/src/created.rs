//! Bytes of packets that middleboxes have created.

use std::net::SocketAddr;

use net::{HostId, Packet};
use packet::wire::{self, IpPacket, WireError};

/// An end of a connection: its host, and its address and port.
pub type End = (HostId, SocketAddr);

/// Reason why a packet that a middlebox has created has no bytes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CreatedPacketError {
    /// The payload has not the length of the segment.
    #[error("a middlebox has created a segment of {len} bytes and given {given} bytes of payload")]
    Payload {
        /// Length of the segment, bytes.
        len: u32,
        /// Length of the payload, bytes.
        given: usize,
    },
    /// The connection has no end at the source or at the destination.
    #[error("a middlebox has created a packet of connection {flow}, which has no end at host {}", host.0)]
    NoEnd {
        /// Index of the connection.
        flow: u32,
        /// The host.
        host: HostId,
    },
    /// The packet has no TCP segment.
    #[error("a middlebox has created a packet without a TCP segment")]
    NotTcp,
    /// The headers cannot be written.
    #[error(transparent)]
    Headers(#[from] WireError),
}

/// Returns the bytes of a packet of a connection between `ends` with this payload.
pub(crate) fn bytes(
    packet: &Packet,
    ends: Option<&[End; 2]>,
    payload: &[u8],
) -> Result<Vec<u8>, CreatedPacketError> {
    let segment = *packet.segment().ok_or(CreatedPacketError::NotTcp)?;
    if payload.len() != segment.len as usize {
        return Err(CreatedPacketError::Payload {
            len: segment.len,
            given: payload.len(),
        });
    }
    let address = |host: HostId| {
        let end = ends.and_then(|ends| ends.iter().find(|(end, _)| *end == host));
        let flow = packet.flow;
        let none = CreatedPacketError::NoEnd { flow, host };
        end.map(|(_, address)| *address).ok_or(none)
    };
    let datagram = IpPacket {
        source: address(packet.source)?,
        destination: address(packet.destination)?,
        identification: 0,
        segment,
    };
    let mut bytes = Vec::with_capacity(packet.size as usize);
    let packet_len = wire::encode(&datagram, usize::MAX, &mut bytes)?;
    let start = usize::from(packet_len) - payload.len();
    bytes[start..].copy_from_slice(payload);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use net::Payload;
    use tcp::{Ecn, Segment};

    use super::*;

    fn packet(len: u32) -> Packet {
        let segment = Segment {
            len,
            ecn: Ecn::Ce,
            ..Segment::default()
        };
        Packet {
            destination: HostId(1),
            payload: segment.into(),
            ..Packet::default()
        }
    }

    #[test]
    fn a_created_packet_has_headers_its_mark_and_its_payload() {
        let end = |host, address: &str| (HostId(host), address.parse().unwrap());
        let ends = [end(1, "10.0.0.2:50000"), end(0, "10.0.0.1:5201")];
        let bytes = bytes(&packet(3), Some(&ends), &[7, 8, 9]).unwrap();
        let datagram = wire::parse(&bytes).unwrap();
        assert_eq!(datagram.source.to_string(), "10.0.0.1:5201");
        assert_eq!(datagram.destination.to_string(), "10.0.0.2:50000");
        assert_eq!((datagram.segment.len, datagram.segment.ecn), (3, Ecn::Ce));
        assert_eq!((bytes.len(), &bytes[40..]), (43, &[7, 8, 9][..]));
    }

    #[test]
    fn a_packet_that_cannot_be_written_is_named() {
        let rejected = |packet: &Packet| bytes(packet, None, &[]).unwrap_err().to_string();
        assert_eq!(
            rejected(&packet(3)),
            "a middlebox has created a segment of 3 bytes and given 0 bytes of payload"
        );
        assert_eq!(
            rejected(&packet(0)),
            "a middlebox has created a packet of connection 0, which has no end at host 0"
        );
        let other = Packet {
            payload: Payload::Other { ecn: Ecn::NotEct },
            ..packet(0)
        };
        assert_eq!(
            rejected(&other),
            "a middlebox has created a packet without a TCP segment"
        );
    }
}
