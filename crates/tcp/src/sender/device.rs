//! Device: the data of a connection that waits in its own host below TCP, and the small queue that bounds it, as in
//! Linux (`tcp_small_queue_check`, `tcp_wfree`, the fq qdisc).
//!
//! Without fq the card sends what it gets at once, and TCP itself waits where it paces. With fq TCP stamps bursts with
//! the times at which they may leave, hands over a few, and fq holds them back.

use std::collections::VecDeque;

use units::{Duration, Instant};

use super::Sender;
use super::buffer::BUFFER_OVERHEAD;
use super::pacing::PACING_SHIFT;

/// Most memory that the device has of one connection (`tcp_limit_output_bytes`), bytes.
const DEVICE_LIMIT: u64 = 4 << 20;
/// Time by which fq is late, since it lets timers come together (`timer_slack`).
pub(crate) const SLACK: Duration = Duration::from_micros(10);

/// Burst that the device has.
#[derive(Clone, Copy, Debug)]
struct Handed {
    at: Instant,
    leaves: Instant,
    memory: u64,
}

/// Bursts that the device has of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Device {
    bursts: VecDeque<Handed>,
    /// Whether data waits for the device (`TSQ_THROTTLED`).
    throttled: bool,
}

impl Device {
    /// Adds a burst that it gets at `at`.
    fn take(&mut self, at: Instant, leaves: Instant, memory: u64) {
        while self
            .bursts
            .front()
            .is_some_and(|first| first.at < at && first.leaves <= at)
        {
            self.bursts.pop_front();
        }
        self.bursts.push_back(Handed { at, leaves, memory });
    }

    /// Returns the memory of bursts that have not left; those of this instant are among them if `with_present`.
    fn memory(&self, now: Instant, with_present: bool) -> u64 {
        self.bursts
            .iter()
            .filter(|burst| burst.leaves > now || with_present && burst.at == now)
            .map(|burst| burst.memory)
            .sum()
    }

    /// Returns the time at which data that waits may follow.
    pub(super) fn deadline(&self) -> Instant {
        if !self.throttled {
            return Instant::NEVER;
        }
        let waits = self.bursts.iter().find(|burst| burst.leaves > burst.at);
        waits.map_or(Instant::NEVER, |first| first.leaves + SLACK)
    }

    /// Forgets what has left, since the data that waited may follow.
    pub(super) fn release(&mut self, now: Instant) {
        self.throttled = false;
        self.bursts.retain(|burst| burst.leaves > now);
    }

    /// Notes that data waits for the device.
    pub(super) fn throttle(&mut self) {
        self.throttled = true;
    }
}

impl Sender {
    /// Returns whether fq holds bursts back until they may leave, instead of TCP.
    pub(super) fn has_fair_queue(&self) -> bool {
        self.config.settings.pacing
    }

    /// Returns the time at which what TCP hands over now may leave (`tcp_wstamp_ns`).
    pub(crate) fn departure(&self, now: Instant) -> Instant {
        if self.has_fair_queue() {
            self.pacer.next().max(now)
        } else {
            now
        }
    }

    /// Notes a burst of `bytes` that the device gets and that may leave at `leaves`.
    pub(super) fn fill_device(&mut self, now: Instant, leaves: Instant, bytes: u64) {
        self.device.take(now, leaves, bytes + BUFFER_OVERHEAD);
    }

    /// Returns whether the device has so much that a burst of `bytes` has to wait (the kernel's
    /// `tcp_small_queue_check`, whose count begins at one). A card without fq sends it before anything else happens, so
    /// that only an application that is writing finds it full: the data then stays in the buffer, and counts as its
    /// memory.
    pub(super) fn device_is_full(&self, now: Instant, bytes: u64, within_write: bool) -> bool {
        let with_present = within_write && self.config.card_counts;
        if !with_present && !self.has_fair_queue() {
            return false;
        }
        let memory = self.device.memory(now, with_present);
        memory >= self.device_limit(bytes) && self.board.bursts_out() > 1
    }

    /// Returns whether the device has so much that a repetition of `bytes` has to wait: twice as much as of new data.
    pub(super) fn is_full_for_repetition(&self, now: Instant, bytes: u64) -> bool {
        self.has_fair_queue()
            && self.device.memory(now, false) >= 2 * self.device_limit(bytes)
            && self.board.bursts_out() > 1
    }

    fn device_limit(&self, bytes: u64) -> u64 {
        let paced = (self.congestion.window.pacing_rate.bits_per_second() / 8) >> PACING_SHIFT;
        paced.max(2 * (bytes + BUFFER_OVERHEAD)).min(DEVICE_LIMIT)
    }

    /// Returns whether the latest transmission of a segment has not left the host (`skb_still_in_host_queue`).
    pub(super) fn is_in_host(&self, now: Instant, ordinal: u64) -> bool {
        self.board.get(ordinal).sent_at > now
    }
}

#[cfg(test)]
mod tests;
