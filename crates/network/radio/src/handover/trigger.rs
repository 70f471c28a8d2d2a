//! Triggers of a handover: events A2, A3 and A4 of TS 36.331 clause 5.5.4, by which a UE reports and the source cell
//! decides.

use super::measurement::{CellId, Filter, Measurement, rsrq_index};
use crate::settings::Trigger;
use units::{Duration, Instant};

/// Values of timeToTrigger, in milliseconds (TS 36.331 clause 6.3.5).
pub const TIME_TO_TRIGGER: [u64; 16] = [
    0, 40, 64, 80, 100, 128, 160, 256, 320, 480, 512, 640, 1_024, 1_280, 2_560, 5_120,
];

/// Times since which entering conditions have held: per neighbour for A3, of the serving cell for A2.
#[derive(Clone, Debug, Default)]
pub(super) struct ConditionTimer {
    since: Vec<(CellId, Instant)>,
}

impl ConditionTimer {
    /// Removes all conditions, because the serving cell has changed.
    pub(super) fn reset(&mut self) {
        self.since.clear();
    }

    /// Evaluates the conditions with new measurements and returns the target of a handover, if there is one.
    pub(super) fn target(
        &mut self,
        now: Instant,
        trigger: &Trigger,
        serving: CellId,
        filter: &Filter,
    ) -> Option<CellId> {
        let own = filter.cell(serving).copied();
        match trigger {
            Trigger::A3(a3) => {
                let (hysteresis_db, offset_db) = (a3.hysteresis.get(), a3.offset.get());
                // A serving cell that cannot be detected is worse than any neighbour.
                let own = own.map_or(f64::NEG_INFINITY, |own| own.rsrp_dbm);
                let neighbours = filter.cells().iter().filter(|cell| cell.cell != serving);
                let ready = neighbours.filter(|cell| {
                    let enters = cell.rsrp_dbm - hysteresis_db > own + offset_db;
                    self.has_held(now, cell.cell, enters, a3.time_to_trigger)
                });
                let best = ready.reduce(Measurement::stronger);
                self.since.retain(|(id, _)| filter.cell(*id).is_some());
                best.map(|best| best.cell)
            }
            Trigger::A2A4(a2_a4) => {
                let index = |db| u32::from(rsrq_index(db));
                let own = own.map_or(0, |own| index(own.rsrq_db));
                let poor = own < a2_a4.serving;
                if !self.has_held(now, serving, poor, a2_a4.time_to_trigger) {
                    return None;
                }
                let mut best: Option<(u32, CellId)> = None;
                for cell in filter.cells().iter().filter(|cell| cell.cell != serving) {
                    let index = index(cell.rsrq_db);
                    if index > a2_a4.neighbour
                        && best.is_none_or(|(best_index, _)| index > best_index)
                    {
                        best = Some((index, cell.cell));
                    }
                }
                let (index, target) = best?;
                (index >= own + a2_a4.offset).then_some(target)
            }
        }
    }

    /// Returns whether the condition about `cell` has held for `wait`, if it `holds` now.
    fn has_held(&mut self, now: Instant, cell: CellId, holds: bool, wait: Duration) -> bool {
        let entry = self.since.iter().position(|(id, _)| *id == cell);
        match (holds, entry) {
            (false, Some(index)) => {
                self.since.swap_remove(index);
                false
            }
            (false, None) => false,
            (true, Some(index)) => now.saturating_since(self.since[index].1) >= wait,
            (true, None) => {
                self.since.push((cell, now));
                wait.is_zero()
            }
        }
    }
}
