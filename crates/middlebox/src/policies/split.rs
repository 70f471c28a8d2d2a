//! Split TCP as such (I-TCP): data is acknowledged as soon as the split host has it.

use tcp::Connection;
use units::Instant;

use super::Policy;

/// Policy that acknowledges like any receiver.
pub(crate) struct Split;

impl Policy for Split {
    fn reserve(&self) -> u64 {
        0
    }

    fn on_confirmed(&mut self, now: Instant, inbound: &mut Connection, _: bool) {
        if inbound.window_opens() {
            inbound.acknowledge(now);
        }
    }
}
