//! Uplink of one TTI: requests, reports, grants, and transmission on the grants.

use units::Instant;

use super::cell::CellState;
use super::downlink::{VERSIONS, announce, combine, deliver_decoded};
use super::log_records::{BlockRecord, UplinkSignals};
use super::user::{Granted, Repeat, UserState};
use super::{Direction, RanConfig};
use crate::mac::harq::Reception;
use crate::mac::uplink::{GRANT_TO_TRANSMISSION, Signal};
use crate::mac::{headroom, subheader};
use crate::settings::{Access, Technology};

/// TTIs from a scheduling request to the earliest grant that answers it: the base station's processing
/// (TS 36.213 gives both sides four subframes).
const REQUEST_TO_GRANT: u64 = 4;

/// TTIs from a buffer status report without a grant to the earliest grant by it: four for decoding, as for requests, and
/// one to the next control region.
const REPORT_TO_GRANT: u64 = 5;

/// Grants to one UE in one control region: a UE in TDD can do with two (TR 38.822, feature group 3-1), one in FDD has
/// no use for a second one.
const GRANTS_PER_TTI: usize = 2;

/// Runs the uplink of a cell and its users in `tti`, and reports each block to `log_block`.
pub(super) fn run(
    cell: &mut CellState,
    users: &mut [UserState],
    config: &RanConfig,
    (tti, now): (u64, Instant),
    mut log_block: impl FnMut(&mut UserState, BlockRecord),
) {
    cell.expire_uplink(tti);
    cell.signals = UplinkSignals::default();
    let open = config.air.is_uplink(tti);
    for member in cell.members.iter().flatten() {
        let user = &mut users[*member as usize];
        while user.up.feedback(tti).is_some() {}
        if !user.mobility.is_connected() {
            continue;
        }
        send_signals(user, config, (tti, now), &mut cell.signals);
        // A turn while the user does not listen passes.
        user.unasked_due &= user.awake;
        user.unasked_due |=
            user.awake && !config.air.has_control(tti) && is_turn(user, config, tti);
    }
    if open {
        for index in 0..cell.members.len() {
            let Some(id) = cell.members[index] else {
                continue;
            };
            let user = &mut users[id as usize];
            if !user.mobility.is_connected() {
                continue;
            }
            while let Some(process) = next_repeat(user, tti).or_else(|| next_granted(user, tti)) {
                let record = transmit(user, process, cell, config, (tti, now));
                log_block(user, record);
            }
        }
    }
    let configured = config.radio.uplink.access == Access::Configured;
    // A configured grant is used in the TTI itself; any other is given where there is a control channel.
    if configured && !open || !configured && !config.air.has_control(tti) {
        return;
    }
    let mut is_starved = false;
    if configured {
        is_starved |= grant(cell, users, config, (tti, now, tti), &mut log_block);
    } else {
        for target in config.air.granted_by(tti) {
            is_starved |= grant(cell, users, config, (tti, now, target), &mut log_block);
        }
    }
    cell.grants_starved = is_starved && cell.signals.grants == 0;
}

/// Grants the resource blocks of TTI `target` to users in turn. Returns whether a grant found no place in the control
/// region.
fn grant(
    cell: &mut CellState,
    users: &mut [UserState],
    config: &RanConfig,
    (tti, now, target): (u64, Instant, u64),
    mut log_block: impl FnMut(&mut UserState, BlockRecord),
) -> bool {
    let configured = config.radio.uplink.access == Access::Configured;
    let count = cell.members.len();
    let first = if count > 0 {
        cell.uplink_turn % count
    } else {
        0
    };
    let mut is_starved = false;
    for turn in 0..count {
        let index = (first + turn) % count;
        let Some(id) = cell.members[index] else {
            continue;
        };
        let user = &mut users[id as usize];
        if !user.mobility.is_connected() || !configured && !user.awake {
            continue;
        }
        let requested = if configured {
            user.bearer.available(Direction::Up, now)
        } else {
            user.ledger
                .ungranted()
                .max(prescheduled_grant(user, config, tti))
        };
        if requested == 0 {
            continue;
        }
        let granted = |process: usize| user.granted.iter().any(|other| other.process == process);
        let Some(process) = user.up.idle_processes().find(|process| !granted(*process)) else {
            continue;
        };
        let free = config.air.prbs().saturating_sub(cell.uplink_taken(target));
        let free = config.air.uplink_allocation(free);
        let busy = sends(user, target);
        let announced = user
            .granted
            .iter()
            .filter(|granted| granted.announced == tti);
        if free == 0 || busy || announced.count() >= GRANTS_PER_TTI {
            continue;
        }
        if !configured && !announce(&mut cell.control, user, config, tti) {
            user.unasked_due |= is_turn(user, config, tti);
            is_starved = true;
            continue;
        }
        user.unasked_due = false;
        let (mcs, prbs) = allocation(user, requested, free, config, (tti, now));
        cell.take_uplink(target, prbs);
        cell.uplink_turn = index + 1;
        build(user, process, (mcs, prbs), config, (tti, now, target));
        if let Some(drx) = &mut user.drx
            && !configured
        {
            drx.new_transmission(tti);
        }
        cell.signals.grants += u32::from(!configured);
        cell.signals.reports += u32::from(user.up.payload(process).report.is_some());
        if configured {
            let record = transmit(user, process, cell, config, (tti, now));
            log_block(user, record);
        } else {
            user.granted.push_back(Granted {
                announced: tti,
                at: target,
                process,
            });
        }
    }
    is_starved
}

/// Sends scheduling requests, and reports that need no grant.
fn send_signals(
    user: &mut UserState,
    config: &RanConfig,
    (tti, now): (u64, Instant),
    signals: &mut UplinkSignals,
) {
    let Some(reporting) = &mut user.reporting else {
        return;
    };
    reporting.set_buffered(user.bearer.available(Direction::Up, now));
    let signal = reporting.poll(tti);
    // It listens until it has a grant, also in a random access, and after a report that stands for a request.
    if let Some(drx) = &mut user.drx
        && signal.is_some()
    {
        drx.set_request_pending(true);
    }
    match signal {
        Some(Signal::Report(report)) => {
            signals.reports += 1;
            user.reports.push_back((tti, report.bytes));
        }
        Some(Signal::Request) => {
            signals.requests += 1;
            user.requests.push_back(tti + REQUEST_TO_GRANT);
        }
        Some(Signal::RandomAccess) => {
            signals.requests += 1;
            let answer = config.ttis(config.radio.uplink.random_access);
            user.requests.push_back(tti + answer);
        }
        None => {}
    }
    while let Some(&(sent, bytes)) = user.reports.front()
        && sent + REPORT_TO_GRANT <= tti
    {
        user.reports.pop_front();
        // It does not count what grants before it carry, which is under way until four subframes later.
        user.ledger.report(sent + GRANT_TO_TRANSMISSION, bytes);
    }
    while user.requests.front().is_some_and(|&due| due <= tti) {
        user.requests.pop_front();
        let first = config.radio.uplink.first_grant;
        user.ledger.request(first.get());
    }
}

/// Bytes of a grant that the user has not asked for: in its turn, or after a turn without a place in a control region.
fn prescheduled_grant(user: &UserState, config: &RanConfig, tti: u64) -> u64 {
    match &config.radio.uplink.prescheduling {
        Some(some) if is_turn(user, config, tti) || user.unasked_due => some.grant.get(),
        _ => 0,
    }
}

/// Returns whether it is the turn of a user to get a grant that it has not asked for.
fn is_turn(user: &UserState, config: &RanConfig, tti: u64) -> bool {
    let Some(some) = &config.radio.uplink.prescheduling else {
        return false;
    };
    let recent = user
        .last_uplink
        .is_some_and(|last| config.air.tti * (tti - last) <= some.duration);
    // Users come one after the other.
    let turn = (config.air.tti * (tti + u64::from(user.id)))
        .as_nanos()
        .is_multiple_of(some.interval.as_nanos());
    recent && turn && user.granted.is_empty()
}

/// Returns whether the user sends a block in TTI `tti`, as far as that is known. It sends one at a time (TS 38.214
/// clause
/// 6.1).
fn sends(user: &UserState, tti: u64) -> bool {
    user.granted.iter().any(|granted| granted.at == tti)
        || user.repeats.iter().any(|repeat| repeat.at == tti)
}

/// Has a block repeated in the first uplink TTI after the round trip that has room for it.
fn repeat(
    user: &mut UserState,
    process: usize,
    cell: &mut CellState,
    config: &RanConfig,
    tti: u64,
) {
    let prbs = u32::from(user.up.payload(process).prbs);
    let mut earliest = tti + config.harq().round_trip;
    while let Some(at) = config.air.pattern.next_uplink(earliest, 14) {
        if !sends(user, at) && cell.uplink_taken(at) + prbs <= config.air.prbs() {
            cell.take_uplink(at, prbs);
            user.repeats.push_back(Repeat { at, process });
            return;
        }
        earliest = at + 1;
    }
}

fn next_repeat(user: &mut UserState, tti: u64) -> Option<usize> {
    let due = user.repeats.iter().position(|repeat| repeat.at == tti)?;
    user.repeats.remove(due).map(|repeat| repeat.process)
}

fn next_granted(user: &mut UserState, tti: u64) -> Option<usize> {
    let due = user
        .granted
        .front()
        .is_some_and(|granted| granted.at <= tti);
    due.then(|| user.granted.pop_front().map(|granted| granted.process))?
}

/// Returns scheme and resource blocks for this number of bytes.
fn allocation(
    user: &mut UserState,
    requested: u64,
    free: u32,
    config: &RanConfig,
    at: (u64, Instant),
) -> (u8, u32) {
    let formats = &config.air.up;
    let bytes = requested + u64::from(subheader::SHORT_BSR) + 8;
    let max = user.widest_allocation(at, config, free);
    let mut prbs = max;
    let mut mcs = 0;
    // A user spreads its power over the blocks it gets: fewer blocks allow a higher scheme. Twice is
    // enough, as the second answer needs no more blocks than the first.
    for _ in 0..2 {
        mcs = user.uplink_scheme(at, config, prbs);
        prbs = formats.prbs_for(mcs, bytes, max);
    }
    (mcs, prbs)
}

/// Builds the block that a grant received now allows.
fn build(
    user: &mut UserState,
    process: usize,
    (mcs, prbs): (u8, u32),
    config: &RanConfig,
    (tti, now, target): (u64, Instant, u64),
) {
    let format = *config.air.up.get(mcs, prbs);
    let bytes = format.bits / 8;
    let mut room = bytes;
    let mut report = None;
    if let Some(reporting) = &mut user.reporting {
        report = reporting
            .grant(tti, u64::from(bytes))
            .report
            .map(|report| report.bytes);
        if report.is_some() {
            room = bytes.saturating_sub(subheader::SHORT_BSR);
        }
        user.ledger.grant(target, u64::from(bytes));
    }
    let power = user.report_headroom((tti, now), config, (prbs, room));
    if power.is_some() {
        room -= headroom::bytes(config.radio.technology);
    }
    let payload = user.up.new_data(process);
    user.bearer
        .fill(Direction::Up, now, room, &mut payload.block);
    payload.format = Some(format);
    (payload.mcs, payload.prbs) = (mcs, prbs as u16);
    (payload.report, payload.headroom) = (report, power);
    if let Some(reporting) = &mut user.reporting {
        reporting.set_buffered(user.bearer.available(Direction::Up, now));
        if let Some(drx) = &mut user.drx {
            drx.set_request_pending(reporting.awaits_grant());
        }
    }
}

/// Sends a block and finds out whether it arrives.
fn transmit(
    user: &mut UserState,
    process: usize,
    cell: &mut CellState,
    config: &RanConfig,
    (tti, now): (u64, Instant),
) -> BlockRecord {
    let attempts = user.up.attempts(process);
    let payload = user.up.payload(process);
    let (prbs, format) = (payload.prbs, payload.format());
    let sinr_db = user.uplink_sinr_db(now, config, u32::from(prbs));
    let version = VERSIONS[usize::from(attempts) % VERSIONS.len()];
    let mut bler = 0.0;
    let reception = user.up.attempt(tti, process, &user.up_errors, |soft| {
        bler = combine(soft, &format, version, sinr_db);
        bler
    });
    let repeats = config.harq().allows_attempt_after(attempts + 1);
    if reception == Reception::Failed && repeats {
        repeat(user, process, cell, config, tti);
    }
    if let Some(drx) = &mut user.drx {
        // Only a UE of LTE counts its attempts (maxHARQ-Tx, TS 36.321 clause 5.4.2.2).
        let is_last = config.radio.technology == Technology::Lte && !repeats;
        drx.sent(tti, process, is_last);
    }
    deliver_decoded(
        user,
        Direction::Up,
        process,
        reception,
        (tti, config.decoding()),
    );
    user.prbs_now[1] += prbs;
    user.up
        .payload(process)
        .record(attempts + 1, bler, reception)
}
