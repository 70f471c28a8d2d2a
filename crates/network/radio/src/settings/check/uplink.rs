//! Checks of the uplink: requests, reports and grants.

use config::{
    FieldContext, FieldError, changed_fields, check_choice, check_number, check_range,
    invalid_value, reject_if_set,
};
use units::{Bytes, Decibel, Power, Quantity};

use super::super::{Access, HeadroomReports, Radio, Technology, Timer, Uplink};
use super::{check_decibels, check_power, check_ttis, milliseconds};
use crate::mac::uplink::{NR_PERIODIC_BSR, NR_RETX_BSR, PERIODIC_BSR, RETX_BSR};

/// Periods of scheduling requests in ms (TS 36.213 table 10.1.5-1).
const SR_PERIODS: [u64; 7] = [1, 2, 5, 10, 20, 40, 80];

/// Values of dsr-TransMax (TS 36.331 clause 6.3.2).
const SR_TRANSMISSIONS: [u32; 5] = [4, 8, 16, 32, 64];

/// Values of alpha (TS 36.331 clause 6.3.2, UplinkPowerControlCommon; TS 38.331 clause 6.3.2, Alpha).
const ALPHA: [f64; 8] = [0.0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// Values of periodicPHR-Timer, apart from infinity, in ms (TS 36.331 clause 6.3.2, MAC-MainConfig; NR has the same).
const HEADROOM_PERIODIC: [u64; 7] = [10, 20, 50, 100, 200, 500, 1_000];

/// Values of prohibitPHR-Timer in ms (same clause).
const HEADROOM_PROHIBIT: [u64; 8] = [0, 10, 20, 50, 100, 200, 500, 1_000];

/// Values of dl-PathlossChange, apart from infinity, in dB (same clause).
const PATH_LOSS_CHANGES: [f64; 3] = [1.0, 3.0, 6.0];

pub(super) fn check(radio: &Radio) -> Result<(), FieldError> {
    let uplink = &radio.uplink;
    check_decibels("sinr", uplink.sinr, -100.0, 100.0)?;
    check_power("power", uplink.power)?;
    let p0 = [-202.0, 24.0].map(Power::from_dbm);
    check_range("p0", uplink.p0, p0[0], p0[1])?;
    check_choice("alpha", uplink.alpha, &ALPHA)?;
    match uplink.access {
        Access::Granted => check_granted(radio, uplink),
        Access::Configured => check_configured(uplink),
    }
}

fn check_granted(radio: &Radio, uplink: &Uplink) -> Result<(), FieldError> {
    let tti = radio.tti();
    let (periodic, retx): (&[u64], &[u64]) = match radio.technology {
        Technology::Lte => (&PERIODIC_BSR, &RETX_BSR),
        Technology::Nr => (&NR_PERIODIC_BSR, &NR_RETX_BSR),
    };
    match radio.technology {
        Technology::Lte => check_choice("sr_period", uplink.sr_period, &milliseconds(&SR_PERIODS))?,
        Technology::Nr => check_ttis("sr_period", uplink.sr_period, tti, 1)?,
    }
    check_number("sr_prohibit", uplink.sr_prohibit, 0, 7)?;
    check_choice(
        "sr_transmissions",
        uplink.sr_transmissions,
        &SR_TRANSMISSIONS,
    )?;
    if let Timer::After(time) = uplink.periodic_bsr {
        check_choice("periodic_bsr", time, &milliseconds(periodic))?;
    }
    check_choice("retx_bsr", uplink.retx_bsr, &milliseconds(retx))?;
    let (min, max) = (Bytes::new(10), Bytes::new(100_000));
    check_range("first_grant", uplink.first_grant, min, max)?;
    if let Some(prescheduling) = &uplink.prescheduling {
        check_ttis("prescheduling.interval", prescheduling.interval, tti, 1)?;
        check_ttis("prescheduling.duration", prescheduling.duration, tti, 0)?;
        check_range("prescheduling.grant", prescheduling.grant, min, max)?;
    }
    check_headroom(&uplink.headroom).in_table("headroom")?;
    check_ttis("random_access", uplink.random_access, tti, 1)
}

fn check_headroom(reports: &HeadroomReports) -> Result<(), FieldError> {
    if let Timer::After(time) = reports.periodic {
        check_choice("periodic", time, &milliseconds(&HEADROOM_PERIODIC))?;
    }
    check_choice(
        "prohibit",
        reports.prohibit,
        &milliseconds(&HEADROOM_PROHIBIT),
    )?;
    let change = reports.path_loss_change;
    if PATH_LOSS_CHANGES.contains(&change.get()) {
        return Ok(());
    }
    let allowed = PATH_LOSS_CHANGES.map(|db| Decibel::new(db).write());
    invalid_value("path_loss_change", change.write(), allowed.join(", "))
}

/// Rejects settings of requests, reports and grants with configured grants.
fn check_configured(uplink: &Uplink) -> Result<(), FieldError> {
    let set = changed_fields(uplink).into_iter();
    set.filter(|(name, _)| !["access", "sinr", "power", "p0", "alpha"].contains(&name.as_str()))
        .try_for_each(|(name, value)| reject_if_set(name, true, value, "access \"granted\""))
}
