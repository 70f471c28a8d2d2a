//! Early acknowledgements: payload that was acknowledged to its sender before it had reached the receiver.

/// Bytes acknowledged to the sender before delivery. Sequence numbers are 64-bit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlyAcks {
    first: Option<u64>,
    /// Number after the last byte sent.
    sent: u64,
    /// Payload acknowledged so far, bytes.
    acked: u64,
    /// Payload that was acknowledged before it had reached the receiver, bytes.
    pub bytes: u64,
    /// Times that all payload sent was acknowledged and some of it had not reached the receiver.
    pub ends: u64,
}

impl EarlyAcks {
    /// Notes payload that the sender has sent, from `seq` to before `end`.
    pub(crate) fn sent(&mut self, seq: u64, end: u64) {
        self.first.get_or_insert(seq);
        self.sent = self.sent.max(end);
    }

    /// Notes an acknowledgement that has arrived at the sender, when the first `delivered` bytes had reached the
    /// receiver.
    pub(crate) fn acknowledged(&mut self, number: u64, delivered: u64) {
        let Some(first) = self.first else { return };
        let covered = number.min(self.sent).saturating_sub(first);
        if covered <= self.acked {
            return;
        }
        let early = covered.saturating_sub(delivered.max(self.acked));
        self.bytes += early;
        self.ends += u64::from(early > 0 && number >= self.sent);
        self.acked = covered;
    }
}

#[cfg(test)]
mod tests {
    use super::EarlyAcks;

    #[test]
    fn bytes_ahead_of_the_receiver_count_once() {
        let mut early = EarlyAcks::default();
        early.acknowledged(5, 0);
        early.sent(1_000, 4_000);
        early.acknowledged(2_000, 1_000);
        assert_eq!((early.bytes, early.ends), (0, 0));
        early.acknowledged(3_998, 1_500);
        early.acknowledged(3_998, 1_500);
        assert_eq!((early.bytes, early.ends), (1_498, 0));
        // The FIN is no payload.
        early.acknowledged(4_001, 2_000);
        assert_eq!((early.bytes, early.ends), (1_500, 1));
    }
}
