//! Waits for ACKs: a sender has more data, but sends them only when the ACK of its last segment comes.
//!
//! Nagle's algorithm holds them back (RFC 9293 §3.7.4) behind a short segment, or a congestion window of one segment. The
//! ACK may be delayed, or come after an RTT.
//!
//! An ACK is delayed if its host has sent data soon after it had received some, and expects to do so again (the kernel's
//! `pingpong` mode). Otherwise Linux sends it when the application has read a message.

/// Shortest time for which receivers delay ACKs, ns: less than the 40 ms of Linux, for timers that end early.
const MIN_DELAY_NS: u64 = 25_000_000;
/// Linux' timer of ACKs that wait for data, and the time after received data within which data count as their answer,
/// ns (`TCP_ATO_MIN`).
pub(super) const ATO_MIN_NS: u64 = 40_000_000;
/// Longest time between an ACK and the data that waited for it, beyond the RTT between capture and sender, ns.
const AT_ONCE_NS: u64 = 2_000_000;
/// The same for an ACK without a delay, ns: a host takes microseconds, and data sent at another time are seldom as near.
const SAME_MOMENT_NS: u64 = 200_000;
/// Longest options of a segment, bytes.
const MAX_OPTIONS: u64 = 40;

/// ACK of all data in flight.
#[derive(Clone, Copy)]
pub(super) struct LastAck {
    pub(super) at_ns: u64,
    /// RTT of the last segment, and by how much it exceeds the lowest one.
    pub(super) rtt_ns: u64,
    pub(super) delay_ns: u64,
    /// Bytes that it acknowledges.
    pub(super) bytes: u64,
}

/// Waits of one sender.
#[derive(Default)]
pub(super) struct DelayedAcks {
    /// Last ACK, if nothing has been in flight since.
    last: Option<LastAck>,
    /// Lowest delay of ACKs that wait for no data.
    least_ns: Option<u64>,
    pub(super) waits: u32,
    pub(super) total_ns: u64,
}

impl DelayedAcks {
    /// Processes an ACK of all data in flight.
    pub(super) fn on_ack(&mut self, ack: LastAck) {
        self.last = Some(ack);
    }

    /// Processes the ACK of the only segment of a message, which came `delay_ns` later than by the lowest RTT and has
    /// waited for no data of its host.
    pub(super) fn on_message(&mut self, delay_ns: u64) {
        let least_ns = self.least_ns.unwrap_or(u64::MAX);
        self.least_ns = Some(least_ns.min(delay_ns));
    }

    /// Returns the longest time for which the host may have held back the ACK of the end of a message, ns; `u64::MAX` if
    /// that is not known. `in_turns`: it may have waited for data of its host. A host that also delays
    /// ACKs that wait for no data, such as one of Windows, never sends one without.
    pub(super) fn max_held_ns(&self, in_turns: bool) -> u64 {
        let usual_ns = match self.least_ns {
            Some(least_ns) if least_ns < MIN_DELAY_NS => 0,
            Some(least_ns) => least_ns,
            None if in_turns => 0,
            None => u64::MAX,
        };
        usual_ns.max(if in_turns { ATO_MIN_NS } else { 0 })
    }

    /// Processes payload of the other side: data behind it answer it, and did not wait for an ACK.
    pub(super) fn on_request(&mut self) {
        self.last = None;
    }

    /// Processes new data; returns start and end of their wait, ns. `near_ns` is the RTT between capture and sender, `mss`
    /// the size of a full segment.
    pub(super) fn on_data(&mut self, at_ns: u64, near_ns: u64, mss: u64) -> Option<(u64, u64)> {
        let ack = self.last.take()?;
        let since_ns = at_ns.saturating_sub(ack.at_ns);
        // Data that come sooner were sent before their sender had the ACK.
        let is_answer = (since_ns + AT_ONCE_NS).checked_sub(near_ns)? <= 2 * AT_ONCE_NS;
        let is_short = ack.bytes + MAX_OPTIONS < mss;
        let is_held = near_ns <= SAME_MOMENT_NS && since_ns <= SAME_MOMENT_NS && is_short;
        let waited_ns = match ack.delay_ns {
            MIN_DELAY_NS.. if is_answer => ack.delay_ns,
            _ if is_held && ack.rtt_ns >= AT_ONCE_NS => ack.rtt_ns,
            _ => return None,
        };
        self.waits += 1;
        self.total_ns += waited_ns;
        Some((ack.at_ns.saturating_sub(waited_ns), ack.at_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const MSS: u64 = 1_448;

    fn ack(at_ms: u64, delay_ms: u64, bytes: u64) -> LastAck {
        LastAck {
            at_ns: at_ms * MS,
            rtt_ns: (20 + delay_ms) * MS,
            delay_ns: delay_ms * MS,
            bytes,
        }
    }

    #[test]
    fn data_that_follow_a_delayed_ack_at_once_waited_for_it() {
        let mut acks = DelayedAcks::default();
        acks.on_ack(ack(100, 40, MSS));
        assert_eq!(acks.on_data(101 * MS, 0, MSS), Some((60 * MS, 100 * MS)));
        assert_eq!(acks.on_data(101 * MS, 0, MSS), None);
        acks.on_ack(ack(200, 40, MSS));
        assert_eq!(acks.on_data(230 * MS, 0, MSS), None);
        acks.on_ack(ack(250, 40, MSS));
        acks.on_request();
        assert_eq!(acks.on_data(251 * MS, 0, MSS), None);
        acks.on_ack(ack(300, 3, MSS));
        assert_eq!(acks.on_data(300 * MS, 0, MSS), None);
        assert_eq!((acks.waits, acks.total_ns), (1, 40 * MS));
    }

    #[test]
    fn data_sooner_than_an_rtt_after_an_ack_did_not_wait_for_it() {
        let mut acks = DelayedAcks::default();
        acks.on_ack(ack(100, 40, MSS));
        assert_eq!(acks.on_data(120 * MS, 160 * MS, MSS), None);
        acks.on_ack(ack(300, 40, MSS));
        assert_eq!(
            acks.on_data(461 * MS, 160 * MS, MSS),
            Some((260 * MS, 300 * MS))
        );
    }

    #[test]
    fn data_that_leave_with_the_ack_of_a_short_segment_waited_an_rtt() {
        let mut acks = DelayedAcks::default();
        acks.on_ack(ack(100, 0, 900));
        assert_eq!(acks.on_data(100 * MS, 0, MSS), Some((80 * MS, 100 * MS)));
        acks.on_ack(ack(200, 0, 900));
        assert_eq!(acks.on_data(201 * MS, 0, MSS), None);
        acks.on_ack(ack(300, 0, MSS));
        assert_eq!(acks.on_data(300 * MS, 0, MSS), None);
    }

    /// A client that asks again within 40 ms may hold its ACK for that long. Other ACKs come at once, if any did.
    #[test]
    fn an_ack_is_held_for_its_timer_or_as_long_as_the_host_always_holds_it() {
        let mut acks = DelayedAcks::default();
        let held = |acks: &DelayedAcks| [false, true].map(|in_turns| acks.max_held_ns(in_turns));
        assert_eq!(held(&acks), [u64::MAX, 40 * MS], "not known yet");
        acks.on_message(55 * MS);
        assert_eq!(held(&acks), [55 * MS; 2]);
        acks.on_message(MS);
        acks.on_message(120 * MS);
        assert_eq!(held(&acks), [0, 40 * MS]);
    }
}
