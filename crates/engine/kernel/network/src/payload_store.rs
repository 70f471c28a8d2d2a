//! Contents: bytes of the packets on the path, for middleboxes between hosts that run Linux.

use std::collections::HashMap;
use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use net::{HostId, Packet};
use packet::addressing;
use packet::wire::{self, IpPacket};

/// An end of a connection: its host and its port.
pub(crate) type End = (HostId, u16);

/// The bytes of packets, shared by the session and the network.
#[derive(Clone, Debug, Default)]
pub(crate) struct PayloadStore(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    /// Payload of packets of the kernel, in its own memory.
    kernel: HashMap<u64, &'static [u8]>,
    /// Whole packets that middleboxes have created.
    created: HashMap<u64, Vec<u8>>,
    /// By the number of the connection.
    ends: Vec<[End; 2]>,
    failure: Option<String>,
}

impl PayloadStore {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the next connection.
    pub(crate) fn open(&self, ends: [End; 2]) {
        self.lock().ends.push(ends);
    }

    /// Adds the payload of a packet of the kernel, until [`PayloadStore::forget`].
    pub(crate) fn add(&self, packet: u64, payload: &'static [u8]) {
        self.lock().kernel.insert(packet, payload);
    }

    /// Removes a packet of the kernel or one that was created and has not arrived.
    pub(crate) fn forget(&self, packet: u64) {
        let mut inner = self.lock();
        inner.kernel.remove(&packet);
        inner.created.remove(&packet);
    }

    /// Takes the bytes of a packet that was created.
    pub(crate) fn take(&self, packet: u64) -> Vec<u8> {
        self.lock().created.remove(&packet).unwrap_or_default()
    }

    /// Takes the first reason why a packet could not be created.
    pub(crate) fn take_failure(&self) -> Option<String> {
        self.lock().failure.take()
    }
}

impl net::Contents for PayloadStore {
    fn payload(&mut self, packet: u64) -> Option<Vec<u8>> {
        let inner = self.lock();
        if let Some(payload) = inner.kernel.get(&packet) {
            return Some(payload.to_vec());
        }
        let bytes = inner.created.get(&packet)?;
        let segment = wire::parse(bytes).ok()?.segment;
        Some(bytes[bytes.len() - segment.len as usize..].to_vec())
    }

    fn keep(&mut self, packet: &Packet, payload: Option<Vec<u8>>) {
        let mut inner = self.lock();
        match inner.write(packet, &payload.unwrap_or_default()) {
            Ok(bytes) => {
                inner.created.insert(packet.id, bytes);
            }
            Err(reason) => {
                inner.failure.get_or_insert(reason);
            }
        }
    }
}

impl Inner {
    /// Writes the bytes of a packet that a middlebox creates.
    fn write(&self, packet: &Packet, payload: &[u8]) -> Result<Vec<u8>, String> {
        if payload.len() != packet.segment.len as usize {
            return Err(format!(
                "a middlebox has created a segment of {} bytes and given {} bytes of payload",
                packet.segment.len,
                payload.len()
            ));
        }
        let datagram = IpPacket {
            source: self.address(packet.flow, packet.source)?,
            destination: self.address(packet.flow, packet.destination)?,
            identification: 0,
            segment: packet.segment,
        };
        let mut bytes = Vec::with_capacity(packet.size as usize);
        let whole =
            wire::encode(&datagram, usize::MAX, &mut bytes).map_err(|error| error.to_string())?;
        let start = usize::from(whole) - payload.len();
        bytes[start..].copy_from_slice(payload);
        Ok(bytes)
    }

    fn address(&self, flow: u32, host: HostId) -> Result<SocketAddrV4, String> {
        let ends = self.ends.get(flow as usize);
        let end = ends.and_then(|ends| ends.iter().find(|(end, _)| *end == host));
        end.map(|&(host, port)| SocketAddrV4::new(addressing::address(host.0), port))
            .ok_or_else(|| format!("a middlebox has created a packet of connection {flow}, which has no end at host {}", host.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::{CREATED_FROM, Contents as _};
    use tcp::Segment;

    fn packet(len: u32) -> Packet {
        Packet {
            id: CREATED_FROM,
            destination: HostId(1),
            segment: Segment {
                len,
                ..Segment::default()
            },
            ..Packet::default()
        }
    }

    #[test]
    fn a_created_packet_has_headers_and_its_payload() {
        let mut contents = PayloadStore::default();
        contents.open([(HostId(1), 50_000), (HostId(0), 5_201)]);
        contents.keep(&packet(3), Some(vec![7, 8, 9]));
        assert_eq!(contents.payload(CREATED_FROM), Some(vec![7, 8, 9]));
        let bytes = contents.take(CREATED_FROM);
        let datagram = wire::parse(&bytes).unwrap();
        assert_eq!(datagram.source.to_string(), "10.0.0.1:5201");
        assert_eq!(datagram.destination.to_string(), "10.0.0.2:50000");
        assert_eq!((datagram.segment.len, bytes.len()), (3, 43));
        assert_eq!(contents.take_failure(), None);
    }

    #[test]
    fn a_packet_that_cannot_be_written_is_named() {
        let mut contents = PayloadStore::default();
        contents.keep(&packet(3), None);
        assert_eq!(
            contents.take_failure().unwrap(),
            "a middlebox has created a segment of 3 bytes and given 0 bytes of payload"
        );
        contents.keep(&packet(0), None);
        assert_eq!(
            contents.take_failure().unwrap(),
            "a middlebox has created a packet of connection 0, which has no end at host 0"
        );
    }
}
