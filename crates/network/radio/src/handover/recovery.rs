//! Recovery after a radio link failure: cell selection, re-establishment or a new connection (TS 36.331 clause
//! 5.3.7).

use super::measurement::CellId;
use crate::settings::LinkFailure;
use units::{Duration, Instant};

/// Cause of the loss of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// T310 expired.
    Physical,
    /// RLC reached its maximum of retransmissions.
    Rlc,
    /// T304 expired: the target of a handover could not be reached.
    Handover,
}

/// Interval between attempts.
pub(super) const RETRY: Duration = Duration::from_millis(10);

/// Search for a suitable cell. It takes `cell_selection` from the time at which there is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Search {
    /// No cell has been found yet.
    Nothing,
    /// The system information of a cell is read until then.
    Reading(Instant),
}

impl Search {
    /// Continues the search at `now`, when `best` is the strongest suitable cell. Returns that cell if its system
    /// information has been read, otherwise the new state of the search.
    fn advance(
        self,
        config: &LinkFailure,
        now: Instant,
        best: Option<CellId>,
    ) -> Result<CellId, Self> {
        match (self, best) {
            (Self::Reading(until), _) if now < until => Err(self),
            (Self::Reading(_), Some(cell)) => Ok(cell),
            (Self::Nothing, Some(_)) => Err(Self::Reading(now + config.cell_selection)),
            (_, None) => Err(Self::Nothing),
        }
    }

    /// Returns the time at which the search continues.
    fn next_step(self, now: Instant) -> Instant {
        match self {
            Self::Reading(until) => until,
            Self::Nothing => now + RETRY,
        }
    }
}

/// State of the recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Recovery {
    /// The UE looks for a cell until T311.
    Selecting {
        search: Search,
        next: Instant,
        t311: Instant,
    },
    /// The UE re-establishes with a cell until T301.
    Reestablishing {
        cell: CellId,
        next: Instant,
        t301: Instant,
    },
    /// The UE is idle and looks for a cell to connect to.
    Idle { search: Search, next: Instant },
    /// The UE sets up a new connection.
    Connecting { cell: CellId, next: Instant },
}

/// Outcome of a step of the recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Continue(Recovery),
    /// The UE is back in this cell, with the old context or without.
    Back {
        cell: CellId,
        context: bool,
    },
}

impl Recovery {
    pub(super) fn begin(config: &LinkFailure, now: Instant) -> Self {
        Self::Selecting {
            search: Search::Nothing,
            next: now,
            t311: now + config.t311,
        }
    }

    pub(super) fn deadline(&self) -> Instant {
        match *self {
            Self::Selecting { next, .. }
            | Self::Reestablishing { next, .. }
            | Self::Idle { next, .. }
            | Self::Connecting { next, .. } => next,
        }
    }

    /// Performs the step that is due at [`deadline`](Self::deadline). `best` is the strongest cell that can be reached now.
    /// `reaches` says whether a cell can be reached, `has_context` whether it has the UE's context.
    pub(super) fn step(
        self,
        config: &LinkFailure,
        now: Instant,
        best: Option<CellId>,
        reaches: impl Fn(CellId) -> bool,
        has_context: impl Fn(CellId) -> bool,
    ) -> Step {
        let idle = |search: Search| Self::Idle {
            search,
            next: search.next_step(now),
        };
        let connect = |cell| Self::Connecting {
            cell,
            next: now + config.connection,
        };
        match self {
            Self::Selecting { search, t311, .. } => {
                Step::Continue(match search.advance(config, now, best) {
                    Ok(cell) => Self::Reestablishing {
                        cell,
                        next: now + config.reestablishment,
                        t301: now + config.t301,
                    },
                    Err(search) if now >= t311 => idle(search),
                    Err(search) => Self::Selecting {
                        search,
                        next: search.next_step(now).min(t311),
                        t311,
                    },
                })
            }
            Self::Reestablishing { cell, t301, .. } => {
                if reaches(cell) {
                    if config.context_fetch || has_context(cell) {
                        return Step::Back {
                            cell,
                            context: true,
                        };
                    }
                    return Step::Continue(connect(cell));
                }
                Step::Continue(if now >= t301 {
                    idle(Search::Nothing)
                } else {
                    Self::Reestablishing {
                        cell,
                        next: (now + RETRY).min(t301),
                        t301,
                    }
                })
            }
            Self::Idle { search, .. } => {
                Step::Continue(search.advance(config, now, best).map_or_else(idle, connect))
            }
            Self::Connecting { cell, .. } if reaches(cell) => Step::Back {
                cell,
                context: false,
            },
            Self::Connecting { .. } => Step::Continue(idle(Search::Nothing)),
        }
    }
}
