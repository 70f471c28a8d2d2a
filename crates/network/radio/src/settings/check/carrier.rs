//! Checks of the carrier: band, width, duplex and antennas.

use config::{
    FieldError, Quantity, check_choice, check_number, invalid_value, reject, reject_if_set,
};

use super::super::{Band, Modulation, NR_RANGES_MHZ, Radio, SpecialSlot, Technology, Transmit};
use crate::phy::{lte, nr};

const NR_ONLY: &str = "technology \"nr\"";
const LTE_ONLY: &str = "technology \"lte\"";

pub(super) fn check(radio: &Radio) -> Result<(), FieldError> {
    check_technology_fields(radio)?;
    check_alternatives(
        ("frequency", radio.frequency.is_some()),
        ("band", radio.band.is_some()),
    )?;
    check_alternatives(
        ("prbs", radio.prbs.is_some()),
        ("bandwidth", radio.bandwidth.is_some()),
    )?;
    let mhz = checked_centre_mhz(radio)?;
    match radio.technology {
        Technology::Lte => check_lte_width(radio)?,
        Technology::Nr => check_nr_width(radio, mhz)?,
    }
    check_band_width(radio)?;
    check_duplex(radio)?;
    check_antennas(radio)
}

/// Rejects two fields, names and whether they are set, of which only one may be set.
fn check_alternatives(second: (&str, bool), first: (&str, bool)) -> Result<(), FieldError> {
    let ((second, is_second_set), (first, is_first_set)) = (second, first);
    if is_second_set && is_first_set {
        let message = format!("is given beside {first}; allowed: one of the two");
        return reject(second, message);
    }
    Ok(())
}

/// Rejects fields that only the other technology has.
fn check_technology_fields(radio: &Radio) -> Result<(), FieldError> {
    let lte = radio.technology == Technology::Lte;
    if let Some(spacing) = radio.subcarrier_spacing {
        reject_if_set("subcarrier_spacing", lte, spacing.write(), NR_ONLY)?;
    }
    if let Some(tdd) = &radio.tdd {
        reject_if_set("tdd", lte, tdd.letters(), NR_ONLY)?;
    }
    let slot = radio.special_slot;
    let special = radio
        .tdd
        .as_ref()
        .is_some_and(|tdd| tdd.letters().contains('S'));
    reject_if_set(
        "special_slot",
        slot != SpecialSlot::default() && !special,
        slot.write(),
        "a tdd pattern with an S",
    )?;
    let low_rate = radio.modulation == Modulation::LowRate;
    reject_if_set("modulation", lte && low_rate, "64qam-low-rate", NR_ONLY)?;
    if let Some(prbs) = radio.prbs {
        reject_if_set("prbs", !lte, prbs, LTE_ONLY)?;
    }
    let diversity = radio.transmit == Transmit::Diversity;
    reject_if_set("transmit", !lte && diversity, "diversity", LTE_ONLY)
}

/// Returns the centre of the carrier in MHz, if it is allowed.
fn checked_centre_mhz(radio: &Radio) -> Result<f64, FieldError> {
    let Some(carrier) = radio.carrier() else {
        let bands = Band::all(radio.technology).iter();
        let numbers: Vec<String> = bands.map(|band| band.number.to_string()).collect();
        let technology = match radio.technology {
            Technology::Lte => "LTE in FDD",
            Technology::Nr => "NR",
        };
        let message = format!(
            "{} is not a band of {technology} that is known here; allowed: {}, or radio.frequency instead",
            radio.band.unwrap_or_default(),
            numbers.join(", ")
        );
        return Err(FieldError::new("band", message));
    };
    let mhz = carrier.hertz() / 1e6;
    let (allowed, allowed_text): (&[(f64, f64)], _) = match radio.technology {
        Technology::Lte => (&[(410.0, 6_000.0)], "410MHz to 6GHz"),
        Technology::Nr => (&NR_RANGES_MHZ, "410MHz to 7.125GHz, 24.25GHz to 52.6GHz"),
    };
    if allowed
        .iter()
        .any(|(low, high)| (*low..=*high).contains(&mhz))
    {
        return Ok(mhz);
    }
    invalid_value("frequency", carrier.write(), allowed_text).map(|()| mhz)
}

fn check_lte_width(radio: &Radio) -> Result<(), FieldError> {
    if let Some(prbs) = radio.prbs {
        return check_choice("prbs", prbs, &lte::CARRIERS.map(|(_, prbs)| prbs));
    }
    let is_known = |hertz: f64| {
        lte::CARRIERS
            .iter()
            .any(|&(khz, _)| f64::from(khz) * 1e3 == hertz)
    };
    match radio.bandwidth {
        Some(width) if !is_known(width.hertz()) => {
            let allowed = "1.4MHz, 3MHz, 5MHz, 10MHz, 15MHz, 20MHz";
            invalid_value("bandwidth", width.write(), allowed)
        }
        _ => Ok(()),
    }
}

fn check_nr_width(radio: &Radio, mhz: f64) -> Result<(), FieldError> {
    let is_fr2 = mhz >= NR_RANGES_MHZ[1].0;
    let (frequencies, range) = match is_fr2 {
        true => (nr::FrequencyRange::Fr2, "FR2"),
        false => (nr::FrequencyRange::Fr1, "FR1"),
    };
    let widths_by_spacing = [15, 30, 60, 120].map(|khz| (khz, frequencies.widths(khz)));
    let spacing = radio
        .subcarrier_spacing
        .map_or(f64::from(radio.spacing_khz()), |spacing| {
            spacing.hertz() / 1e3
        });
    let widths = widths_by_spacing
        .iter()
        .find(|(khz, widths)| f64::from(*khz) == spacing && !widths.is_empty());
    let Some((khz, widths)) = widths else {
        let with_widths = widths_by_spacing
            .iter()
            .filter(|(_, widths)| !widths.is_empty());
        let names: Vec<String> = with_widths.map(|(khz, _)| format!("{khz}kHz")).collect();
        let allowed = format!("{} in {range}", names.join(", "));
        return invalid_value("subcarrier_spacing", format!("{spacing}kHz"), allowed);
    };
    match radio.width() {
        Some(width)
            if !widths
                .iter()
                .any(|&(mhz, _)| f64::from(mhz) * 1e6 == width.hertz()) =>
        {
            let names: Vec<String> = widths.iter().map(|(mhz, _)| format!("{mhz}MHz")).collect();
            let allowed = format!("{} with {khz}kHz in {range}", names.join(", "));
            invalid_value("bandwidth", width.write(), allowed)
        }
        _ => Ok(()),
    }
}

/// Rejects a carrier that is wider than its band.
fn check_band_width(radio: &Radio) -> Result<(), FieldError> {
    let Some((band, width)) = radio.operating_band().zip(radio.width()) else {
        return Ok(());
    };
    if width <= band.width() {
        return Ok(());
    }
    let allowed = format!("up to the {} of band {}", band.width().write(), band.number);
    let field = match radio.prbs {
        Some(_) => "prbs",
        None => "bandwidth",
    };
    invalid_value(field, width.write(), allowed)
}

fn check_duplex(radio: &Radio) -> Result<(), FieldError> {
    let Some(band) = radio.operating_band() else {
        return Ok(());
    };
    let number = band.number;
    match &radio.tdd {
        None if band.is_tdd => reject(
            "tdd",
            format!("is missing, but band {number} is TDD; allowed: a pattern such as \"DDDSU\""),
        ),
        Some(tdd) => {
            let owner = format!("TDD bands, and band {number} is FDD");
            reject_if_set("tdd", !band.is_tdd, tdd.letters(), owner)
        }
        None => Ok(()),
    }
}

fn check_antennas(radio: &Radio) -> Result<(), FieldError> {
    let max = match radio.technology {
        Technology::Lte => 2,
        Technology::Nr => 4,
    };
    let layers = radio.layers;
    check_number("layers", layers, 1, max)?;
    let diversity = radio.transmit == Transmit::Diversity;
    reject_if_set(
        "transmit",
        diversity && layers > 1,
        "diversity",
        "one layer",
    )?;
    if !(layers..=8).contains(&radio.receive_antennas) {
        let allowed = format!("as many as there are layers, {layers}, up to 8");
        return invalid_value("receive_antennas", radio.receive_antennas, allowed);
    }
    check_number("control_symbols", radio.control_symbols, 1, 3)
}
