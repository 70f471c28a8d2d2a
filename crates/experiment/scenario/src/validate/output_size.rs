//! Check that the tables of a run fit in memory.

use config::{FieldError, Quantity, invalid_value};
use results::{Samples as SampleTable, Slots};
use units::Duration;

use crate::model::{Samples, Scenario};

/// Memory of a row of the tables `slots` and `samples`, twice its size: the capacity of a growing column doubles.
const SLOT_BYTES: u64 = 2 * Slots::ROW_BYTES;
const SAMPLE_BYTES: u64 = 2 * SampleTable::ROW_BYTES;
/// Memory of a connection.
const CONNECTION_BYTES: u64 = 16_384;

/// Checks that the rows of all slots, samples and connections fit in memory.
pub(super) fn check(scenario: &Scenario) -> Result<(), FieldError> {
    let flows = &scenario.expand_flows().flows;
    let connections: u64 = flows.iter().map(|flow| u64::from(flow.count)).sum();
    let max_bytes = scenario.limits.memory.get();
    let allowed = |bytes| allowed(bytes, max_bytes);
    let rows_at = |interval: Duration| scenario.duration.as_nanos() / interval.as_nanos().max(1);
    let bytes_of =
        |rows: u64, row_bytes: u64| rows.saturating_mul(connections).saturating_mul(row_bytes);
    let connection_bytes = bytes_of(1, CONNECTION_BYTES);
    if connection_bytes > max_bytes {
        let counts = scenario.flows.iter().enumerate();
        if let Some((number, flow)) = counts.max_by_key(|(_, flow)| flow.count) {
            let field = format!("flows.{number}.count");
            return invalid_value(&field, flow.count, allowed(connection_bytes));
        }
    }
    let slot_bytes = bytes_of(rows_at(scenario.slot), SLOT_BYTES);
    if slot_bytes > max_bytes {
        return invalid_value("slot", scenario.slot.write(), allowed(slot_bytes));
    }
    if let Samples::Interval(interval) = scenario.samples {
        let sample_bytes = bytes_of(rows_at(interval), SAMPLE_BYTES);
        if sample_bytes > max_bytes {
            return invalid_value("samples", interval.write(), allowed(sample_bytes));
        }
    }
    Ok(())
}

fn allowed(bytes: u64, max_bytes: u64) -> String {
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    format!(
        "values with which the rows of a run take up to {:.1} GB (limits.memory), not {:.1} GB",
        gigabytes(max_bytes),
        gigabytes(bytes)
    )
}
