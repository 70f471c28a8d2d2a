//! Transmitter: the times at which a link transmits the packets of its queue.

use std::sync::Arc;

use link_trace::{OPPORTUNITY, Opportunities, Trace};
use units::{Bytes, Duration, Instant};

use crate::LinkCapacity;

/// Transmitter: sends one packet after the other at the rate of the link.
///
/// Each finish is rounded up to the nanosecond, so that the link is never above its rate, and
/// slower by less than a nanosecond per packet.
pub(crate) struct Transmitter {
    capacity: LinkCapacity,
    hint: usize,
    /// Time at which the packet in transmission is done.
    pub(crate) free_at: Instant,
}

impl Transmitter {
    pub(crate) fn new(capacity: LinkCapacity) -> Self {
        Self {
            capacity,
            hint: 0,
            free_at: Instant::ZERO,
        }
    }

    /// Transmits `size` bytes from `start` on and returns the end.
    #[inline]
    pub(crate) fn transmit(&mut self, start: Instant, size: u32) -> Instant {
        let size = Bytes::new(u64::from(size));
        self.free_at = match &self.capacity {
            LinkCapacity::Constant(rate) => start + rate.time_to_send(size),
            _ => self.finish(start, size),
        };
        self.free_at
    }

    /// Returns the end of `size` bytes that are sent from `start` on at a rate that changes.
    fn finish(&mut self, start: Instant, size: Bytes) -> Instant {
        match &self.capacity {
            LinkCapacity::Constant(rate) => start + rate.time_to_send(size),
            LinkCapacity::Trace { trace, offset } => match &**trace {
                Trace::Steps(steps) => {
                    before(steps.finish(start + *offset, size, &mut self.hint), *offset)
                }
                Trace::Opportunities(_) => unreachable!("an opportunist uses opportunities"),
            },
            LinkCapacity::Radio { .. } => {
                unreachable!("the radio access network serves its own links")
            }
        }
    }
}

/// mahimahi transmitter: an opportunity sends up to 1500 queued bytes; the rest is lost.
pub(crate) struct OpportunityTransmitter {
    trace: Arc<Trace>,
    offset: Duration,
    /// Index of the next opportunity.
    next: u64,
    /// Bytes left of the opportunity at `free_at`.
    left: u32,
    /// Time at which the packet in transmission is done.
    pub(crate) free_at: Instant,
}

impl OpportunityTransmitter {
    /// Returns `None` if the capacity has a rate instead of opportunities.
    pub(crate) fn new(capacity: &LinkCapacity) -> Option<Self> {
        let LinkCapacity::Trace { trace, offset } = capacity else {
            return None;
        };
        capacity.opportunities()?;
        let (trace, free_at) = (Arc::clone(trace), Instant::ZERO);
        Some(Self {
            trace,
            offset: *offset,
            next: 0,
            left: 0,
            free_at,
        })
    }

    fn opportunities(&self) -> &Opportunities {
        match &*self.trace {
            Trace::Opportunities(opportunities) => opportunities,
            Trace::Steps(_) => unreachable!("a transmitter uses steps"),
        }
    }

    /// Returns the time of the next opportunity.
    pub(crate) fn next_at(&self) -> Instant {
        before(self.opportunities().time_of(self.next), self.offset)
    }

    /// Lets all opportunities up to and including `now` pass.
    pub(crate) fn skip_to(&mut self, now: Instant) {
        self.left = 0;
        self.next = self
            .opportunities()
            .first_after(now + self.offset, self.next);
    }

    /// Returns whether something can be sent at `now`.
    pub(crate) fn is_open(&mut self, now: Instant) -> bool {
        if self.left == 0 && self.next_at() <= now {
            self.left = OPPORTUNITY.get() as u32;
            self.next += 1;
        }
        self.left > 0
    }

    /// Discards the rest of the current opportunity.
    pub(crate) fn discard_rest(&mut self) {
        self.left = 0;
    }

    /// Sends `size` bytes from `now` on, when an opportunity is open, and returns the end.
    pub(crate) fn transmit(&mut self, now: Instant, size: u32) -> Instant {
        let mut remaining = size;
        self.free_at = now;
        while remaining > self.left {
            remaining -= self.left;
            self.left = OPPORTUNITY.get() as u32;
            self.free_at = self.next_at();
            self.next += 1;
        }
        self.left -= remaining;
        self.free_at
    }
}

/// Converts a time of the trace to a time of the run.
fn before(at: Instant, offset: Duration) -> Instant {
    if at == Instant::NEVER {
        at
    } else {
        Instant::ZERO + (at.since_start() - offset)
    }
}
