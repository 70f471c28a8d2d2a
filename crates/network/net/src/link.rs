//! Link: a queue, its transmitter, loss and a delay line.

use units::{Bytes, Duration, Instant};

use crate::blackout::Blackouts;
use crate::delay_line::{DelayLine, InTransit};
use crate::jitter::JitterModel;
use crate::loss::ErrorModel;
use crate::outage_watch::OutageWatch;
use crate::packet_pool::PacketHandle;
use crate::policer::Bucket;
use crate::queue::{LinkQueue, QueueContext};
use crate::transmitter::{OpportunityTransmitter, Transmitter};
use crate::{
    Backlog, DropReason, HostId, LinkCapacity, LinkConfig, LinkId, LinkSubscription, Observer,
};

pub(crate) struct Link {
    pub(crate) from: HostId,
    pub(crate) to: HostId,
    mtu: u32,
    policer: Option<Bucket>,
    queue: LinkQueue,
    service: Service,
    /// Time at which the queue is to be served; [`Instant::NEVER`] while it is empty.
    wake: Instant,
    channel: Channel,
    pub(crate) capacity: LinkCapacity,
    /// Former capacities, each with the time until which it held.
    former_capacities: Vec<(Instant, LinkCapacity)>,
}

/// Transmitter of a link: by a rate, or by opportunities.
enum Service {
    Rate(Transmitter),
    Opportunities(OpportunityTransmitter),
}

impl Service {
    fn new(capacity: &LinkCapacity) -> Self {
        match OpportunityTransmitter::new(capacity) {
            Some(transmitter) => Self::Opportunities(transmitter),
            None => Self::Rate(Transmitter::new(capacity.clone())),
        }
    }

    /// Returns the service at another capacity from `now` on, after the packet in transmission.
    fn with_capacity(&self, capacity: &LinkCapacity, now: Instant) -> Self {
        let free_at = match self {
            Self::Rate(transmitter) => transmitter.free_at,
            Self::Opportunities(transmitter) => transmitter.free_at,
        };
        let mut service = Self::new(capacity);
        match &mut service {
            Self::Rate(transmitter) => transmitter.free_at = free_at,
            Self::Opportunities(transmitter) => {
                transmitter.skip_to(now.max(free_at));
                transmitter.free_at = free_at;
            }
        }
        service
    }

    /// Returns the first time at which a packet that waits at `now` can be sent.
    fn next_send_at(&self, now: Instant) -> Instant {
        match self {
            Self::Rate(transmitter) => transmitter.free_at.max(now),
            Self::Opportunities(transmitter) if transmitter.free_at > now => transmitter.free_at,
            Self::Opportunities(transmitter) => transmitter.next_at(),
        }
    }
}

/// The part of a link behind the transmitter: loss, delay and jitter.
struct Channel {
    delay: Duration,
    error_model: ErrorModel,
    blackouts: Blackouts,
    jitter: JitterModel,
    line: DelayLine,
    /// Packets transmitted so far.
    ordinal: u64,
}

impl Link {
    pub(crate) fn new(config: &LinkConfig, id: LinkId, seed: u64) -> Self {
        Self {
            from: config.from,
            to: config.to,
            mtu: config.mtu,
            policer: config.policer.as_ref().map(Bucket::new),
            queue: LinkQueue::new(&config.queue, config.mtu, seed, id),
            service: Service::new(&config.capacity),
            wake: Instant::NEVER,
            channel: Channel {
                delay: config.delay,
                error_model: ErrorModel::new(config.loss.clone(), seed, id),
                blackouts: Blackouts::new(&config.blackouts),
                jitter: JitterModel::new(config.jitter.clone(), seed, id),
                line: DelayLine::new(config.jitter.as_ref().is_some_and(|jitter| jitter.reorder)),
                ordinal: 0,
            },
            capacity: config.capacity.clone(),
            former_capacities: Vec::new(),
        }
    }

    /// Applies the changeable fields of a configuration.
    pub(crate) fn change<O: Observer>(
        &mut self,
        config: &LinkConfig,
        context: &mut QueueContext<'_, O>,
    ) {
        self.serve(context);
        let now = context.now;
        if config.capacity != self.capacity {
            self.service = self.service.with_capacity(&config.capacity, now);
            let before = core::mem::replace(&mut self.capacity, config.capacity.clone());
            self.former_capacities.push((now, before));
            if !self.queue.is_empty() {
                self.wake = self.service.next_send_at(now);
            }
        }
        self.queue.set_limit(config.queue.limit);
        self.channel.delay = config.delay;
        self.channel.error_model.set_loss(&config.loss, now);
        self.channel.blackouts = Blackouts::new(&config.blackouts);
    }

    /// Returns the watch of the outages of this link.
    pub(crate) fn outage_watch(&self, subscription: LinkSubscription) -> OutageWatch {
        OutageWatch::new(
            self.to,
            &self.capacity,
            &self.channel.blackouts,
            subscription,
        )
    }

    /// Returns the time of the next event at this link.
    pub(crate) fn next_at(&self) -> Instant {
        self.wake.min(self.channel.line.next_at())
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    pub(crate) fn bytes_between(&self, from: Instant, to: Instant) -> Bytes {
        let mut bytes = 0;
        let mut to = to;
        let mut capacity = &self.capacity;
        for (until, before) in self.former_capacities.iter().rev() {
            if *until <= from {
                break;
            }
            if *until < to {
                bytes += capacity.bytes_between(*until, to).get();
                to = *until;
            }
            capacity = before;
        }
        Bytes::new(bytes + capacity.bytes_between(from, to).get())
    }

    pub(crate) fn policed_bytes(&self, time: Duration) -> Option<Bytes> {
        self.policer
            .as_ref()
            .map(|bucket| bucket.rate.bytes_in(time))
    }

    /// Removes and returns the next packet that has reached the end of the link by `now`.
    #[inline]
    pub(crate) fn pop_until(&mut self, now: Instant) -> Option<InTransit> {
        self.channel.line.pop_until(now)
    }

    /// Transmits or enqueues a packet. The queue is served first if that is due, so that the outcome does not depend on the
    /// order of simultaneous events.
    pub(crate) fn enqueue<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) {
        self.serve(context);
        let size = context.pool.packet(handle).size;
        if size > self.mtu {
            return context.discard(handle, DropReason::Mtu);
        }
        let now = context.now;
        if let Some(bucket) = &mut self.policer
            && !bucket.conforms(now, size)
        {
            return context.discard(handle, DropReason::Policer);
        }
        match &mut self.service {
            // The queue is empty: disciplines drop no packet that finds an idle link.
            Service::Rate(transmitter) if transmitter.free_at <= now => {
                let finish = transmitter.transmit(now, size);
                self.channel.propagate(handle, finish, context);
            }
            Service::Rate(transmitter) => {
                self.queue.enqueue(handle, context);
                self.wake = transmitter.free_at;
            }
            Service::Opportunities(transmitter) => {
                let was_empty = self.queue.is_empty();
                self.queue.enqueue(handle, context);
                if was_empty && transmitter.free_at <= now {
                    transmitter.skip_to(now);
                    self.wake = transmitter.next_at();
                } else if was_empty {
                    self.wake = transmitter.free_at;
                }
            }
        }
        if self.queue.is_empty() {
            self.wake = Instant::NEVER;
        }
    }

    /// Transmits packets from the queue, if that is due. Mostly it is not.
    #[inline]
    pub(crate) fn serve<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) {
        if self.wake <= context.now {
            self.serve_queue(context);
        }
    }

    fn serve_queue<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) {
        let now = context.now;
        match &mut self.service {
            Service::Rate(transmitter) => {
                if let Some(handle) = self.queue.dequeue(context) {
                    let finish = transmitter.transmit(now, context.pool.packet(handle).size);
                    self.channel.propagate(handle, finish, context);
                }
                self.wake = transmitter.free_at;
            }
            Service::Opportunities(transmitter) => {
                while transmitter.is_open(now) {
                    let Some(handle) = self.queue.dequeue(context) else {
                        transmitter.discard_opportunity();
                        break;
                    };
                    let finish = transmitter.transmit(now, context.pool.packet(handle).size);
                    self.channel.propagate(handle, finish, context);
                    if finish > now {
                        break;
                    }
                }
                let is_busy = transmitter.free_at > now;
                self.wake = if is_busy {
                    transmitter.free_at
                } else {
                    transmitter.next_at()
                };
            }
        }
        if self.queue.is_empty() {
            self.wake = Instant::NEVER;
        }
    }
}

impl Channel {
    /// Propagates a packet whose transmission begins now and ends at `finish`.
    fn propagate<O: Observer>(
        &mut self,
        handle: PacketHandle,
        finish: Instant,
        context: &mut QueueContext<'_, O>,
    ) {
        let packet = context.pool.packet(handle);
        context
            .observer
            .on_transmitted(context.link, packet, context.now, finish);
        if packet.is_cross() {
            context.pool.remove(handle);
            return;
        }
        let is_lost = self.error_model.is_lost(finish) | self.blackouts.covers(finish);
        let arrival = finish + self.delay + self.jitter.delay();
        self.line.push(InTransit {
            arrival,
            ordinal: self.ordinal,
            handle,
            is_lost,
        });
        self.ordinal += 1;
    }
}
