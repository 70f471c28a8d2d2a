//! Controlled delay (RFC 8289).

use config::{FieldError, check_positive, table};
use units::{Duration, Instant};

use super::{Attachment, Qdisc, QueueContext};
use crate::packet_pool::{PacketHandle, PacketList};
use crate::{Backlog, DropReason, Observer};

table! {
    /// The parameters of CoDel.
    pub struct Codel {
        /// Acceptable standing delay; default 5ms (RFC 8289 section 4.3).
        pub target: Duration = Duration::from_millis(5),
        /// A worst-case RTT; default 100ms (RFC 8289 section 4.3).
        pub interval: Duration = Duration::from_millis(100),
        /// Mark ECN-capable packets rather than drop them; default false.
        pub ecn: bool,
    }
}

impl Codel {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        check_positive("target", self.target)?;
        check_positive("interval", self.interval)
    }
}

/// A queue under CoDel.
pub(super) struct CodelQdisc {
    control: CodelControl,
    queue: CodelQueue,
}

impl CodelQdisc {
    pub(super) fn new(parameters: &Codel, attachment: Attachment) -> Self {
        Self {
            control: CodelControl::new(parameters.clone(), attachment.mtu),
            queue: CodelQueue::default(),
        }
    }
}

impl Qdisc for CodelQdisc {
    fn backlog(&self) -> Backlog {
        self.queue.list.backlog()
    }

    fn enqueue<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        self.queue.list.push(handle, context.now, context.pool);
        true
    }

    fn dequeue<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) -> Option<PacketHandle> {
        self.control.dequeue(&mut self.queue, 0, context)
    }
}

/// One queue with its state of CoDel (RFC 8289 §5.2).
pub(super) struct CodelQueue {
    pub(super) list: PacketList,
    first_above_time: Option<Instant>,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    /// Approximation of 1/√count.
    inverse_root: f64,
    is_dropping: bool,
}

impl Default for CodelQueue {
    fn default() -> Self {
        Self {
            list: PacketList::default(),
            first_above_time: None,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            inverse_root: 1.0,
            is_dropping: false,
        }
    }
}

impl CodelQueue {
    /// Counts drops by overflow, after which those of CoDel are denser (`fq_codel_drop`).
    pub(super) fn add_drops(&mut self, number: u32) {
        self.count += number;
    }
}

/// Control law of CoDel, for one queue or for the sub-queues of FQ-CoDel.
pub(super) struct CodelControl {
    config: Codel,
    /// Bytes of the largest packet. A link that holds no more than one is never too slow (RFC 8289 §5.6, `maxpacket_`).
    /// With fair queueing all queues of the link count, as in Linux (`fq_codel_dequeue`): each of many flows may have less
    /// than a packet, and wait long.
    largest_packet: u64,
    /// Value of count · root² below which the root is updated by a step of Newton's method.
    max_newton_ratio: f64,
}

impl CodelControl {
    /// Creates the control of a link with this MTU.
    pub(super) fn new(config: Codel, mtu: u32) -> Self {
        Self {
            config,
            largest_packet: u64::from(mtu),
            max_newton_ratio: 1.0,
        }
    }

    /// Drops first at the times of Linux and not of RFC 8289: for the second time after half an interval.
    pub(super) fn with_linux_first_drops(self) -> Self {
        Self {
            max_newton_ratio: 3.0,
            ..self
        }
    }

    /// Updates the approximation of 1/√count. A root that is too small, because the count has fallen, takes a step of
    /// Newton's method per drop (`codel_Newton_step`), so that new drops are denser than the law for a while. A root that
    /// is too large becomes exact: Newton's method need not converge, and the integers of Linux would wrap around.
    fn update_inverse_root(&self, codel_queue: &mut CodelQueue) {
        let (root, count) = (codel_queue.inverse_root, f64::from(codel_queue.count));
        let ratio = count * root * root;
        codel_queue.inverse_root = if ratio < self.max_newton_ratio {
            root * (1.5 - 0.5 * ratio)
        } else {
            1.0 / libm::sqrt(count)
        };
    }

    /// Returns the time of the next drop. Drops come closer with the square root of their number (RFC 8289 §5.6).
    fn control_law(&self, from: Instant, codel_queue: &CodelQueue) -> Instant {
        let interval = self.config.interval.as_nanos() as f64;
        from + Duration::from_nanos((interval * codel_queue.inverse_root) as u64)
    }

    /// Removes and returns the head of the queue, and whether the delay has been above target for an interval (RFC 8289
    /// §5.6).
    fn pop_head<O>(
        &self,
        codel_queue: &mut CodelQueue,
        other_bytes: u64,
        context: &QueueContext<'_, O>,
    ) -> Option<(PacketHandle, bool)> {
        let Some(handle) = codel_queue.list.pop(context.pool) else {
            codel_queue.first_above_time = None;
            return None;
        };
        let sojourn = context
            .now
            .saturating_since(context.pool.enqueued_at(handle));
        let backlog = codel_queue.list.backlog().bytes + other_bytes;
        if sojourn < self.config.target || backlog <= self.largest_packet {
            codel_queue.first_above_time = None;
            return Some((handle, false));
        }
        let deadline = *codel_queue
            .first_above_time
            .get_or_insert(context.now + self.config.interval);
        Some((handle, context.now >= deadline))
    }

    /// Removes and returns the next packet to send, after any dropped ones (RFC 8289 §5.5). `other_bytes` is the backlog of
    /// the link in other queues.
    pub(super) fn dequeue<O: Observer>(
        &self,
        codel_queue: &mut CodelQueue,
        other_bytes: u64,
        context: &mut QueueContext<'_, O>,
    ) -> Option<PacketHandle> {
        let mut head = self.pop_head(codel_queue, other_bytes, context);
        if codel_queue.is_dropping {
            while let Some((handle, true)) = head
                && context.now >= codel_queue.drop_next
            {
                codel_queue.count += 1;
                self.update_inverse_root(codel_queue);
                if self.config.ecn && context.mark(handle) {
                    codel_queue.drop_next = self.control_law(codel_queue.drop_next, codel_queue);
                    break;
                }
                context.discard(handle, DropReason::Aqm);
                head = self.pop_head(codel_queue, other_bytes, context);
                if let Some((_, true)) = head {
                    codel_queue.drop_next = self.control_law(codel_queue.drop_next, codel_queue);
                }
            }
            codel_queue.is_dropping = matches!(head, Some((_, true)));
        } else if let Some((handle, true)) = head {
            if !(self.config.ecn && context.mark(handle)) {
                context.discard(handle, DropReason::Aqm);
                head = self.pop_head(codel_queue, other_bytes, context);
            }
            codel_queue.is_dropping = true;
            // Soon after the last drops, the rate that worked then is a better start.
            let delta = codel_queue.count.saturating_sub(codel_queue.last_count);
            let is_recent =
                context.now.saturating_since(codel_queue.drop_next) < self.config.interval * 16;
            if delta > 1 && is_recent {
                codel_queue.count = delta;
                self.update_inverse_root(codel_queue);
            } else {
                codel_queue.count = 1;
                codel_queue.inverse_root = 1.0;
            }
            codel_queue.drop_next = self.control_law(context.now, codel_queue);
            codel_queue.last_count = codel_queue.count;
        }
        head.map(|(handle, _)| handle)
    }
}
