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

/// Time after which an attempt that did not get through is repeated.
pub(super) const RETRY: Duration = Duration::from_millis(10);

/// State of the recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Recovery {
    /// The UE looks for a cell until T311.
    Selecting { next: Instant, t311: Instant },
    /// The UE re-establishes with a cell until T301.
    Reestablishing {
        cell: CellId,
        next: Instant,
        t301: Instant,
    },
    /// The UE is idle and looks for a cell to connect to.
    Idle { next: Instant },
    /// The UE connects anew.
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
            next: now + config.cell_selection,
            t311: now + config.t311,
        }
    }

    pub(super) fn next(&self) -> Instant {
        match *self {
            Self::Selecting { next, .. }
            | Self::Reestablishing { next, .. }
            | Self::Idle { next }
            | Self::Connecting { next, .. } => next,
        }
    }

    /// Takes the step that is due at [`next`](Self::next). `best` is the strongest cell that can be reached now,
    /// `reaches` tells whether a cell can be reached, `knows` whether it has the UE's context.
    pub(super) fn step(
        self,
        config: &LinkFailure,
        now: Instant,
        best: Option<CellId>,
        reaches: impl Fn(CellId) -> bool,
        knows: impl Fn(CellId) -> bool,
    ) -> Step {
        let idle = Self::Idle { next: now + RETRY };
        let connect = |cell| Self::Connecting {
            cell,
            next: now + config.connection,
        };
        match self {
            Self::Selecting { t311, .. } => Step::Continue(match best {
                Some(cell) => Self::Reestablishing {
                    cell,
                    next: now + config.reestablishment,
                    t301: now + config.t301,
                },
                None if now >= t311 => idle,
                None => Self::Selecting {
                    next: (now + RETRY).min(t311),
                    t311,
                },
            }),
            Self::Reestablishing { cell, t301, .. } => {
                if reaches(cell) {
                    if config.context_fetch || knows(cell) {
                        return Step::Back {
                            cell,
                            context: true,
                        };
                    }
                    return Step::Continue(connect(cell));
                }
                Step::Continue(if now >= t301 {
                    idle
                } else {
                    Self::Reestablishing {
                        cell,
                        next: (now + RETRY).min(t301),
                        t301,
                    }
                })
            }
            Self::Idle { .. } => Step::Continue(best.map_or(idle, connect)),
            Self::Connecting { cell, .. } if reaches(cell) => Step::Back {
                cell,
                context: false,
            },
            Self::Connecting { .. } => Step::Continue(idle),
        }
    }
}
