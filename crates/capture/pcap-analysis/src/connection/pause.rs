//! Pause: the longest time without any packet, and the answers to the packet after it.

/// Longest pause of a connection.
#[derive(Default)]
pub(super) struct Pause {
    pub(super) longest_ns: u64,
    /// Side that sent the first packet after it.
    first_side: usize,
    /// Packets of the other side since.
    pub(super) answers: u64,
}

impl Pause {
    /// Processes a packet of a side, `pause_ns` after the previous packet.
    pub(super) fn on_packet(&mut self, side: usize, pause_ns: u64, is_reset: bool) {
        if pause_ns > self.longest_ns {
            *self = Self {
                longest_ns: pause_ns,
                first_side: side,
                answers: 0,
            };
        } else if side != self.first_side && !is_reset {
            self.answers += 1;
        }
    }
}
