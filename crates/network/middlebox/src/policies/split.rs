//! Plain split TCP (I-TCP): data is acknowledged as soon as the split host has it.

use tcp::Connection;
use units::Instant;

use super::Policy;

/// Policy that acknowledges like any receiver.
pub(crate) struct Split;

impl Policy for Split {
    fn reserve(&self) -> u64 {
        0
    }

    fn on_confirmed(&mut self, now: Instant, inbound: &mut Connection, all_confirmed: bool) {
        // A buffer that is empty again is offered at once: otherwise a sender with a large window would stop and go.
        if inbound.window_update_due() || all_confirmed && inbound.window_grew() {
            inbound.acknowledge(now);
        }
    }
}
