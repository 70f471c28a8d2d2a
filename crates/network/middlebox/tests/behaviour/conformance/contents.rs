//! Contents: packets with bytes that follow from their sequence numbers, and a check of those that are created.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use net::Packet;
use tcp::Segment;

/// Returns the bytes of `len` sequence numbers from `seq` on.
fn pattern(seq: u32, len: u32) -> Vec<u8> {
    let byte = |offset| {
        let number = seq.wrapping_add(offset);
        (number ^ (number >> 8)) as u8
    };
    (0..len).map(byte).collect()
}

/// Data segments of the hosts, by the identity of their packets, and the number of those that a middlebox has created.
#[derive(Clone, Default)]
pub struct Contents(Arc<Mutex<(HashMap<u64, Segment>, u64)>>);

impl Contents {
    pub fn add(&self, packet: &Packet) {
        let mut inner = self.0.lock().unwrap();
        inner.0.insert(packet.id, packet.segment);
    }

    /// Returns the data segments that were created.
    pub fn created(&self) -> u64 {
        self.0.lock().unwrap().1
    }
}

impl net::Contents for Contents {
    fn payload(&mut self, packet: u64) -> Option<Vec<u8>> {
        let inner = self.0.lock().unwrap();
        let segment = inner.0.get(&packet)?;
        Some(pattern(segment.seq, segment.len))
    }

    fn keep(&mut self, packet: &Packet, payload: Option<Vec<u8>>) {
        let Segment { seq, len, .. } = packet.segment;
        let payload = payload.unwrap_or_default();
        assert_eq!(payload, pattern(seq, len), "bytes of {len} from {seq} on");
        self.0.lock().unwrap().1 += u64::from(len > 0);
    }
}
