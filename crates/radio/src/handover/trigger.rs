//! Triggers of a handover: events A2, A3 and A4 of TS 36.331 clause 5.5.4, by which a UE reports and the source cell
//! decides.

use super::measurement::{CellId, Filter, Measurement, rsrq_index};
use crate::channel::ParameterError;
use units::{Duration, Instant};

/// Values of timeToTrigger, in milliseconds (TS 36.331 clause 6.3.5).
pub const TIME_TO_TRIGGER: [u64; 16] = [
    0, 40, 64, 80, 100, 128, 160, 256, 320, 480, 512, 640, 1_024, 1_280, 2_560, 5_120,
];

/// When to hand over.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Trigger {
    /// Event A3 on RSRP: a neighbour is better than the serving cell by an offset.
    A3Rsrp {
        /// a3-Offset, in dB.
        offset_db: f64,
        /// Hysteresis, in dB.
        hysteresis_db: f64,
        /// timeToTrigger.
        time_to_trigger: Duration,
    },
    /// Event A2 on RSRQ says that the serving cell is poor; event A4 names neighbours; the best of
    /// them is taken if it is better by an offset.
    A2A4Rsrq {
        /// The serving cell is poor below this RSRQ index.
        serving: u8,
        /// Neighbours count above this RSRQ index.
        neighbour: u8,
        /// By how many index steps of 0.5 dB the neighbour has to be better.
        offset: u8,
        /// timeToTrigger of event A2.
        time_to_trigger: Duration,
    },
}

impl Trigger {
    /// Event A3 with 3 dB of hysteresis for 256 ms, as ns-3's A3 algorithm has it.
    pub const A3: Self = Self::A3Rsrp {
        offset_db: 0.0,
        hysteresis_db: 3.0,
        time_to_trigger: Duration::from_millis(256),
    };

    fn time_to_trigger(&self) -> Duration {
        match *self {
            Self::A3Rsrp {
                time_to_trigger, ..
            }
            | Self::A2A4Rsrq {
                time_to_trigger, ..
            } => time_to_trigger,
        }
    }

    /// Checks the values against TS 36.331 clause 6.3.5.
    ///
    /// # Errors
    /// The first field that has a value the standard does not allow.
    pub fn validate(&self) -> Result<(), ParameterError> {
        let refuse = |field, value: f64, allowed| Err(ParameterError::new(field, value, allowed));
        let time = self.time_to_trigger();
        let allowed = TIME_TO_TRIGGER.map(Duration::from_millis);
        if !allowed.contains(&time) {
            let milliseconds = time.as_secs_f64() * 1e3;
            let allowed = format!("must be one of {TIME_TO_TRIGGER:?}");
            return refuse("timeToTrigger in ms", milliseconds, allowed);
        }
        let half_steps = |value: f64| libm::trunc(2.0 * value) == 2.0 * value;
        match *self {
            Self::A3Rsrp { hysteresis_db, .. }
                if !(0.0..=15.0).contains(&hysteresis_db) || !half_steps(hysteresis_db) =>
            {
                let allowed = "must be from 0 to 15 in steps of 0.5".to_owned();
                refuse("hysteresis in dB", hysteresis_db, allowed)
            }
            Self::A3Rsrp { offset_db, .. }
                if !(-15.0..=15.0).contains(&offset_db) || !half_steps(offset_db) =>
            {
                let allowed = "must be from -15 to 15 in steps of 0.5".to_owned();
                refuse("a3-Offset in dB", offset_db, allowed)
            }
            Self::A2A4Rsrq {
                serving, neighbour, ..
            } => {
                let index =
                    |field, index| ParameterError::range(field, f64::from(index), 0.0, 34.0);
                index("RSRQ index of the serving cell", serving)?;
                index("RSRQ index of neighbours", neighbour).map(|_| ())
            }
            Self::A3Rsrp { .. } => Ok(()),
        }
    }
}

/// Time since which entering conditions have held: per neighbour for A3, of the serving cell for A2.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    since: Vec<(CellId, Instant)>,
}

impl Watch {
    /// Forgets all conditions, because the serving cell has changed.
    pub(super) fn reset(&mut self) {
        self.since.clear();
    }

    /// Evaluates the conditions with fresh measurements and returns the target, if there is one.
    pub(super) fn target(
        &mut self,
        now: Instant,
        trigger: &Trigger,
        serving: CellId,
        filter: &Filter,
    ) -> Option<CellId> {
        let own = filter.cell(serving).copied();
        let wait = trigger.time_to_trigger();
        match *trigger {
            Trigger::A3Rsrp {
                offset_db,
                hysteresis_db,
                ..
            } => {
                // A serving cell that cannot be detected is worse than any neighbour.
                let own = own.map_or(f64::NEG_INFINITY, |own| own.rsrp_dbm);
                let mut best: Option<&Measurement> = None;
                for cell in filter.cells().iter().filter(|cell| cell.cell != serving) {
                    let enters = cell.rsrp_dbm - hysteresis_db > own + offset_db;
                    let ready = self.held(now, cell.cell, enters, wait);
                    if ready && best.is_none_or(|best| cell.rsrp_dbm > best.rsrp_dbm) {
                        best = Some(cell);
                    }
                }
                self.since.retain(|(id, _)| filter.cell(*id).is_some());
                best.map(|best| best.cell)
            }
            Trigger::A2A4Rsrq {
                serving: poor,
                neighbour,
                offset,
                ..
            } => {
                let own = own.map_or(0, |own| rsrq_index(own.rsrq_db));
                if !self.held(now, serving, own < poor, wait) {
                    return None;
                }
                let mut best: Option<(u8, CellId)> = None;
                for cell in filter.cells().iter().filter(|cell| cell.cell != serving) {
                    let index = rsrq_index(cell.rsrq_db);
                    if index > neighbour && best.is_none_or(|(found, _)| index > found) {
                        best = Some((index, cell.cell));
                    }
                }
                let (index, target) = best?;
                (index >= own.saturating_add(offset)).then_some(target)
            }
        }
    }

    /// Returns whether the condition has held for `wait`.
    fn held(&mut self, now: Instant, cell: CellId, holds: bool, wait: Duration) -> bool {
        let known = self.since.iter().position(|(id, _)| *id == cell);
        match (holds, known) {
            (false, Some(at)) => {
                self.since.swap_remove(at);
                false
            }
            (false, None) => false,
            (true, Some(at)) => now.saturating_since(self.since[at].1) >= wait,
            (true, None) => {
                self.since.push((cell, now));
                wait.is_zero()
            }
        }
    }
}
