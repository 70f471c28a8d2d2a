//! ES-TCP: the last bytes are acknowledged only after the far end has confirmed everything (Kim 2016, section 5.4).
//!
//! Both hosts run unmodified TCP. The split host leaves K bytes at the end of the data unacknowledged. All but one
//! of them are acknowledged to freeze the sender, or to let it go on. The last one is acknowledged when the far end has confirmed
//! all data and nothing is pending.

use tcp::{Connection, Segment};
use units::{Duration, Instant};

use super::Policy;

/// State of the sender that this policy controls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sender {
    /// It has a window.
    Free,
    /// It has no window, because it was about to retransmit reserved bytes.
    Frozen,
}

/// Policy of ES-TCP.
pub(crate) struct EsTcp {
    reserve: u64,
    freeze_after: Duration,
    sender: Sender,
    /// Payload of the sender's largest segment, bytes.
    mss: u64,
    /// Time at which the sender is frozen: before its estimated RTO expires.
    freeze_at: Instant,
}

impl EsTcp {
    pub(crate) fn new(reserve: u64, freeze_after: Duration) -> Self {
        Self {
            reserve,
            freeze_after,
            sender: Sender::Free,
            mss: 1,
            freeze_at: Instant::NEVER,
        }
    }

    /// Lets the next ACK freeze the sender: it covers one reserved byte more and offers no window.
    fn freeze(&mut self, inbound: &mut Connection) {
        self.freeze_at = Instant::NEVER;
        self.sender = Sender::Frozen;
        inbound.set_frozen(true);
        if inbound.withheld() > 1 {
            inbound.release(1);
        }
    }

    /// Returns whether the window allows a full segment. If not, the sender has stopped already, and a window update will
    /// start it.
    fn has_window(&self, inbound: &Connection) -> bool {
        inbound.offered_window() >= self.mss
    }

    fn thaw(&mut self, inbound: &mut Connection) {
        self.sender = Sender::Free;
        inbound.set_frozen(false);
    }
}

impl Policy for EsTcp {
    fn reserve(&self) -> u64 {
        self.reserve
    }

    fn before_data(&mut self, inbound: &mut Connection, segment: &Segment) {
        self.mss = self.mss.max(u64::from(segment.len));
        if inbound.repeats(segment) {
            // The sender's RTO was shorter than estimated: the ACK of the retransmission freezes it.
            if self.has_window(inbound) {
                self.freeze(inbound);
            }
        } else if self.sender == Sender::Frozen {
            self.thaw(inbound);
        }
    }

    fn on_data(&mut self, now: Instant, inbound: &mut Connection, _: Duration) {
        let waits = inbound.withheld() > 0 && self.has_window(inbound);
        self.freeze_at = if waits {
            now + self.freeze_after
        } else {
            Instant::NEVER
        };
    }

    fn on_confirmed(&mut self, now: Instant, inbound: &mut Connection, all_confirmed: bool) {
        if all_confirmed {
            self.thaw(inbound);
            self.freeze_at = Instant::NEVER;
            inbound.acknowledge(now);
        } else if self.sender == Sender::Free && inbound.window_update_due() {
            if inbound.withheld() > 1 {
                inbound.release(1);
            }
            inbound.acknowledge(now);
        }
    }

    fn deadline(&self) -> Instant {
        self.freeze_at
    }

    fn on_deadline(&mut self, now: Instant, inbound: &mut Connection) {
        self.freeze(inbound);
        inbound.acknowledge(now);
    }
}
