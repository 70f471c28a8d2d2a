//! Controlled delay (RFC 8289).

use config::{FieldError, check_positive, table};
use units::{Duration, Instant};

use super::{Attachment, Qdisc, QueueContext};
use crate::packet_pool::{List, PacketHandle};
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

    fn offer<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        self.queue.list.push(handle, context.now, context.store);
        true
    }

    fn dequeue<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) -> Option<PacketHandle> {
        self.control.dequeue(&mut self.queue, 0, context)
    }
}

/// One queue and what CoDel remembers of it (RFC 8289 §5.2).
pub(super) struct CodelQueue {
    pub(super) list: List,
    first_above_time: Option<Instant>,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    /// Result of [`CodelControl::approach`].
    inverse_root: f64,
    dropping: bool,
}

impl Default for CodelQueue {
    fn default() -> Self {
        Self {
            list: List::EMPTY,
            first_above_time: None,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            inverse_root: 1.0,
            dropping: false,
        }
    }
}

impl CodelQueue {
    /// Makes drops denser after some that were for want of room (`fq_codel_drop`).
    pub(super) fn add_drops(&mut self, number: u32) {
        self.count += number;
    }
}

/// CoDel at work on any number of lanes.
pub(super) struct CodelControl {
    config: Codel,
    /// Bytes of the largest packet. A link that holds no more than one is never too slow (RFC 8289 §5.6, `maxpacket_`).
    /// With fair queueing all queues of the link count, as in Linux (`fq_codel_dequeue`): of many flows each may have less
    /// than a packet, and wait long.
    largest_packet: u64,
    /// Square of the ratio of a root to its aim, below which a step is Newton's.
    most_by_step: f64,
}

impl CodelControl {
    /// Creates the control of a link with this MTU.
    pub(super) fn new(config: Codel, mtu: u32) -> Self {
        Self {
            config,
            largest_packet: u64::from(mtu),
            most_by_step: 1.0,
        }
    }

    /// Has first drops come at the times of Linux and not of RFC 8289: the second one after half an interval.
    pub(super) fn with_first_drops_of_linux(self) -> Self {
        Self {
            most_by_step: 3.0,
            ..self
        }
    }

    /// Comes to 1/√count. From below, as where the count has become smaller, it does so by a step of Newton's method
    /// for each drop (`codel_Newton_step`): drops that begin again are denser than their law for a while. From so far
    /// above that the method does not converge, Linux' integers wrap around.
    fn approach(&self, codel_queue: &mut CodelQueue) {
        let (root, count) = (codel_queue.inverse_root, f64::from(codel_queue.count));
        let share = count * root * root;
        codel_queue.inverse_root = if share < self.most_by_step {
            root * (1.5 - 0.5 * share)
        } else {
            1.0 / libm::sqrt(count)
        };
    }

    /// Returns the time of the next drop. Drops come closer with the square root of their number (RFC 8289 §5.6).
    fn control_law(&self, from: Instant, codel_queue: &CodelQueue) -> Instant {
        let interval = self.config.interval.as_nanos() as f64;
        from + Duration::from_nanos((interval * codel_queue.inverse_root) as u64)
    }

    /// Returns the head of the queue, and whether its delay has been above target for an interval (RFC 8289 §5.6).
    fn head<O>(
        &self,
        codel_queue: &mut CodelQueue,
        other_bytes: u64,
        context: &QueueContext<'_, O>,
    ) -> Option<(PacketHandle, bool)> {
        let Some(handle) = codel_queue.list.pop(context.store) else {
            codel_queue.first_above_time = None;
            return None;
        };
        let sojourn = context
            .now
            .saturating_since(context.store.enqueued_at(handle));
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

    /// RFC 8289 §5.5: the next packet to send, after any packets that are dropped. `other_bytes` is the backlog of the
    /// link in other lanes, bytes.
    pub(super) fn dequeue<O: Observer>(
        &self,
        codel_queue: &mut CodelQueue,
        other_bytes: u64,
        context: &mut QueueContext<'_, O>,
    ) -> Option<PacketHandle> {
        let mut head = self.head(codel_queue, other_bytes, context);
        if codel_queue.dropping {
            while let Some((handle, true)) = head
                && context.now >= codel_queue.drop_next
            {
                codel_queue.count += 1;
                self.approach(codel_queue);
                if self.config.ecn && context.mark(handle) {
                    codel_queue.drop_next = self.control_law(codel_queue.drop_next, codel_queue);
                    break;
                }
                context.discard(handle, DropReason::Aqm);
                head = self.head(codel_queue, other_bytes, context);
                if let Some((_, true)) = head {
                    codel_queue.drop_next = self.control_law(codel_queue.drop_next, codel_queue);
                }
            }
            codel_queue.dropping = matches!(head, Some((_, true)));
        } else if let Some((handle, true)) = head {
            if !(self.config.ecn && context.mark(handle)) {
                context.discard(handle, DropReason::Aqm);
                head = self.head(codel_queue, other_bytes, context);
            }
            codel_queue.dropping = true;
            // Where dropping began again soon, the rate that worked before is a better start.
            let delta = codel_queue.count.saturating_sub(codel_queue.last_count);
            let recently =
                context.now.saturating_since(codel_queue.drop_next) < self.config.interval * 16;
            if delta > 1 && recently {
                codel_queue.count = delta;
                self.approach(codel_queue);
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
