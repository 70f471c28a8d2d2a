//! Check that the tables of a run fit in memory.

use config::{FieldError, Quantity, invalid_value};
use results::{Samples as SampleTable, Slots};
use units::Duration;

use crate::model::{Samples, Scenario};

/// Memory of a row of the table `slots`, and of a sample, bytes: columns double their room as they grow.
const SLOT: u64 = 2 * Slots::ROW_BYTES;
const SAMPLE: u64 = 2 * SampleTable::ROW_BYTES;
/// Memory of a connection, bytes.
const CONNECTION: u64 = 16_384;

/// Checks that slots, samples and connections make no more rows than fit in memory.
pub(super) fn check(scenario: &Scenario) -> Result<(), FieldError> {
    let flows = &scenario.expand_flows().flows;
    let connections: u64 = flows.iter().map(|flow| u64::from(flow.count)).sum();
    let most = scenario.limits.memory.get();
    let allowed = |bytes| allowed(bytes, most);
    let times = |interval: Duration| scenario.duration.as_nanos() / interval.as_nanos().max(1);
    let needs = |rows: u64, size: u64| rows.saturating_mul(connections).saturating_mul(size);
    let crowd = needs(1, CONNECTION);
    if crowd > most {
        let counts = scenario.flows.iter().enumerate();
        if let Some((number, flow)) = counts.max_by_key(|(_, flow)| flow.count) {
            let field = format!("flows.{number}.count");
            return invalid_value(&field, flow.count, allowed(crowd));
        }
    }
    let slots = needs(times(scenario.slot), SLOT);
    if slots > most {
        return invalid_value("slot", scenario.slot.write(), allowed(slots));
    }
    if let Samples::Interval(interval) = scenario.samples {
        let samples = needs(times(interval), SAMPLE);
        if samples > most {
            return invalid_value("samples", interval.write(), allowed(samples));
        }
    }
    Ok(())
}

fn allowed(bytes: u64, most: u64) -> String {
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    format!(
        "values with which the rows of a run take up to {:.1} GB (limits.memory), not {:.1} GB",
        gigabytes(most),
        gigabytes(bytes)
    )
}
