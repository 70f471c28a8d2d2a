//! TCP small queues: bytes of a connection below TCP.
//!
//! Without fq the card sends what it gets as fast as it can, and TCP itself waits where it paces. With fq TCP stamps
//! bursts with the times at which they may leave, hands over a few, and fq holds them back. A burst counts until the card
//! has reported that it is sent.

use std::collections::VecDeque;

use units::{Bytes, Duration, Instant};

use super::Sender;
use super::buffer::BUFFER_OVERHEAD;
use super::pacing::PACING_SHIFT;
use crate::net_device::NetDevice;
use crate::segment::{IP_HEADER, TCP_HEADER, TIMESTAMPS_OPTION};

/// Maximum memory that the device has of one connection (`tcp_limit_output_bytes`), bytes.
const DEVICE_LIMIT: u64 = 4 << 20;
/// Headers of a data packet with timestamps, bytes.
const HEADERS: u64 = (IP_HEADER + TCP_HEADER + TIMESTAMPS_OPTION) as u64;
/// Time by which fq is late, since it lets timers come together (`timer_slack`).
pub(crate) const SLACK: Duration = Duration::from_micros(10);

/// Burst, or segment, that the device has.
#[derive(Clone, Copy, Debug)]
struct QueuedBurst {
    at: Instant,
    /// Time at which the card reports that it is sent.
    reported: Instant,
    memory: u64,
}

/// Bursts that the device has of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct SmallQueue {
    /// In the order of their reports.
    bursts: VecDeque<QueuedBurst>,
    /// Memory of all of them.
    total: u64,
    /// Time from which the card has nothing to send.
    free: Instant,
    /// Whether data waits for the device (`TSQ_THROTTLED`).
    throttled: bool,
}

impl SmallQueue {
    /// Adds a burst that it gets at `at`.
    fn take(&mut self, at: Instant, reported: Instant, memory: u64) {
        while let Some(first) = self.bursts.front()
            && first.at < at
            && first.reported <= at
        {
            self.total -= first.memory;
            self.bursts.pop_front();
        }
        debug_assert!(
            self.bursts
                .back()
                .is_none_or(|last| last.reported <= reported),
            "the card reports one burst after the other"
        );
        self.total += memory;
        self.bursts.push_back(QueuedBurst {
            at,
            reported,
            memory,
        });
    }

    /// Returns the memory of bursts that are not reported; those of this instant are among them if `with_present`.
    fn memory(&self, now: Instant, with_present: bool) -> u64 {
        let reported = self.bursts.iter().take_while(|burst| burst.reported <= now);
        let gone = reported.filter(|burst| !(with_present && burst.at == now));
        self.total - gone.map(|burst| burst.memory).sum::<u64>()
    }

    /// Returns whether that memory is at least `limit`, which is mostly far away.
    fn has(&self, limit: u64, now: Instant, with_present: bool) -> bool {
        self.total >= limit && self.memory(now, with_present) >= limit
    }

    /// Returns the time at which the first burst is reported, if data waits for that.
    fn reports(&self) -> Instant {
        if !self.throttled {
            return Instant::NEVER;
        }
        let waits = self.bursts.iter().find(|burst| burst.reported > burst.at);
        waits.map_or(Instant::NEVER, |first| first.reported)
    }

    /// Forgets what is reported, since the data that waited may follow.
    pub(super) fn release(&mut self, now: Instant) {
        self.throttled = false;
        while let Some(first) = self.bursts.front()
            && first.reported <= now
        {
            self.total -= first.memory;
            self.bursts.pop_front();
        }
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
            self.pacer.next.max(now)
        } else {
            now
        }
    }

    /// Returns the time at which data that waits for the device may follow.
    pub(super) fn device_deadline(&self) -> Instant {
        let reports = self.device.reports();
        if self.has_fair_queue() && reports != Instant::NEVER {
            reports + SLACK
        } else {
            reports
        }
    }

    /// Notes a burst of `bytes` that the device gets and that may leave at `leaves`. A card that reports has the burst in
    /// segments, each in a buffer of its own, as a device without segmentation offload has (`tcp_gso_segment`).
    pub(super) fn tsq_enqueue(&mut self, now: Instant, leaves: Instant, bytes: u64) {
        let NetDevice::Reporting { rate, delay } = self.config.net_device else {
            self.device.take(now, leaves, bytes + BUFFER_OVERHEAD);
            return;
        };
        let mut rest = bytes;
        while rest > 0 {
            let len = rest.min(self.config.mss.into());
            rest -= len;
            self.device.free =
                self.device.free.max(leaves) + rate.time_to_send(Bytes::new(len + HEADERS));
            let reported = self.device.free + delay;
            self.device.take(now, reported, len + BUFFER_OVERHEAD);
        }
    }

    /// Returns whether the device holds data: fq until its departure time, a reporting device until its report.
    pub(super) fn device_holds(&self) -> bool {
        self.has_fair_queue() || matches!(self.config.net_device, NetDevice::Reporting { .. })
    }

    /// Returns whether a burst of `bytes` has to wait for the device (the kernel's
    /// `tcp_small_queue_check`, whose count begins at one). An immediate device without fq has sent its data before the
    /// next event. So only a write finds it full; the data then stays in the send buffer and counts as its memory.
    pub(super) fn small_queue_check(&self, now: Instant, bytes: u64, within_write: bool) -> bool {
        let with_present = within_write && self.config.net_device == NetDevice::Immediate;
        if !with_present && !self.device_holds() {
            return false;
        }
        let limit = self.device_limit(bytes);
        self.device.has(limit, now, with_present) && self.board.bursts_out() > 1
    }

    /// Returns whether a retransmission of `bytes` has to wait for the device, at twice the limit of new data.
    pub(super) fn is_full_for_retransmission(&self, now: Instant, bytes: u64) -> bool {
        self.device_holds()
            && self.device.has(2 * self.device_limit(bytes), now, false)
            && self.board.bursts_out() > 1
    }

    fn device_limit(&self, bytes: u64) -> u64 {
        let paced = (self.congestion.window.pacing_rate.bits_per_second() / 8) >> PACING_SHIFT;
        paced.max(2 * (bytes + BUFFER_OVERHEAD)).min(DEVICE_LIMIT)
    }

    /// Returns whether the latest transmission of a segment has not left the host (`skb_still_in_host_queue`).
    pub(super) fn still_in_host_queue(&self, now: Instant, ordinal: u64) -> bool {
        self.board.get(ordinal).tx.sent_at > now
    }
}

#[cfg(test)]
mod tests;
