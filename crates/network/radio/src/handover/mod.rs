//! Handover of the cell: measurements, triggers, the handover over X2, radio link failure and re-establishment (TS
//! 36.331 clauses 5.3 and 5.5, TS 36.300 clause 10.1.2).
//!
//! [`Mobility`] processes measurements and returns [`Action`]s for the cells.

mod measurement;
mod mobility;
mod monitor;
mod recovery;
mod trigger;

pub use measurement::{CellId, Filter, Measurement};
pub use mobility::{Action, Mobility};
pub use monitor::LinkMonitor;
pub use recovery::Cause;
pub use trigger::TIME_TO_TRIGGER;
