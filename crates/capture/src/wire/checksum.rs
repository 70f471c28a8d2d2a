//! Internet checksum (RFC 1071).

/// Sum of 16-bit words, not yet folded.
#[derive(Clone, Copy, Default)]
pub(super) struct Sum(u64);

impl Sum {
    /// Adds `bytes`, padded with a zero to whole words.
    pub(super) fn add(mut self, bytes: &[u8]) -> Self {
        let words = bytes.chunks_exact(2);
        if let [last] = *words.remainder() {
            self.0 += u64::from(last) << 8;
        }
        self.0 += words
            .map(|word| u64::from(u16::from_be_bytes([word[0], word[1]])))
            .sum::<u64>();
        self
    }

    /// Returns the sum of the pseudo-header of a TCP segment of `len` bytes (RFC 9293 §3.1).
    pub(super) fn pseudo_header(addresses: &[u8], len: u16) -> Self {
        Self(u64::from(PROTOCOL_TCP) + u64::from(len)).add(addresses)
    }

    /// Folds the sum to the checksum.
    pub(super) fn checksum(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }
}

/// Protocol number of TCP in the IP header.
pub(super) const PROTOCOL_TCP: u8 = 6;

/// Returns true if the checksums of the IP and the TCP header are right. The packet must be whole, not cut.
pub fn checksums_hold(packet: &[u8]) -> bool {
    let Some(&first) = packet.first() else {
        return false;
    };
    let header_len = usize::from(first & 0x0f) * 4;
    let Some((header, segment)) = packet.split_at_checked(header_len) else {
        return false;
    };
    if header_len < 20 {
        return false;
    }
    let len = u16::from_be_bytes([header[2], header[3]]);
    let whole = usize::from(len) == packet.len();
    let tcp = Sum::pseudo_header(&header[12..20], segment.len() as u16).add(segment);
    whole && Sum::default().add(header).checksum() == 0 && tcp.checksum() == 0
}
