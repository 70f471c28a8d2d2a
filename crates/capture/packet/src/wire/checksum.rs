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
