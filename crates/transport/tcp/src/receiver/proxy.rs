//! Proxy: acknowledgements and window of a receiver that forwards its data to another host.

use super::Receiver;

/// Limits of the ACKs and of the window of a proxy's receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proxy {
    /// Bytes at the end of the data that stay unacknowledged until they are confirmed.
    unacked_tail: u64,
    /// Sequence number below which the other host has confirmed the data.
    confirmed: u64,
    /// Lowest number that an ACK may have: the highest one that was acknowledged or released so far.
    min_ack: u64,
    /// Sequence number below which the proxy has room for data.
    window_limit: u64,
    /// Whether no window is offered.
    is_frozen: bool,
}

impl Receiver {
    /// Leaves `bytes` at the end of the data out of ACKs.
    pub(crate) fn set_unacked_tail(&mut self, bytes: u64) {
        match &mut self.proxy {
            Some(proxy) => proxy.unacked_tail = bytes,
            None => {
                self.proxy = Some(Proxy {
                    unacked_tail: bytes,
                    confirmed: self.first,
                    min_ack: self.first,
                    window_limit: u64::MAX,
                    is_frozen: false,
                });
            }
        }
    }

    /// Leaves room for another option in ACKs: they have one SACK block less.
    pub(crate) fn reserve_option_space(&mut self) {
        self.max_sack_blocks -= 1;
    }

    /// Notes that the other host has the first `bytes` of payload.
    pub(crate) fn confirm(&mut self, bytes: u64) {
        let number = self.first + bytes;
        if let Some(proxy) = &mut self.proxy {
            proxy.confirmed = proxy.confirmed.max(number);
        }
    }

    pub(crate) fn release(&mut self, bytes: u64) {
        let number = self.ack_number().saturating_add(bytes).min(self.rcv_nxt);
        if let Some(proxy) = &mut self.proxy {
            proxy.min_ack = proxy.min_ack.max(number);
        }
    }

    pub(crate) fn set_frozen(&mut self, is_frozen: bool) {
        if let Some(proxy) = &mut self.proxy {
            proxy.is_frozen = is_frozen;
        }
    }

    /// Returns the number of an ACK that leaves now. The FIN counts once all data is confirmed.
    pub(crate) fn ack_number(&self) -> u64 {
        let Some(proxy) = &self.proxy else {
            return self.rcv_nxt;
        };
        let data_end = self.first + self.delivered();
        if proxy.confirmed >= data_end || proxy.unacked_tail == 0 {
            return self.rcv_nxt;
        }
        let tail_start = data_end.saturating_sub(proxy.unacked_tail);
        tail_start.max(proxy.min_ack).max(proxy.confirmed)
    }

    /// Notes the number of an ACK that leaves.
    pub(super) fn note_acknowledged(&mut self, number: u64) {
        if let Some(proxy) = &mut self.proxy {
            proxy.min_ack = proxy.min_ack.max(number);
        }
    }

    /// Removes and returns the range to be reported as a duplicate by an ACK with `number`, up to that number. Beyond it,
    /// the report would be a SACK of unacknowledged data.
    pub(super) fn take_duplicate_sack(&mut self, number: u64) -> Option<(u64, u64)> {
        let (from, to) = self.duplicate_sack.take()?;
        if number >= self.rcv_nxt || from >= self.rcv_nxt {
            return Some((from, to));
        }
        Some((from, to.min(number))).filter(|(from, to)| from < to)
    }

    /// Returns the window field of a proxy's segment that leaves now.
    #[cold]
    pub(super) fn proxy_window_field(&mut self, rmem_alloc: u64) -> u16 {
        if self.proxy.is_some_and(|proxy| proxy.is_frozen) {
            self.window.close(self.rcv_nxt);
            return 0;
        }
        let field = self.window.window_field(self.rcv_nxt, rmem_alloc);
        match self.unacked_in_window() {
            0 => field,
            unacked => self.window.extend_field(field, unacked),
        }
    }

    /// Returns the unacknowledged bytes that the window field includes: all, if ACKs cover only confirmed data.
    fn unacked_in_window(&self) -> u64 {
        match &self.proxy {
            Some(proxy) if proxy.unacked_tail == u64::MAX => self.rcv_nxt - self.ack_number(),
            _ => 0,
        }
    }

    pub(crate) fn withheld(&self) -> u64 {
        self.rcv_nxt - self.proxy.map_or(self.rcv_wup, |proxy| proxy.min_ack)
    }

    pub(crate) fn could_acknowledge_more(&self) -> bool {
        let acked = self.proxy.map_or(self.rcv_wup, |proxy| proxy.min_ack);
        self.ack_number() > acked
    }

    /// Returns whether nothing that has arrived in order may be acknowledged yet.
    pub(super) fn withholds_all(&self) -> bool {
        self.proxy
            .is_some_and(|proxy| proxy.unacked_tail > 0 && self.ack_number() <= proxy.min_ack)
    }

    pub(crate) fn set_window_limit(&mut self, offset: u64) {
        let end = self.first.saturating_add(offset);
        if let Some(proxy) = &mut self.proxy {
            proxy.window_limit = end;
        }
        self.update_room();
    }

    /// Bounds the window to the room that the proxy has beyond the data in order.
    pub(super) fn update_room(&mut self) {
        if let Some(proxy) = &self.proxy {
            let room = proxy.window_limit.saturating_sub(self.rcv_nxt);
            self.window.set_room(room);
        }
    }

    pub(crate) fn window_update_due(&self) -> bool {
        !self.fin_received() && self.window.could_double(self.rcv_nxt, self.rmem_alloc())
    }

    pub(crate) fn window_grew(&self) -> bool {
        !self.fin_received() && self.window.could_grow(self.rcv_nxt, self.rmem_alloc())
    }

    pub(crate) fn offered_window(&self) -> u64 {
        self.window.receive_window(self.rcv_nxt)
    }
}
