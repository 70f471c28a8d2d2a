//! Tables by movement, speed, latency, requirement and, where they change in flight, phase.

use config::{FieldError, reject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DecisionInput, Recommendation, break_tie, cca_named, check_cca_name, not_empty};
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
    fn all(&self) -> [(&'static str, &str); 3] {
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
            for (requirement, name) in cell.all() {
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

    pub(super) fn choices(&self) -> Vec<&str> {
        let cells = self
            .cells
            .iter()
            .flat_map(|cell| cell.all().map(|each| each.1));
        let all = self.equals.iter().map(String::as_str).chain(cells);
        all.filter(|name| *name != ANY).collect()
    }

    pub(super) fn has_phases(&self) -> bool {
        self.cells.iter().any(|cell| cell.phase.is_some())
    }

    /// Returns whether the table has a cell; each cell covers all named requirements.
    pub(super) fn supports(&self) -> bool {
        !self.cells.is_empty()
    }

    pub(super) fn has_ties(&self) -> bool {
        let mut all = self.cells.iter().flat_map(Cell::all);
        self.equals.len() > 1 && all.any(|(_, name)| name == ANY)
    }

    /// Returns the recommendation of the cell; `None` if the movement is unknown or the table has no such cell.
    pub(super) fn recommend(&self, input: &DecisionInput<'_>) -> Option<Recommendation> {
        let view = input.view;
        if view.movement.confidence == 0.0 || view.latency.confidence == 0.0 {
            return None;
        }
        let (movement, speed) = (view.movement.value, view.speed.value);
        let (latency, phase) = (view.latency.value, view.phase.value);
        let cell = self.cells.iter().find(|cell| {
            (cell.movement, cell.speed, cell.latency) == (movement, speed, latency)
                && cell.phase.is_none_or(|of| of == phase)
        })?;
        let requirement = input.requirement.nearest_named().to_string();
        let (_, name) = cell.all().into_iter().find(|each| each.0 == requirement)?;
        let to = if name == ANY {
            let tied: Vec<_> = self
                .equals
                .iter()
                .filter_map(|n| cca_named(n).ok())
                .collect();
            break_tie(&tied, input.prefer, input.current_cca)?
        } else {
            cca_named(name).ok()?
        };
        let phase = cell.phase.map_or(String::new(), |of| format!(", {of}"));
        Some(Recommendation {
            to,
            reason: format!("{movement} at {speed} km/h, latency {latency}{phase}: {name}"),
            confidence: view.movement.confidence.min(view.latency.confidence),
        })
    }
}
