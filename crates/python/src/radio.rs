//! Radio for Python: link adaptation, mean SINR, and phone logs.

use std::path::PathBuf;

use ::radio::channel::PhoneLog;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use scenario::radio::{SignalSource, Sinr, Ue};

use crate::error::{Error, Result, reject};

/// Returns the link adaptation of the downlink of the scenario that `text` holds: `cqi_sinr_db`, the effective SINR in
/// dB that each CQI from 1 on needs, `bits_per_symbol` of each modulation and coding scheme, `tti_s` and
/// `cqi_period_ttis`.
#[pyfunction]
pub(crate) fn link_adaptation<'py>(py: Python<'py>, text: &str) -> Result<Bound<'py, PyDict>> {
    let scenario = scenario::Scenario::from_toml(text, "scenario", &[])?;
    let radio = scenario.radio.as_ref().ok_or_else(|| no_radio(&scenario))?;
    let air = radio.air_interface()?;
    let adaptation = air.adaptation();
    let thresholds: Vec<f64> = (1..=15).map(|cqi| adaptation.sinr_db_of_cqi(cqi)).collect();
    let bits: Vec<u32> = air
        .modulations()
        .map(::radio::phy::Modulation::bits_per_symbol)
        .collect();
    let fields = PyDict::new(py);
    fields.set_item("cqi_sinr_db", thresholds)?;
    fields.set_item("bits_per_symbol", bits)?;
    fields.set_item("tti_s", air.tti().as_secs_f64())?;
    let period = radio.downlink.cqi_period.as_nanos() / air.tti().as_nanos();
    fields.set_item("cqi_period_ttis", period)?;
    Ok(fields)
}

/// Returns the mean SINR of the phone in the scenario that `text` holds: points of time in s and SINR in dB, with
/// straight lines between them.
#[pyfunction]
pub(crate) fn mean_sinr(text: &str) -> Result<Vec<(f64, f64)>> {
    let scenario = scenario::Scenario::from_toml(text, "scenario", &[])?;
    let radio = scenario.radio.as_ref().ok_or_else(|| no_radio(&scenario))?;
    let phone = radio.ues.iter().find(|ue| ue.name == "phone");
    match phone.map(Ue::signal_source) {
        Some(SignalSource::Sinr(Sinr::Constant(ratio))) => Ok(vec![(0.0, ratio.get())]),
        Some(SignalSource::Sinr(Sinr::Points(points))) => Ok(points
            .iter()
            .map(|point| (point.at.as_secs_f64(), point.sinr.get()))
            .collect()),
        _ => Err(reject(format!(
            "scenario {:?}: the mean SINR of the phone is not written as sinr in it: allowed is a ratio or a \
             list of points",
            scenario.name
        ))),
    }
}

/// Time in s, network, SNR in dB, CQI.
type LoggedSecond = (f64, String, Option<f64>, Option<u8>);

/// Returns the rows of the phone log in `file`, one per second: time in s, network such as `LTE`, SNR in dB and CQI
/// where they are known.
#[pyfunction]
pub(crate) fn phone_log(file: PathBuf) -> Result<Vec<LoggedSecond>> {
    let name = file.display().to_string();
    let text =
        std::fs::read_to_string(&file).map_err(|error| reject(format!("{name}: {error}")))?;
    let log = PhoneLog::read(&name, &text)?;
    Ok(log
        .samples()
        .iter()
        .map(|sample| {
            let at = sample.at.as_nanos() as f64 * 1e-9;
            (at, sample.network.clone(), sample.snr_db, sample.cqi)
        })
        .collect())
}

/// Returns the error for a scenario without a radio.
pub(crate) fn no_radio(scenario: &scenario::Scenario) -> Error {
    reject(format!(
        "scenario {:?} has no radio: its access link is path.down and path.up",
        scenario.name
    ))
}
