//! Clock: times at which the capturing clock was set forward.
//!
//! A pause of all packets is such a step if the timestamps of both sides of a connection say that less time has passed
//! (RFC 7323 §5.4: they tick every 1 ms to 1 s). After an outage, what had waited in a queue has old timestamps as
//! well, but what is sent after it has new ones.

use std::collections::VecDeque;

use crate::connections::Tracker;
use crate::input::decode::Packet;

/// Least pause that can be a step, ns.
const PAUSE_NS: u64 = 500_000_000;
/// Time after a pause in which every timestamp must say the same, ns.
const SEARCHED_NS: u64 = 1_000_000_000;
/// Packets after a pause that are looked at.
const SEARCHED: usize = 4_096;
/// Connections of which both sides are looked for.
const CONNECTIONS: usize = 16;

/// Returns by how much the clock was set forward between `before_ns` and the first of the packets that wait.
pub(crate) fn step_ns(
    before_ns: u64,
    waiting: &VecDeque<Packet>,
    forward_ns: u64,
    tracker: &Tracker,
) -> Option<u64> {
    let begin_ns = waiting.front()?.at_ns.saturating_sub(forward_ns);
    let pause = begin_ns.saturating_sub(before_ns);
    if pause < PAUSE_NS {
        return None;
    }
    let mut step = pause;
    let mut sides = Vec::with_capacity(CONNECTIONS);
    let mut is_shown = false;
    for packet in waiting.iter().take(SEARCHED) {
        let at_ns = packet.at_ns.saturating_sub(forward_ns);
        if at_ns.saturating_sub(begin_ns) > SEARCHED_NS {
            break;
        }
        let Some(surplus) = tracker.surplus_ns(packet, at_ns) else {
            continue;
        };
        if surplus < pause / 4 {
            return None;
        }
        // Rates are known roughly, so what is near the pause tells its length.
        if !is_shown {
            step = step.min(surplus);
        }
        is_shown |= sides.contains(&(packet.destination, packet.source));
        if !is_shown && sides.len() < CONNECTIONS {
            sides.push((packet.source, packet.destination));
        }
    }
    is_shown.then_some(step)
}
