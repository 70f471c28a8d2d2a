//! Tables by movement, speed, latency, requirement and, where they switch running connections, phase.

use config::{FieldError, reject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    DecisionInput, Recommendation, break_tie, canonical_cca, check_cca_name, known_ccas, not_empty,
};
use crate::estimate::{Latency, Movement, Phase, Speed};

/// Entry of a cell that stands for several equally good CCAs.
const ANY: &str = "*";

/// Table of CCAs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// CCAs that an asterisk stands for.
    pub equals: Vec<String>,
    /// Cells of the table.
    pub cells: Vec<Cell>,
}

/// Cell: the CCA for each requirement in one situation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Movement of the radio quality.
    pub movement: Movement,
    /// Class of the speed.
    pub speed: Speed,
    /// Class of the latency.
    pub latency: Latency,
    /// Phase; absent if the cell holds for any phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// CCA for the requirement goodput; an asterisk stands for the CCAs in `equals`.
    pub goodput: String,
    /// CCA for the requirement balanced.
    pub balanced: String,
    /// CCA for the requirement delay.
    pub delay: String,
}

impl Cell {
    /// Returns each requirement with its CCA.
    fn entries(&self) -> [(&'static str, &str); 3] {
        [
            ("goodput", &self.goodput),
            ("balanced", &self.balanced),
            ("delay", &self.delay),
        ]
    }
}

impl Table {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        not_empty("method.table.cells", &self.cells, "cell")?;
        for (number, name) in self.equals.iter().enumerate() {
            check_cca_name(format!("method.table.equals[{number}]"), name)?;
        }
        for (number, cell) in self.cells.iter().enumerate() {
            for (requirement, name) in cell.entries() {
                let field = format!("method.table.cells[{number}].{requirement}");
                if name != ANY {
                    check_cca_name(field, name)?;
                } else if self.equals.is_empty() {
                    let reason = "\"*\" stands for no CCA, as method.table.equals is empty; allowed: \
                                  a congestion control";
                    return reject(field, reason);
                }
            }
        }
        Ok(())
    }

    pub(super) fn candidates(&self) -> Vec<&str> {
        let entries = self.cells.iter().flat_map(Cell::entries);
        let equals = self.equals.iter().map(String::as_str);
        let all = equals.chain(entries.map(|(_, cca)| cca));
        all.filter(|cca| *cca != ANY).collect()
    }

    pub(super) fn has_phases(&self) -> bool {
        self.cells.iter().any(|cell| cell.phase.is_some())
    }

    pub(super) fn has_ties(&self) -> bool {
        let mut entries = self.cells.iter().flat_map(Cell::entries);
        self.equals.len() > 1 && entries.any(|(_, cca)| cca == ANY)
    }

    /// Returns the recommendation of the cell; `None` if the movement is unknown or the table has no such cell.
    pub(super) fn recommend(&self, input: &DecisionInput<'_>) -> Option<Recommendation> {
        let estimates = input.estimates;
        if estimates.movement.confidence == 0.0 || estimates.latency.confidence == 0.0 {
            return None;
        }
        let (movement, speed) = (estimates.movement.value, estimates.speed.value);
        let (latency, phase) = (estimates.latency.value, estimates.phase.value);
        let cell = self.cells.iter().find(|cell| {
            (cell.movement, cell.speed, cell.latency) == (movement, speed, latency)
                && cell.phase.is_none_or(|cell_phase| cell_phase == phase)
        })?;
        let requirement = input.requirement.nearest_named().kind();
        let mut entries = cell.entries().into_iter();
        let (_, name) = entries.find(|(named, _)| *named == requirement)?;
        let cca = if name == ANY {
            let tied = known_ccas(&self.equals);
            break_tie(&tied, input.prefer, input.current_cca)?
        } else {
            canonical_cca(name).ok()?
        };
        let phase = cell
            .phase
            .map_or(String::new(), |phase| format!(", {phase}"));
        Some(Recommendation {
            cca,
            reason: format!("{movement} at {speed} km/h, latency {latency}{phase}: {name}"),
            confidence: estimates
                .movement
                .confidence
                .min(estimates.latency.confidence),
        })
    }
}
