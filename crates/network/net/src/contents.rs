//! Contents: bytes of the packets under way, in an engine whose packets have bytes.

use std::collections::HashMap;

/// Maximum number of stored buffers for later packets.
const MAX_FREE_BUFFERS: usize = 4_096;

/// Bytes of one packet.
#[derive(Debug)]
struct PacketBytes {
    bytes: Vec<u8>,
    /// Offset of the payload of the TCP segment.
    payload: usize,
}

/// The bytes of packets, by identity. Buffers are reused, so that a run stops allocating after a while.
#[derive(Debug, Default)]
pub struct Contents {
    packets: HashMap<u64, PacketBytes>,
    free: Vec<Vec<u8>>,
}

impl Contents {
    /// Stores a copy of the bytes of a packet, in which the payload of its segment begins at `payload`.
    pub fn insert(&mut self, packet: u64, bytes: &[u8], payload: usize) {
        let mut copy = self.free.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        let bytes = copy;
        self.packets.insert(packet, PacketBytes { bytes, payload });
    }

    /// Returns the payload of a packet.
    pub fn payload(&self, packet: u64) -> Option<&[u8]> {
        let packet = self.packets.get(&packet)?;
        packet.bytes.get(packet.payload..)
    }

    /// Removes and returns the stored bytes of a packet, to be given back to [`Contents::recycle`].
    pub fn pop(&mut self, packet: u64) -> Option<Vec<u8>> {
        self.packets.remove(&packet).map(|packet| packet.bytes)
    }

    /// Recycles a buffer.
    pub fn recycle(&mut self, bytes: Vec<u8>) {
        if self.free.len() < MAX_FREE_BUFFERS {
            self.free.push(bytes);
        }
    }

    /// Stores the payload of a packet that a middlebox creates.
    pub(crate) fn create(&mut self, packet: u64, payload: Vec<u8>) {
        let bytes = PacketBytes {
            bytes: payload,
            payload: 0,
        };
        self.packets.insert(packet, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_is_what_follows_the_headers_until_the_packet_leaves() {
        let mut contents = Contents::default();
        contents.insert(7, &[1, 2, 3, 4], 3);
        assert_eq!(contents.payload(7), Some(&[4][..]));
        assert_eq!(contents.payload(8), None);
        let bytes = contents.pop(7).unwrap();
        assert_eq!((&bytes[..], contents.payload(7)), (&[1, 2, 3, 4][..], None));
        let buffer = bytes.as_ptr();
        contents.recycle(bytes);
        contents.insert(8, &[5, 6], 0);
        let second = contents.pop(8).unwrap();
        assert_eq!((&second[..], second.as_ptr()), (&[5, 6][..], buffer));
    }
}
