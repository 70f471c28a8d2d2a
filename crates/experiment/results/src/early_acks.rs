//! Early ACKs: payload that was acknowledged to its sender before it had reached the receiver.

/// Early ACKs of a connection. Sequence numbers are 64-bit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlyAcks {
    first: Option<u64>,
    /// Sequence number after the last byte sent.
    sent_end: u64,
    /// Payload acknowledged so far, bytes.
    acked: u64,
    /// Payload that was acknowledged before it had reached the receiver, bytes.
    pub bytes: u64,
    /// Number of ACKs of all payload sent before some of it had reached the receiver.
    pub ends: u64,
}

impl EarlyAcks {
    /// Processes payload that was sent, from `seq` to before `end`.
    pub(crate) fn on_sent(&mut self, seq: u64, end: u64) {
        self.first.get_or_insert(seq);
        self.sent_end = self.sent_end.max(end);
    }

    /// Processes an ACK that reached the sender when the first `delivered` bytes had reached the receiver.
    pub(crate) fn on_ack(&mut self, number: u64, delivered: u64) {
        let Some(first) = self.first else { return };
        let covered = number.min(self.sent_end).saturating_sub(first);
        if covered <= self.acked {
            return;
        }
        let early = covered.saturating_sub(delivered.max(self.acked));
        self.bytes += early;
        self.ends += u64::from(early > 0 && number >= self.sent_end);
        self.acked = covered;
    }
}

#[cfg(test)]
mod tests {
    use super::EarlyAcks;

    #[test]
    fn bytes_ahead_of_the_receiver_count_once() {
        let mut early = EarlyAcks::default();
        early.on_ack(5, 0);
        early.on_sent(1_000, 4_000);
        early.on_ack(2_000, 1_000);
        assert_eq!((early.bytes, early.ends), (0, 0));
        early.on_ack(3_998, 1_500);
        early.on_ack(3_998, 1_500);
        assert_eq!((early.bytes, early.ends), (1_498, 0));
        // The FIN is no payload.
        early.on_ack(4_001, 2_000);
        assert_eq!((early.bytes, early.ends), (1_500, 1));
    }
}
