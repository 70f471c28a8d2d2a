//! What a link carries until when.

use std::sync::Arc;

use radio::ran::{Direction, UserId};
use trace::{OPPORTUNITY, Opportunities, Steps, StepsError, Trace, WORK_PER_BYTE};
use units::{Bytes, Duration, Instant, Rate};

use crate::Capacity;

/// A capacity that has been checked.
#[derive(Clone)]
pub(crate) enum Carrier {
    Constant(Rate),
    Trace(Arc<Trace>, Duration),
    /// The radio access network knows.
    Radio(UserId, Direction),
}

impl Carrier {
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

    pub(crate) fn opportunities(&self) -> Option<(&Opportunities, Duration)> {
        match self {
            Self::Trace(trace, offset) => match &**trace {
                Trace::Opportunities(opportunities) => Some((opportunities, *offset)),
                Trace::Steps(_) => None,
            },
            Self::Constant(_) | Self::Radio(..) => None,
        }
    }

    /// Whatever is sent; of the radio, as much as there is.
    pub(crate) fn bytes_between(&self, from: Instant, to: Instant) -> Bytes {
        match self {
            Self::Radio(..) => Bytes::new(u64::MAX),
            Self::Constant(rate) => rate.bytes_in(to.saturating_since(from)),
            Self::Trace(trace, offset) => trace.bytes_between(from, to, *offset),
        }
    }

    /// Work that can be done up to and including `at`, in (bit/s)·ns; of the radio any, as its transport
    /// blocks are verified instead.
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

    /// Work that can be done before `at`, without an opportunity in that moment.
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
