//! Quantities: numbers of the texts with units that scenarios print, for Python.

use pyo3::prelude::*;
use scenario::{Buffer, Quantity};
use units::{Bytes, Duration, Rate, Speed};

use crate::error::{Result, reject};

/// Readers of the kinds of quantities, in the base unit of each.
const READERS: [fn(&str) -> Option<f64>; 5] = [
    |text| {
        text.parse()
            .ok()
            .map(|rate: Rate| rate.bits_per_second() as f64)
    },
    |text| {
        text.parse()
            .ok()
            .map(|time: Duration| time.as_nanos() as f64)
    },
    |text| text.parse().ok().map(|size: Bytes| size.get() as f64),
    |text| Speed::read(text).ok().map(Speed::metres_per_second),
    |text| match Buffer::read(text) {
        Ok(Buffer::Packets(packets)) => Some(packets as f64),
        _ => None,
    },
];

/// Returns a quantity such as `"20Mbit/s"` as a number of `unit`; `None` if it is no text of such a quantity.
#[pyfunction]
pub(crate) fn in_unit(text: &Bound<'_, PyAny>, unit: &str) -> Result<Option<f64>> {
    let one_unit = format!("1{unit}");
    let reader = READERS
        .into_iter()
        .find_map(|read| Some((read, read(&one_unit)?)));
    let (read, unit_value) = reader.ok_or_else(|| {
        reject(format!(
            "unit: unknown {unit:?}; allowed: those of rates, times, sizes and speeds, and packets"
        ))
    })?;
    let text = text.extract::<String>().ok();
    Ok(text
        .and_then(|text| read(&text))
        .map(|value| value / unit_value))
}
