//! Transmitter: the times at which a link transmits the packets of its queue.

use std::sync::Arc;

use link_trace::{OPPORTUNITY, Opportunities, Trace};
use units::{Bytes, Duration, Instant};

use crate::LinkCapacity;

/// Transmitter: sends one packet after the other at the rate of the link.
///
/// The end of a transmission is rounded up to the nanosecond, so that the link is never above its rate, and slower by less
/// than a nanosecond per packet.
pub(crate) struct Transmitter {
    capacity: LinkCapacity,
    /// Index of the latest step of the capacity, from which the next search starts.
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

    /// Transmits `size` bytes from `start` on and returns the end of the transmission.
    #[inline]
    pub(crate) fn transmit(&mut self, start: Instant, size: u32) -> Instant {
        let size = Bytes::new(u64::from(size));
        self.free_at = match &self.capacity {
            LinkCapacity::Constant(rate) => start + rate.time_to_send(size),
            _ => self.finish(start, size),
        };
        self.free_at
    }

    /// Returns the end of the transmission of `size` bytes from `start` on.
    fn finish(&mut self, start: Instant, size: Bytes) -> Instant {
        match &self.capacity {
            LinkCapacity::Constant(rate) => start + rate.time_to_send(size),
            LinkCapacity::Trace { trace, offset } => match &**trace {
                Trace::Steps(steps) => {
                    run_time(steps.finish(start + *offset, size, &mut self.hint), *offset)
                }
                Trace::Opportunities(_) => {
                    unreachable!("OpportunityTransmitter sends by opportunities")
                }
            },
            LinkCapacity::Radio { .. } => {
                unreachable!("the radio access network serves its own links")
            }
        }
    }
}

/// Transmitter of mahimahi: an opportunity sends up to 1500 queued bytes; what it does not use is lost.
pub(crate) struct OpportunityTransmitter {
    trace: Arc<Trace>,
    offset: Duration,
    /// Index of the next opportunity.
    next: u64,
    /// Unused bytes of the opportunity at `free_at`.
    unused: u32,
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
            unused: 0,
            free_at,
        })
    }

    fn opportunities(&self) -> &Opportunities {
        match &*self.trace {
            Trace::Opportunities(opportunities) => opportunities,
            Trace::Steps(_) => unreachable!("Transmitter sends by steps"),
        }
    }

    /// Returns the time of the next opportunity.
    pub(crate) fn next_at(&self) -> Instant {
        run_time(self.opportunities().time_of(self.next), self.offset)
    }

    /// Lets all opportunities up to and including `now` pass.
    pub(crate) fn skip_to(&mut self, now: Instant) {
        self.unused = 0;
        self.next = self
            .opportunities()
            .first_after(now + self.offset, self.next);
    }

    /// Returns whether something can be sent at `now`.
    pub(crate) fn is_open(&mut self, now: Instant) -> bool {
        if self.unused == 0 && self.next_at() <= now {
            self.unused = OPPORTUNITY.get() as u32;
            self.next += 1;
        }
        self.unused > 0
    }

    /// Discards the unused bytes of the current opportunity.
    pub(crate) fn discard_opportunity(&mut self) {
        self.unused = 0;
    }

    /// Sends `size` bytes from `now` on, when an opportunity is open, and returns the end of the transmission.
    pub(crate) fn transmit(&mut self, now: Instant, size: u32) -> Instant {
        let mut remaining = size;
        self.free_at = now;
        while remaining > self.unused {
            remaining -= self.unused;
            self.unused = OPPORTUNITY.get() as u32;
            self.free_at = self.next_at();
            self.next += 1;
        }
        self.unused -= remaining;
        self.free_at
    }
}

/// Converts a time of the trace to a time of the run.
fn run_time(at: Instant, offset: Duration) -> Instant {
    if at == Instant::NEVER {
        at
    } else {
        Instant::ZERO + (at.since_start() - offset)
    }
}
