//! TCP small queues: limit of the bytes of a connection below TCP.
//!
//! With fq, TCP stamps bursts with their departure times and hands over a few of them, which fq holds back until then.
//! Without fq, TCP itself paces. A burst counts until the card has reported its completion.

use std::collections::VecDeque;

use units::{Bytes, Duration, Instant};

use super::Sender;
use super::buffer::BUFFER_OVERHEAD;
use super::pacing::PACING_SHIFT;
use crate::net_device::NetDevice;
use crate::segment::{IP_HEADER, TCP_HEADER, TIMESTAMPS_OPTION};

/// Maximum memory of one connection's bursts below TCP (`tcp_limit_output_bytes`), bytes.
const LIMIT_OUTPUT_BYTES: u64 = 4 << 20;
/// Headers of a data packet with timestamps, bytes.
const HEADERS: u64 = (IP_HEADER + TCP_HEADER + TIMESTAMPS_OPTION) as u64;
/// Delay of fq's timer, which coalesces with others (`timer_slack`).
pub(crate) const FQ_SLACK: Duration = Duration::from_micros(10);

/// Burst, or segment, below TCP.
#[derive(Clone, Copy, Debug)]
struct QueuedBurst {
    queued_at: Instant,
    /// Time at which the card reports its completion.
    reported_at: Instant,
    /// Memory, bytes.
    memory: u64,
}

/// Bursts of one connection below TCP.
#[derive(Clone, Debug, Default)]
pub(super) struct SmallQueue {
    /// Bursts in the order of their reports.
    bursts: VecDeque<QueuedBurst>,
    /// Memory of all of them, bytes.
    total: u64,
    /// Time from which on the card has nothing to send.
    idle_from: Instant,
    /// Whether data waits for the device (`TSQ_THROTTLED`).
    is_throttled: bool,
}

impl SmallQueue {
    /// Adds a burst, and drops those reported at earlier instants.
    fn push(&mut self, queued_at: Instant, reported_at: Instant, memory: u64) {
        while let Some(first) = self.bursts.front()
            && first.queued_at < queued_at
            && first.reported_at <= queued_at
        {
            self.total -= first.memory;
            self.bursts.pop_front();
        }
        debug_assert!(
            self.bursts
                .back()
                .is_none_or(|last| last.reported_at <= reported_at),
            "the card reports one burst after the other"
        );
        self.total += memory;
        self.bursts.push_back(QueuedBurst {
            queued_at,
            reported_at,
            memory,
        });
    }

    /// Returns the memory of the bursts that are not reported, bytes; `with_current` adds those queued and reported now.
    fn memory(&self, now: Instant, with_current: bool) -> u64 {
        let reported = self
            .bursts
            .iter()
            .take_while(|burst| burst.reported_at <= now);
        let gone = reported.filter(|burst| !(with_current && burst.queued_at == now));
        self.total - gone.map(|burst| burst.memory).sum::<u64>()
    }

    /// Returns whether [`Self::memory`] is at least `limit`.
    fn reaches(&self, limit: u64, now: Instant, with_current: bool) -> bool {
        self.total >= limit && self.memory(now, with_current) >= limit
    }

    /// Returns the time of the next report, if data waits for it.
    fn next_report(&self) -> Instant {
        if !self.is_throttled {
            return Instant::NEVER;
        }
        let awaited = self
            .bursts
            .iter()
            .find(|burst| burst.reported_at > burst.queued_at);
        awaited.map_or(Instant::NEVER, |first| first.reported_at)
    }

    /// Drops the bursts that are reported; data no longer waits.
    pub(super) fn release(&mut self, now: Instant) {
        self.is_throttled = false;
        while let Some(first) = self.bursts.front()
            && first.reported_at <= now
        {
            self.total -= first.memory;
            self.bursts.pop_front();
        }
    }

    /// Notes that data waits for the device.
    pub(super) fn throttle(&mut self) {
        self.is_throttled = true;
    }
}

impl Sender {
    /// Returns whether fq holds bursts back until they may leave, instead of TCP.
    pub(super) fn has_fair_queue(&self) -> bool {
        self.config.settings.pacing
    }

    /// Returns the departure time of a burst that TCP hands over now (`tcp_wstamp_ns`).
    pub(crate) fn departure(&self, now: Instant) -> Instant {
        if self.has_fair_queue() {
            self.pacer.next.max(now)
        } else {
            now
        }
    }

    /// Returns the time at which data that waits for the device may follow.
    pub(super) fn device_deadline(&self) -> Instant {
        let reports = self.small_queue.next_report();
        if self.has_fair_queue() && reports != Instant::NEVER {
            reports + FQ_SLACK
        } else {
            reports
        }
    }

    /// Notes a burst of `bytes` that TCP hands over. A card that reports gets segments, each in an skb of its own, as a
    /// device without segmentation offload does (`tcp_gso_segment`).
    pub(super) fn tsq_enqueue(&mut self, now: Instant, departure: Instant, bytes: u64) {
        let NetDevice::Reporting { rate, delay } = self.config.net_device else {
            self.small_queue
                .push(now, departure, bytes + BUFFER_OVERHEAD);
            return;
        };
        let mut bytes_left = bytes;
        while bytes_left > 0 {
            let len = bytes_left.min(self.config.mss.into());
            bytes_left -= len;
            self.small_queue.idle_from = self.small_queue.idle_from.max(departure)
                + rate.time_to_send(Bytes::new(len + HEADERS));
            let reported = self.small_queue.idle_from + delay;
            self.small_queue.push(now, reported, len + BUFFER_OVERHEAD);
        }
    }

    /// Returns whether bursts stay below TCP: with fq until their departure, on a reporting device until the report.
    pub(super) fn device_holds(&self) -> bool {
        self.has_fair_queue() || matches!(self.config.net_device, NetDevice::Reporting { .. })
    }

    /// Returns whether a burst of `bytes` has to wait for the device (the kernel's `tcp_small_queue_check`, whose count
    /// begins at one). An immediate device without fq has sent its data before the next event, so that only a write finds
    /// it full.
    pub(super) fn small_queue_check(&self, now: Instant, bytes: u64, within_write: bool) -> bool {
        let with_current = within_write && self.config.net_device == NetDevice::Immediate;
        if !with_current && !self.device_holds() {
            return false;
        }
        let limit = self.device_limit(bytes);
        self.small_queue.reaches(limit, now, with_current) && self.board.bursts_out > 1
    }

    /// Returns whether a retransmission of `bytes` has to wait for the device; its limit is twice that of new data.
    pub(super) fn rexmit_queue_check(&self, now: Instant, bytes: u64) -> bool {
        self.device_holds()
            && self
                .small_queue
                .reaches(2 * self.device_limit(bytes), now, false)
            && self.board.bursts_out > 1
    }

    /// Returns the limit for a burst of `bytes`: about a millisecond at the pacing rate, at least two bursts.
    fn device_limit(&self, bytes: u64) -> u64 {
        let paced = (self.congestion.window.pacing_rate.bits_per_second() / 8) >> PACING_SHIFT;
        paced
            .max(2 * (bytes + BUFFER_OVERHEAD))
            .min(LIMIT_OUTPUT_BYTES)
    }

    /// Returns whether the latest transmission of a segment has not left the host (`skb_still_in_host_queue`).
    pub(super) fn still_in_host_queue(&self, now: Instant, ordinal: u64) -> bool {
        self.board.get(ordinal).tx.sent_at > now
    }
}

#[cfg(test)]
mod tests;
