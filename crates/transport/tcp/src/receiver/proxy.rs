//! Proxy: acknowledgements and window of a receiver that forwards its data to another host.

use super::Receiver;

/// Limit of the acknowledgements of a proxy's receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proxy {
    /// Bytes at the end of the data that stay unacknowledged until they are confirmed.
    unacked_tail: u64,
    /// Sequence number below which the other host has confirmed the data.
    confirmed: u64,
    /// Highest number acknowledged so far, or released by request.
    floor: u64,
    /// Sequence number below which there is room for data.
    room_end: u64,
    /// Whether no window is offered.
    frozen: bool,
}

impl Receiver {
    /// Keeps `reserve` bytes at the end of the data back from ACKs.
    pub(crate) fn relay(&mut self, reserve: u64) {
        match &mut self.relay {
            Some(relay) => relay.unacked_tail = reserve,
            None => {
                self.relay = Some(Proxy {
                    unacked_tail: reserve,
                    confirmed: self.first,
                    floor: self.first,
                    room_end: u64::MAX,
                    frozen: false,
                });
            }
        }
    }

    /// Leaves room for another option in ACKs: one SACK block less fits.
    pub(crate) fn reserve_option_space(&mut self) {
        self.block_room -= 1;
    }

    /// Notes that the other host has the first `bytes` of payload.
    pub(crate) fn confirm(&mut self, bytes: u64) {
        let number = self.first + bytes;
        if let Some(relay) = &mut self.relay {
            relay.confirmed = relay.confirmed.max(number);
        }
    }

    /// Lets ACKs cover `bytes` more of the unacknowledged tail.
    pub(crate) fn release(&mut self, bytes: u64) {
        let number = self.ack_number().saturating_add(bytes).min(self.rcv_nxt);
        if let Some(relay) = &mut self.relay {
            relay.floor = relay.floor.max(number);
        }
    }

    /// Offers no window, or a window again.
    pub(crate) fn freeze(&mut self, frozen: bool) {
        if let Some(relay) = &mut self.relay {
            relay.frozen = frozen;
        }
    }

    /// Returns whether no window is offered by request.
    fn is_frozen(&self) -> bool {
        self.relay.is_some_and(|relay| relay.frozen)
    }

    /// Returns the number of an ACK that leaves now. The FIN counts once all data is confirmed.
    pub(crate) fn ack_number(&self) -> u64 {
        let Some(relay) = &self.relay else {
            return self.rcv_nxt;
        };
        let data_end = self.first + self.delivered();
        if relay.confirmed >= data_end || relay.unacked_tail == 0 {
            return self.rcv_nxt;
        }
        let open = data_end.saturating_sub(relay.unacked_tail);
        open.max(relay.floor).max(relay.confirmed)
    }

    /// Notes the number of an ACK that leaves.
    pub(super) fn note_acknowledged(&mut self, number: u64) {
        if let Some(relay) = &mut self.relay {
            relay.floor = relay.floor.max(number);
        }
    }

    /// Removes and returns the range to be reported as a duplicate by an ACK with `number`. Beyond it, the report would
    /// be a SACK of data that is kept back.
    pub(super) fn take_duplicate(&mut self, number: u64) -> Option<(u64, u64)> {
        let (from, to) = self.duplicate.take()?;
        if number >= self.rcv_nxt || from >= self.rcv_nxt {
            return Some((from, to));
        }
        Some((from, to.min(number))).filter(|(from, to)| from < to)
    }

    /// Returns the window field of a segment that leaves now, while waiting data takes `held` bytes of memory.
    #[cold]
    pub(super) fn relayed_window_field(&mut self, held: u64) -> u16 {
        if self.is_frozen() {
            self.window.close(self.rcv_nxt);
            return 0;
        }
        let field = self.window.field(self.rcv_nxt, held);
        match self.kept_in_window() {
            0 => field,
            kept => self.window.extended(field, kept),
        }
    }

    /// Returns the bytes by which the window field counts from an earlier number than the next expected one.
    fn kept_in_window(&self) -> u64 {
        match &self.relay {
            Some(relay) if relay.unacked_tail == u64::MAX => self.rcv_nxt - self.ack_number(),
            _ => 0,
        }
    }

    /// Returns the bytes in order, the FIN included, that ACKs have not covered.
    pub(crate) fn withheld(&self) -> u64 {
        self.rcv_nxt - self.relay.map_or(self.acked, |relay| relay.floor)
    }

    /// Returns whether the number of an ACK that left now would be higher than all before.
    pub(crate) fn has_ack_news(&self) -> bool {
        let acked = self.relay.map_or(self.acked, |relay| relay.floor);
        self.ack_number() > acked
    }

    /// Returns whether nothing that has arrived in order may be acknowledged yet.
    pub(super) fn keeps_all_back(&self) -> bool {
        self.relay
            .is_some_and(|relay| relay.unacked_tail > 0 && self.ack_number() <= relay.floor)
    }

    /// Bounds the offered window to the first `bytes` of the payload.
    pub(crate) fn set_room(&mut self, bytes: u64) {
        let end = self.first.saturating_add(bytes);
        if let Some(relay) = &mut self.relay {
            relay.room_end = end;
        }
        self.use_room();
    }

    /// Passes the room behind the data in order on to the window.
    pub(super) fn use_room(&mut self) {
        if let Some(relay) = &self.relay {
            let room = relay.room_end.saturating_sub(self.rcv_nxt);
            self.window.set_room(room);
        }
    }

    /// Returns whether the window that could be offered is so much larger than the offered one that the sender should
    /// hear of it.
    pub(crate) fn opens(&self) -> bool {
        !self.fin_received() && self.window.doubles(self.rcv_nxt, self.held())
    }

    /// Returns whether the window that could be offered is larger than the offered one by two segments or more.
    pub(crate) fn grows(&self) -> bool {
        !self.fin_received() && self.window.grows(self.rcv_nxt, self.held())
    }

    /// Returns the window that is offered from the next expected number on.
    pub(crate) fn offered(&self) -> u64 {
        self.window.receive_window(self.rcv_nxt)
    }
}
