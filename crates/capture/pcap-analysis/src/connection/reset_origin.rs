//! Reset origin: whether the host of its source address sent a RST, or a middlebox on the path.
//!
//! Packets of one host pass the same number of routers, so that a capture has them with one TTL. The RST of a middlebox
//! has another one.

/// TTLs of both sides, and the first RST.
#[derive(Default)]
pub(super) struct ResetOrigin {
    /// TTL of the last packet of each side other than a RST, and its time.
    last: [Option<(u8, u64)>; 2],
    first: Option<FirstReset>,
}

/// First RST of a connection.
#[derive(Clone, Copy)]
pub(super) struct FirstReset {
    pub(super) ttl: u8,
    /// TTL of the other packets of its side.
    pub(super) usual_ttl: Option<u8>,
    /// Time since the last packet of the other side, ns.
    pub(super) after_ns: Option<u64>,
}

impl ResetOrigin {
    pub(super) fn on_packet(&mut self, side: usize, at_ns: u64, ttl: u8, is_reset: bool) {
        if !is_reset {
            self.last[side] = Some((ttl, at_ns));
        } else if self.first.is_none() {
            let after_ns = self.last[1 - side].map(|(_, last_ns)| at_ns.saturating_sub(last_ns));
            self.first = Some(FirstReset {
                ttl,
                usual_ttl: self.last[side].map(|(ttl, _)| ttl),
                after_ns,
            });
        }
    }

    pub(super) fn first(&self) -> Option<FirstReset> {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ttl_of_a_reset_stands_beside_that_of_its_side() {
        let mut origin = ResetOrigin::default();
        origin.on_packet(0, 10, 64, false);
        origin.on_packet(1, 20, 57, false);
        origin.on_packet(0, 30, 64, false);
        origin.on_packet(1, 34, 255, true);
        origin.on_packet(1, 90, 57, true);
        let first = origin.first().unwrap();
        assert_eq!(
            (first.ttl, first.usual_ttl, first.after_ns),
            (255, Some(57), Some(4))
        );
    }
}
