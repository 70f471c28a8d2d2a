//! Link trace: capacity of a link over time, recorded or generated, and repeated for ever.
//!
//! A [`Trace`] is either a list of delivery opportunities, as mahimahi records them, or a rate that
//! changes in steps. Both repeat after their last moment. Capacity is a function of time alone: no
//! query changes a trace, and traffic never does.

mod capacity;
mod file;
mod generate;
mod opportunities;
mod outage;
mod parse;
mod statistics;
mod steps;
mod write;

pub use capacity::{Capacity, Step, TraceFile};
pub use file::{file_head, file_text, text_of};
pub use generate::{Generate, GenerateError};
pub use opportunities::{OPPORTUNITY, Opportunities, OpportunitiesError};
pub use outage::Outage;
pub use parse::{
    DateOrder, Direction, Holes, ParseError, ReadOptions, TraceFormat, is_own_format, read,
};
pub use statistics::{MAX_BINS, PERCENTILES, Statistics, TooManyBins};
pub use steps::{Steps, StepsError};
pub use write::{MAX_LINES, WriteError, write_csv, write_mahimahi};

use units::{Bytes, Duration, Instant, Rate};

/// Capacity of one byte in the unit of [`Steps::cumulative`]: eight bits, in (bit/s)·ns.
pub const WORK_PER_BYTE: u64 = 8_000_000_000;

/// A capacity process with a period.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trace {
    /// Moments at which up to [`OPPORTUNITY`] bytes pass.
    Opportunities(Opportunities),
    /// A rate that is constant between steps.
    Steps(Steps),
}

impl Trace {
    /// Returns the time after which the trace begins again.
    pub fn period(&self) -> Duration {
        match self {
            Self::Opportunities(opportunities) => opportunities.period(),
            Self::Steps(steps) => steps.period(),
        }
    }

    /// Returns the starts of the pieces, between which time is missing; the first is zero.
    pub fn pieces(&self) -> &[Duration] {
        match self {
            Self::Opportunities(_) => &[Duration::ZERO],
            Self::Steps(steps) => steps.pieces(),
        }
    }

    /// Bytes that one period carries, over its length.
    pub fn mean_rate(&self) -> Rate {
        Rate::of(
            self.bytes_between(Instant::ZERO, Instant::ZERO + self.period(), Duration::ZERO),
            self.period(),
        )
    }

    /// Bytes (at the IP layer) that the link can carry after `from` and until `to`, rounded down,
    /// where the run started `offset` into the trace. O(log n).
    ///
    /// An opportunity at `from` does not count and one at `to` does, because a packet that arrives
    /// in the moment of an opportunity has missed it.
    pub fn bytes_between(&self, from: Instant, to: Instant, offset: Duration) -> Bytes {
        let (from, to) = (from + offset, to + offset);
        if to <= from {
            return Bytes::new(0);
        }
        match self {
            Self::Opportunities(opportunities) => {
                let count = opportunities.count_until(to) - opportunities.count_until(from);
                Bytes::new(count * OPPORTUNITY.get())
            }
            Self::Steps(steps) => {
                let work = steps.cumulative(to) - steps.cumulative(from);
                Bytes::new((work / u128::from(WORK_PER_BYTE)) as u64)
            }
        }
    }
}

impl From<Opportunities> for Trace {
    fn from(opportunities: Opportunities) -> Self {
        Self::Opportunities(opportunities)
    }
}

impl From<Steps> for Trace {
    fn from(steps: Steps) -> Self {
        Self::Steps(steps)
    }
}
