//! Capture clock: times at which it was set forward.
//!
//! A pause of all packets is such a step if the TCP timestamps of both sides of a connection advance by less (RFC 7323
//! §5.4: they tick every 1 ms to 1 s). After an outage, packets from queues have old timestamps as well, but packets that
//! are sent later have new ones.

use std::collections::VecDeque;

use crate::connections::ConnectionTracker;
use crate::input::decode::Packet;

/// Minimum pause that can be a step, ns.
const MIN_PAUSE_NS: u64 = 500_000_000;
/// Time after a pause in which all timestamps must agree, ns.
const SEARCH_TIME_NS: u64 = 1_000_000_000;
/// Maximum number of packets after a pause that are examined.
const SEARCH_PACKETS: usize = 4_096;
/// Maximum number of sides of connections that are remembered while the other side is searched.
const MAX_CONNECTIONS: usize = 16;

/// Returns by how much the clock was set forward between `before_ns` and the first of the `waiting` packets; `forward_ns`
/// is the sum of the steps before.
pub(crate) fn step_ns(
    before_ns: u64,
    waiting: &VecDeque<Packet>,
    forward_ns: u64,
    tracker: &ConnectionTracker,
) -> Option<u64> {
    let begin_ns = waiting.front()?.at_ns.saturating_sub(forward_ns);
    let pause = begin_ns.saturating_sub(before_ns);
    if pause < MIN_PAUSE_NS {
        return None;
    }
    let mut step = pause;
    let mut sides = Vec::with_capacity(MAX_CONNECTIONS);
    let mut is_confirmed = false;
    for packet in waiting.iter().take(SEARCH_PACKETS) {
        let at_ns = packet.at_ns.saturating_sub(forward_ns);
        if at_ns.saturating_sub(begin_ns) > SEARCH_TIME_NS {
            break;
        }
        let Some(surplus) = tracker.surplus_ns(packet, at_ns) else {
            continue;
        };
        if surplus < pause / 4 {
            return None;
        }
        // Tick rates are known roughly, so packets near the pause give the best estimate.
        if !is_confirmed {
            step = step.min(surplus);
        }
        is_confirmed |= sides.contains(&(packet.destination, packet.source));
        if !is_confirmed && sides.len() < MAX_CONNECTIONS {
            sides.push((packet.source, packet.destination));
        }
    }
    is_confirmed.then_some(step)
}
