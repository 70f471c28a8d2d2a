//! Capacity of a link: the bytes that it can carry between two moments.

use std::sync::Arc;

use link_trace::{OPPORTUNITY, Opportunities, Outage, Steps, StepsError, Trace, WORK_PER_BYTE};
use radio::ran::{Direction, UserId};
use units::{Bytes, Duration, Instant, Rate};

/// Capacity of a link. It is a function of time alone, never of the traffic, except on the radio, where users share a
/// cell.
#[derive(Clone, PartialEq, Debug)]
pub enum LinkCapacity {
    /// Always the same rate.
    Constant(Rate),
    /// A trace, which the run begins at `offset`.
    Trace {
        /// The trace.
        trace: Arc<Trace>,
        /// Time of the trace at which the run begins.
        offset: Duration,
    },
    /// The share of one user of the radio access network. That has its own queues, so that the link's limit,
    /// discipline, loss and jitter are of no effect; its delay is zero.
    Radio {
        /// The user.
        user: UserId,
        /// To the user or from it.
        direction: Direction,
    },
}

impl LinkCapacity {
    /// Returns rates that each hold from their time until the next; the last one stays. The first time is zero.
    ///
    /// # Errors
    /// If times do not rise from zero, or no rate is above zero.
    pub fn steps(steps: &[(Duration, Rate)]) -> Result<Self, StepsError> {
        let trace = Arc::new(Trace::Steps(Steps::new(steps, Duration::MAX)?));
        let offset = Duration::ZERO;
        Ok(Self::Trace { trace, offset })
    }

    /// Returns the opportunities of a trace and the offset in it; `None` if the link has a rate.
    pub(crate) fn opportunities(&self) -> Option<(&Opportunities, Duration)> {
        match self {
            Self::Trace { trace, offset } => match &**trace {
                Trace::Opportunities(opportunities) => Some((opportunities, *offset)),
                Trace::Steps(_) => None,
            },
            Self::Constant(_) | Self::Radio { .. } => None,
        }
    }

    /// Returns the bytes that the link can carry from `from` to `to`. The radio has no limit here.
    pub(crate) fn bytes_between(&self, from: Instant, to: Instant) -> Bytes {
        match self {
            Self::Radio { .. } => Bytes::new(u64::MAX),
            Self::Constant(rate) => rate.bytes_in(to.saturating_since(from)),
            Self::Trace { trace, offset } => trace.bytes_between(from, to, *offset),
        }
    }

    /// Returns the first outage of at least `min_length` after `from` that begins before `until`. Those of the radio
    /// are not known in advance.
    pub(crate) fn next_outage(
        &self,
        from: Instant,
        until: Instant,
        min_length: Duration,
    ) -> Option<Outage> {
        match self {
            Self::Constant(_) | Self::Radio { .. } => None,
            Self::Trace { trace, offset } => trace.next_outage(from, until, min_length, *offset),
        }
    }

    /// Returns the work that the link can do up to and including `at`, in (bit/s)·ns. The radio has no limit here,
    /// because its transport blocks are verified instead.
    pub(crate) fn work_until(&self, at: Instant) -> u128 {
        match self {
            Self::Radio { .. } => u128::MAX,
            Self::Constant(rate) => u128::from(rate.bits_per_second()) * u128::from(at.as_nanos()),
            Self::Trace { trace, offset } => match &**trace {
                Trace::Steps(steps) => steps.cumulative(at + *offset),
                Trace::Opportunities(opportunities) => {
                    let work = OPPORTUNITY.get() * WORK_PER_BYTE;
                    u128::from(opportunities.count_until(at + *offset)) * u128::from(work)
                }
            },
        }
    }

    /// Returns the work that the link can do before `at`, without an opportunity at `at` itself.
    pub(crate) fn work_before(&self, at: Instant) -> u128 {
        let has_opportunity = self.opportunities().is_some() && at > Instant::ZERO;
        let at = if has_opportunity {
            Instant::from_nanos(at.as_nanos() - 1)
        } else {
            at
        };
        self.work_until(at)
    }
}
