//! Requests, reports and grants.

use units::Bytes;

use super::{changed, decibels, milliseconds, one_of, only_for, power, ttis, within, wrong};
use crate::model::radio::{Access, Radio, Technology, Timer, Uplink};
use crate::validate::Wrong;

/// Periods of scheduling requests in ms (TS 36.213 table 10.1.5-1).
const SR_PERIODS: [u64; 7] = [1, 2, 5, 10, 20, 40, 80];

/// Values of dsr-TransMax (TS 36.331 clause 6.3.2).
const SR_TRANSMISSIONS: [u32; 5] = [4, 8, 16, 32, 64];

/// Values of periodicBSR-Timer in ms, apart from infinity (TS 36.331 clause 6.3.2; TS 38.331 has 1 ms
/// too).
const PERIODIC: [u64; 15] = [
    1, 5, 10, 16, 20, 32, 40, 64, 80, 128, 160, 320, 640, 1_280, 2_560,
];

/// Values of retxBSR-Timer in ms: TS 38.331 clause 6.3.2; TS 36.331 has those from 320 on.
const RETX: [u64; 11] = [10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240];

pub(super) fn check(radio: &Radio) -> Result<(), Wrong> {
    let uplink = &radio.uplink;
    decibels("radio.uplink.sinr", uplink.sinr, -100.0, 100.0)?;
    power("radio.uplink.power", uplink.power)?;
    match uplink.access {
        Access::Granted => granted(radio, uplink),
        Access::Configured => configured(uplink),
    }
}

fn granted(radio: &Radio, uplink: &Uplink) -> Result<(), Wrong> {
    let field = |name: &str| format!("radio.uplink.{name}");
    let tti = radio.tti();
    let (periodic, retx): (&[u64], &[u64]) = match radio.technology {
        Technology::Lte => (&PERIODIC[1..], &RETX[5..]),
        Technology::Nr => (&PERIODIC, &RETX),
    };
    match radio.technology {
        Technology::Lte => one_of(
            field("sr_period"),
            uplink.sr_period,
            &milliseconds(&SR_PERIODS),
        )?,
        Technology::Nr => ttis(field("sr_period"), uplink.sr_period, tti, 1)?,
    }
    if uplink.sr_prohibit > 7 {
        return wrong(field("sr_prohibit"), uplink.sr_prohibit, "0 to 7");
    }
    one_of(
        field("sr_transmissions"),
        uplink.sr_transmissions,
        &SR_TRANSMISSIONS,
    )?;
    if let Timer::After(time) = uplink.periodic_bsr {
        one_of(field("periodic_bsr"), time, &milliseconds(periodic))?;
    }
    one_of(field("retx_bsr"), uplink.retx_bsr, &milliseconds(retx))?;
    let (least, most) = (Bytes::new(10), Bytes::new(100_000));
    within(field("first_grant"), uplink.first_grant, least, most)?;
    if let Some(some) = &uplink.prescheduling {
        ttis(field("prescheduling.interval"), some.interval, tti, 1)?;
        ttis(field("prescheduling.duration"), some.duration, tti, 0)?;
        within(field("prescheduling.grant"), some.grant, least, most)?;
    }
    ttis(field("random_access"), uplink.random_access, tti, 1)
}

/// What is never asked for has no timers.
fn configured(uplink: &Uplink) -> Result<(), Wrong> {
    let set = changed(uplink).into_iter();
    set.filter(|(name, _)| !["access", "sinr", "power"].contains(&name.as_str()))
        .try_for_each(|(name, value)| {
            let field = format!("radio.uplink.{name}");
            only_for(field, true, value, "access \"granted\"")
        })
}
