//! Capacity of a link: the bytes that it can carry between two moments.

use std::sync::Arc;

use radio::ran::{Direction, UserId};
use trace::{OPPORTUNITY, Opportunities, Steps, StepsError, Trace, WORK_PER_BYTE};
use units::{Bytes, Duration, Instant, Rate};

use crate::Capacity;

/// Capacity of a link, made from a valid [`Capacity`].
#[derive(Clone)]
pub(crate) enum LinkCapacity {
    Constant(Rate),
    Trace(Arc<Trace>, Duration),
    /// The radio access network serves this user and direction.
    Radio(UserId, Direction),
}

impl LinkCapacity {
    /// Makes the capacity that `capacity` configures; an error says that it never carries anything.
    pub(crate) fn new(capacity: &Capacity) -> Result<Self, StepsError> {
        Ok(match capacity {
            Capacity::Constant(rate) if *rate == Rate::ZERO => return Err(StepsError::AllZero),
            Capacity::Constant(rate) => Self::Constant(*rate),
            Capacity::Radio { user, direction } => Self::Radio(*user, *direction),
            Capacity::Trace { trace, offset } => Self::Trace(Arc::clone(trace), *offset),
            Capacity::Steps(steps) => {
                let steps: Vec<_> = steps
                    .iter()
                    .map(|&(at, rate)| (at.since_start(), rate))
                    .collect();
                let steps = Steps::new(&steps, Duration::MAX)?;
                Self::Trace(Arc::new(Trace::Steps(steps)), Duration::ZERO)
            }
        })
    }

    /// Returns the opportunities of a trace and the offset in it; `None` if the link has a rate.
    pub(crate) fn opportunities(&self) -> Option<(&Opportunities, Duration)> {
        match self {
            Self::Trace(trace, offset) => match &**trace {
                Trace::Opportunities(opportunities) => Some((opportunities, *offset)),
                Trace::Steps(_) => None,
            },
            Self::Constant(_) | Self::Radio(..) => None,
        }
    }

    /// Returns the bytes that the link can carry from `from` to `to`. The radio has no limit here.
    pub(crate) fn bytes_between(&self, from: Instant, to: Instant) -> Bytes {
        match self {
            Self::Radio(..) => Bytes::new(u64::MAX),
            Self::Constant(rate) => rate.bytes_in(to.saturating_since(from)),
            Self::Trace(trace, offset) => trace.bytes_between(from, to, *offset),
        }
    }

    /// Returns the work that the link can do up to and including `at`, in (bit/s)·ns. The radio has no limit here,
    /// because its transport blocks are verified instead.
    pub(crate) fn work_until(&self, at: Instant) -> u128 {
        match self {
            Self::Radio(..) => u128::MAX,
            Self::Constant(rate) => u128::from(rate.bits_per_second()) * u128::from(at.as_nanos()),
            Self::Trace(trace, offset) => match &**trace {
                Trace::Steps(steps) => steps.cumulative(at + *offset),
                Trace::Opportunities(opportunities) => {
                    let work = OPPORTUNITY.get() * WORK_PER_BYTE;
                    u128::from(opportunities.count_until(at + *offset)) * u128::from(work)
                }
            },
        }
    }

    /// Returns the work that the link can do before `at`, without an opportunity at that very moment.
    pub(crate) fn work_before(&self, at: Instant) -> u128 {
        let moment_counts = self.opportunities().is_some() && at > Instant::ZERO;
        let at = if moment_counts {
            Instant::from_nanos(at.as_nanos() - 1)
        } else {
            at
        };
        self.work_until(at)
    }
}
