//! Waits for delayed ACKs: a sender has more data, but sends them only when the ACK of its last short segment comes.
//!
//! Nagle's algorithm holds them back (RFC 9293 §3.7.4), or a congestion window of one segment.

/// Shortest time for which receivers delay ACKs, ns: less than the 40 ms of Linux, for timers that end early.
const MIN_DELAY_NS: u64 = 25_000_000;
/// Longest time between an ACK and the data that waited for it, beyond the RTT between capture and sender, ns.
const AT_ONCE_NS: u64 = 2_000_000;

/// Waits of one sender.
#[derive(Default)]
pub(super) struct DelayedAcks {
    /// Time and delay of the last ACK, ns, if it was delayed and nothing has been in flight since.
    last: Option<(u64, u64)>,
    pub(super) waits: u32,
    pub(super) total_ns: u64,
}

impl DelayedAcks {
    /// Processes an ACK of all data in flight, which came `delay_ns` later than the RTT.
    pub(super) fn on_ack(&mut self, at_ns: u64, delay_ns: u64) {
        self.last = (delay_ns >= MIN_DELAY_NS).then_some((at_ns, delay_ns));
    }

    /// Processes payload of the other side: data behind it answer it, and did not wait for an ACK.
    pub(super) fn on_request(&mut self) {
        self.last = None;
    }

    /// Processes new data; returns start and end of their wait, ns. `near_ns` is the RTT between capture and sender.
    pub(super) fn on_data(&mut self, at_ns: u64, near_ns: u64) -> Option<(u64, u64)> {
        let (acked_ns, delay_ns) = self.last.take()?;
        if at_ns.saturating_sub(acked_ns) > near_ns.saturating_add(AT_ONCE_NS) {
            return None;
        }
        self.waits += 1;
        self.total_ns += delay_ns;
        Some((acked_ns.saturating_sub(delay_ns), acked_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn data_that_follow_a_delayed_ack_at_once_waited_for_it() {
        let mut acks = DelayedAcks::default();
        acks.on_ack(100 * MS, 40 * MS);
        assert_eq!(acks.on_data(101 * MS, 0), Some((60 * MS, 100 * MS)));
        assert_eq!(acks.on_data(101 * MS, 0), None);
        acks.on_ack(200 * MS, 40 * MS);
        assert_eq!(acks.on_data(230 * MS, 0), None);
        acks.on_ack(250 * MS, 40 * MS);
        acks.on_request();
        assert_eq!(acks.on_data(251 * MS, 0), None);
        acks.on_ack(300 * MS, 3 * MS);
        assert_eq!(acks.on_data(300 * MS, 0), None);
        assert_eq!((acks.waits, acks.total_ns), (1, 40 * MS));
    }
}
