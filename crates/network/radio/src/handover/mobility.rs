//! Mobility of one connection: serving, handing over, recovering.

use super::measurement::{CellId, Filter, Measurement};
use super::monitor::LinkMonitor;
use super::recovery::{Cause, RETRY, Recovery, Step};
use super::trigger::ConditionTimer;
use crate::rlc::Forwarding;
use crate::settings::{Handover, LinkFailure};
use units::Instant;

/// Action of the cells and the gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// The source asks this target over X2 to admit the user.
    Prepare(CellId),
    /// The source sends the handover command.
    Command(CellId),
    /// The user leaves the source: MAC is reset, RLC re-established, the buffer forwarded over X2.
    Detach {
        /// Cell that the user leaves.
        source: CellId,
        /// Target cell of the user.
        target: CellId,
        /// Treatment of the buffer of the source.
        forwarding: Forwarding,
    },
    /// The user has arrived in this cell after a handover.
    Attach(CellId),
    /// The gateway sends to this cell from now on. Packets that it sent earlier still arrive through the source.
    PathSwitch(CellId),
    /// The connection is lost. Nothing is sent in either direction.
    Failure(Cause),
    /// The connection has been recovered in a cell.
    Recovered {
        /// Cell that failed.
        source: CellId,
        /// Cell that serves now.
        cell: CellId,
        /// Whether the context of the user was kept. If so, the buffer of the source is forwarded losslessly; a new connection
        /// starts with empty buffers.
        context: bool,
    },
}

#[derive(Clone, Copy, Debug)]
enum State {
    Connected,
    /// Waiting for the target's answer over X2.
    Preparing {
        target: CellId,
        until: Instant,
    },
    /// The command is on its way.
    Commanded {
        target: CellId,
        until: Instant,
    },
    /// Between the cells.
    Detached {
        target: CellId,
        next: Instant,
        t304: Instant,
    },
    Recovering(Recovery),
}

/// State machine of the mobility of one user.
#[derive(Clone, Debug)]
pub struct Mobility {
    /// Whether handovers are configured.
    hands_over: bool,
    config: Handover,
    link_failure: LinkFailure,
    serving: CellId,
    state: State,
    filter: Filter,
    conditions: ConditionTimer,
    monitor: LinkMonitor,
    /// Time before which no report is sent.
    report_after: Instant,
    /// Target that has the context of the user.
    prepared: Option<CellId>,
    path_switch: Option<(Instant, CellId)>,
}

impl Mobility {
    /// Returns a user connected to `serving`.
    pub fn new(handover: Option<Handover>, link_failure: LinkFailure, serving: CellId) -> Self {
        let hands_over = handover.is_some();
        let config = handover.unwrap_or_default();
        Self {
            hands_over,
            serving,
            state: State::Connected,
            filter: Filter::new(config.filter_coefficient as u8),
            conditions: ConditionTimer::default(),
            monitor: LinkMonitor::new(link_failure.clone()),
            config,
            link_failure,
            report_after: Instant::ZERO,
            prepared: None,
            path_switch: None,
        }
    }

    /// Returns the cell that serves, or served last.
    pub fn serving(&self) -> CellId {
        self.serving
    }

    /// Returns whether the user can send and receive in its serving cell.
    pub fn is_connected(&self) -> bool {
        !matches!(self.state, State::Detached { .. } | State::Recovering(_))
    }

    /// Returns whether the user has left one cell and not arrived in the next.
    pub(crate) fn is_between_cells(&self) -> bool {
        matches!(self.state, State::Detached { .. })
    }

    /// Processes the measurements of one period (200 ms in TS 36.133 clause 8.1.2.2.1; shorter ones are
    /// possible). `reaches` says whether a message between the user and a cell gets through now. Returns
    /// [`Action::Prepare`] if a handover begins.
    pub fn measure(
        &mut self,
        now: Instant,
        cells: &[Measurement],
        reaches: impl Fn(CellId) -> bool,
    ) -> Option<Action> {
        self.filter.update(cells);
        if !self.hands_over || !matches!(self.state, State::Connected) {
            return None;
        }
        let target =
            self.conditions
                .target(now, &self.config.trigger, self.serving, &self.filter)?;
        if now < self.report_after {
            return None;
        }
        self.report_after = now + self.config.report_interval;
        if !reaches(self.serving) {
            return None;
        }
        let until = now + self.config.x2_delay * 2 + self.config.admission;
        self.state = State::Preparing { target, until };
        Some(Action::Prepare(target))
    }

    /// Processes the SINR of the serving cell, in dB. Call it every 10 ms while connected.
    pub fn sample(&mut self, now: Instant, sinr_db: f64) {
        if self.is_connected() {
            self.monitor.sample(now, sinr_db);
        }
    }

    /// Starts the recovery, because RLC has reached its maximum of retransmissions (TS 36.331 clause 5.3.11.3).
    pub fn rlc_failed(&mut self, now: Instant) -> Option<Action> {
        self.is_connected().then(|| self.fail(now, Cause::Rlc))
    }

    fn fail(&mut self, now: Instant, cause: Cause) -> Action {
        self.monitor.reset();
        self.conditions.reset();
        self.state = State::Recovering(Recovery::begin(&self.link_failure, now));
        Action::Failure(cause)
    }

    /// Returns the time at which [`advance`](Self::advance) is to be called next; [`Instant::NEVER`] if nothing is
    /// due.
    pub fn next_deadline(&self) -> Instant {
        let state = match self.state {
            State::Connected => Instant::NEVER,
            State::Preparing { until, .. } | State::Commanded { until, .. } => until,
            State::Detached { next, .. } => next,
            State::Recovering(recovery) => recovery.deadline(),
        };
        let switch = self.path_switch.map_or(Instant::NEVER, |(at, _)| at);
        state.min(switch).min(self.monitor.deadline())
    }

    /// Returns the next action that is due at `now` or before. Call it until it returns `None`.
    pub fn advance(&mut self, now: Instant, reaches: impl Fn(CellId) -> bool) -> Option<Action> {
        if let Some((_, cell)) = self.path_switch.filter(|(at, _)| *at <= now) {
            self.path_switch = None;
            return Some(Action::PathSwitch(cell));
        }
        if self.is_connected() && self.monitor.has_failed(now) {
            return Some(self.fail(now, Cause::Physical));
        }
        loop {
            match self.state {
                State::Preparing { target, until } if until <= now => {
                    let until = until + self.config.command;
                    self.prepared = Some(target);
                    self.state = State::Commanded { target, until };
                    return Some(Action::Command(target));
                }
                State::Commanded { target, until } if until <= now => {
                    if reaches(self.serving) {
                        return Some(self.detach(target, until));
                    }
                    // The command was lost: HARQ and RLC try again while the link lives.
                    let until = now + RETRY;
                    self.state = State::Commanded { target, until };
                }
                State::Detached { target, next, t304 } if next <= now => {
                    if reaches(target) {
                        return Some(self.attach(target, now));
                    }
                    if now >= t304 {
                        return Some(self.fail(now, Cause::Handover));
                    }
                    let next = (now + RETRY).min(t304);
                    self.state = State::Detached { target, next, t304 };
                }
                State::Recovering(recovery) if recovery.deadline() <= now => {
                    if let Some(action) = self.recover(recovery, now, &reaches) {
                        return Some(action);
                    }
                }
                _ => return None,
            }
        }
    }

    fn detach(&mut self, target: CellId, at: Instant) -> Action {
        self.monitor.reset();
        self.state = State::Detached {
            target,
            next: at + self.config.interruption,
            t304: at + self.config.t304,
        };
        Action::Detach {
            source: self.serving,
            target,
            forwarding: self.config.forwarding,
        }
    }

    fn attach(&mut self, target: CellId, now: Instant) -> Action {
        self.serve_in(target, now);
        Action::Attach(target)
    }

    fn serve_in(&mut self, cell: CellId, now: Instant) {
        if cell != self.serving {
            self.path_switch = Some((now + self.config.path_switch, cell));
        }
        self.serving = cell;
        self.state = State::Connected;
        self.prepared = None;
        self.report_after = Instant::ZERO;
        self.conditions.reset();
    }

    fn recover(
        &mut self,
        recovery: Recovery,
        now: Instant,
        reaches: &impl Fn(CellId) -> bool,
    ) -> Option<Action> {
        let cells = self.filter.cells().iter();
        let best = cells
            .filter(|cell| reaches(cell.cell))
            .reduce(Measurement::stronger);
        let (source, prepared) = (self.serving, self.prepared);
        // Without measurements, as in a network of one cell, only the serving cell is known.
        let unmeasured = self.filter.cells().is_empty() && reaches(source);
        let best = best.map(|best| best.cell).or(unmeasured.then_some(source));
        let has_context = |cell| cell == source || prepared == Some(cell);
        match recovery.step(&self.link_failure, now, best, reaches, has_context) {
            Step::Continue(recovery) => {
                self.state = State::Recovering(recovery);
                None
            }
            Step::Back { cell, context } => {
                self.serve_in(cell, now);
                Some(Action::Recovered {
                    source,
                    cell,
                    context,
                })
            }
        }
    }
}
