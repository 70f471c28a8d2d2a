//! Uplink of one TTI: requests, reports, grants, and transmission on the grants.

use units::Instant;

use super::cell::CellState;
use super::downlink::{VERSIONS, combine, place_message, queue_decoded};
use super::log_records::{BlockRecord, UplinkSignals};
use super::user::{Granted, Retransmission, UserState};
use super::{Direction, RanConfig};
use crate::mac::harq::Reception;
use crate::mac::uplink::{GRANT_TO_TRANSMISSION, Signal};
use crate::mac::{headroom, subheader};
use crate::phy::SYMBOLS_PER_SLOT;
use crate::settings::{Access, Technology};

/// Bytes of a grant beyond the requested data and a report, for headers.
const HEADER_BYTES: u64 = 8;

/// TTIs from a scheduling request to the earliest grant that answers it: the base station's processing
/// (TS 36.213 gives both sides four subframes).
const REQUEST_TO_GRANT: u64 = 4;

/// TTIs from a buffer status report that a UE sends without a grant (protocol of Kim 2016) to the earliest grant by it:
/// four for decoding, as for requests, and one to the next control region.
const REPORT_TO_GRANT: u64 = 5;

/// Maximum number of grants to one UE in one control region: a UE in TDD supports two (TR 38.822, feature group 3-1); in
/// FDD there is no use for a second one.
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
    let is_uplink = config.air.is_uplink(tti);
    for member in cell.members.iter().flatten() {
        let user = &mut users[*member as usize];
        // Each call updates a process; the result is not needed here.
        while user.up.feedback(tti).is_some() {}
        if !user.mobility.is_connected() {
            continue;
        }
        send_signals(user, config, (tti, now), &mut cell.signals);
        // A turn in which the user does not listen is lost.
        user.is_prescheduled_grant_due &= user.is_awake;
        user.is_prescheduled_grant_due |=
            user.is_awake && !config.air.has_control(tti) && is_turn(user, config, tti);
    }
    if is_uplink {
        for index in 0..cell.members.len() {
            let Some(id) = cell.members[index] else {
                continue;
            };
            let user = &mut users[id as usize];
            if !user.mobility.is_connected() {
                continue;
            }
            while let Some(process) =
                next_retransmission(user, tti).or_else(|| next_granted(user, tti))
            {
                let record = transmit(user, process, cell, config, (tti, now));
                log_block(user, record);
            }
        }
    }
    let configured = config.radio.uplink.access == Access::Configured;
    // A configured grant is used in the TTI itself; any other is given where there is a control channel.
    if configured && !is_uplink || !configured && !config.air.has_control(tti) {
        return;
    }
    let mut is_starved = false;
    if configured {
        is_starved |= grant(cell, users, config, (tti, now, tti), &mut log_block);
    } else {
        for target in config.air.grantable_ttis(tti) {
            is_starved |= grant(cell, users, config, (tti, now, target), &mut log_block);
        }
    }
    cell.grants_starved = is_starved && cell.signals.grants == 0;
}

/// Grants the resource blocks of TTI `target` to users in turn. Returns whether the control region had no room for a
/// grant.
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
        if !user.mobility.is_connected() || !configured && !user.is_awake {
            continue;
        }
        let requested = if configured {
            user.bearer.available(Direction::Up, now)
        } else {
            user.grant_account
                .ungranted()
                .max(prescheduled_grant(user, config, tti))
        };
        if requested == 0 {
            continue;
        }
        let has_grant = |process: usize| user.granted.iter().any(|other| other.process == process);
        let Some(process) = user
            .up
            .idle_processes()
            .find(|process| !has_grant(*process))
        else {
            continue;
        };
        let free = config
            .air
            .prbs()
            .saturating_sub(cell.allocated_uplink(target));
        let free = config.air.uplink_allocation(free);
        let busy = is_sending(user, target);
        let announced = user
            .granted
            .iter()
            .filter(|granted| granted.announced == tti);
        if free == 0 || busy || announced.count() >= GRANTS_PER_TTI {
            continue;
        }
        if !configured && !place_message(&mut cell.control, user, config, tti) {
            user.is_prescheduled_grant_due |= is_turn(user, config, tti);
            is_starved = true;
            continue;
        }
        user.is_prescheduled_grant_due = false;
        let (mcs, prbs) = allocation(user, requested, free, config, (tti, now));
        cell.allocate_uplink(target, prbs);
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

/// Sends scheduling requests, and reports without a grant.
fn send_signals(
    user: &mut UserState,
    config: &RanConfig,
    (tti, now): (u64, Instant),
    signals: &mut UplinkSignals,
) {
    let Some(bsr_reporter) = &mut user.bsr_reporter else {
        return;
    };
    bsr_reporter.set_buffered(user.bearer.available(Direction::Up, now));
    let signal = bsr_reporter.poll(tti);
    // The user listens until it has a grant, also in a random access, and after a report without a grant.
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
            let delay = config.ttis(config.radio.uplink.random_access);
            user.requests.push_back(tti + delay);
        }
        None => {}
    }
    while let Some(&(sent, bytes)) = user.reports.front()
        && sent + REPORT_TO_GRANT <= tti
    {
        user.reports.pop_front();
        // The report leaves out the data of grants that came before it, whose blocks are sent up to four subframes later.
        user.grant_account
            .report(sent + GRANT_TO_TRANSMISSION, bytes);
    }
    while user.requests.front().is_some_and(|&due| due <= tti) {
        user.requests.pop_front();
        let first = config.radio.uplink.first_grant;
        user.grant_account.request(first.get());
    }
}

/// Returns the bytes of a grant that the user has not requested: in its turn, or after a turn without room in a control region.
fn prescheduled_grant(user: &UserState, config: &RanConfig, tti: u64) -> u64 {
    match &config.radio.uplink.prescheduling {
        Some(prescheduling) if is_turn(user, config, tti) || user.is_prescheduled_grant_due => {
            prescheduling.grant.get()
        }
        _ => 0,
    }
}

/// Returns whether it is the turn of a user to get a grant without a request.
fn is_turn(user: &UserState, config: &RanConfig, tti: u64) -> bool {
    let Some(prescheduling) = &config.radio.uplink.prescheduling else {
        return false;
    };
    let recent = user
        .last_uplink
        .is_some_and(|last| config.air.tti * (tti - last) <= prescheduling.duration);
    // The turns of users are in consecutive TTIs.
    let turn = (config.air.tti * (tti + u64::from(user.id)))
        .as_nanos()
        .is_multiple_of(prescheduling.interval.as_nanos());
    recent && turn && user.granted.is_empty()
}

/// Returns whether the user sends a block in TTI `tti`, as far as that is known. It sends one at a time (TS 38.214
/// clause 6.1).
fn is_sending(user: &UserState, tti: u64) -> bool {
    user.granted.iter().any(|granted| granted.at == tti)
        || user.retransmissions.iter().any(|block| block.at == tti)
}

/// Schedules the retransmission of a block in the first uplink TTI after the round trip that has room for it.
fn schedule_retransmission(
    user: &mut UserState,
    process: usize,
    cell: &mut CellState,
    config: &RanConfig,
    tti: u64,
) {
    let prbs = u32::from(user.up.payload(process).prbs);
    let mut earliest = tti + config.harq().round_trip;
    while let Some(at) = config.air.pattern.next_uplink(earliest, SYMBOLS_PER_SLOT) {
        if !is_sending(user, at) && cell.allocated_uplink(at) + prbs <= config.air.prbs() {
            cell.allocate_uplink(at, prbs);
            user.retransmissions
                .push_back(Retransmission { at, process });
            return;
        }
        earliest = at + 1;
    }
}

/// Removes and returns the process that is retransmitted in `tti`.
fn next_retransmission(user: &mut UserState, tti: u64) -> Option<usize> {
    let due = user
        .retransmissions
        .iter()
        .position(|block| block.at == tti)?;
    user.retransmissions.remove(due).map(|block| block.process)
}

/// Removes and returns the process with a grant for `tti`.
fn next_granted(user: &mut UserState, tti: u64) -> Option<usize> {
    let due = user
        .granted
        .front()
        .is_some_and(|granted| granted.at <= tti);
    due.then(|| user.granted.pop_front().map(|granted| granted.process))?
}

/// Returns scheme and number of resource blocks for the requested bytes.
fn allocation(
    user: &mut UserState,
    requested: u64,
    free: u32,
    config: &RanConfig,
    at: (u64, Instant),
) -> (u8, u32) {
    let formats = &config.air.up;
    let bytes = requested + u64::from(subheader::SHORT_BSR) + HEADER_BYTES;
    let max = user.best_allocation(at, config, free);
    let mut prbs = max;
    let mut mcs = 0;
    // A user spreads its power over the blocks it gets: fewer blocks allow a higher scheme. Two
    // rounds are enough, as the second one needs no more blocks than the first.
    for _ in 0..2 {
        mcs = user.uplink_scheme(at, config, prbs);
        prbs = formats.prbs_for(mcs, bytes, max);
    }
    (mcs, prbs)
}

/// Builds the block of a grant that is received now, for TTI `target`.
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
    if let Some(bsr_reporter) = &mut user.bsr_reporter {
        report = bsr_reporter
            .grant(tti, u64::from(bytes))
            .report
            .map(|report| report.bytes);
        if report.is_some() {
            room = bytes.saturating_sub(subheader::SHORT_BSR);
        }
        user.grant_account.grant(target, u64::from(bytes));
    }
    let power = user.take_headroom_report((tti, now), config, (prbs, room));
    if power.is_some() {
        room -= headroom::bytes(config.radio.technology);
    }
    let payload = user.up.new_data(process);
    user.bearer
        .fill(Direction::Up, now, room, &mut payload.block);
    payload.format = Some(format);
    (payload.mcs, payload.prbs) = (mcs, prbs as u16);
    (payload.report, payload.headroom) = (report, power);
    if let Some(bsr_reporter) = &mut user.bsr_reporter {
        bsr_reporter.set_buffered(user.bearer.available(Direction::Up, now));
        if let Some(drx) = &mut user.drx {
            drx.set_request_pending(bsr_reporter.awaits_grant());
        }
    }
}

/// Sends a block and draws whether it is decoded.
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
    let may_retransmit = config.harq().allows_attempt_after(attempts + 1);
    if reception == Reception::Failed && may_retransmit {
        schedule_retransmission(user, process, cell, config, tti);
    }
    if let Some(drx) = &mut user.drx {
        // Only a UE of LTE counts its attempts (maxHARQ-Tx, TS 36.321 clause 5.4.2.2).
        let is_last = config.radio.technology == Technology::Lte && !may_retransmit;
        drx.sent(tti, process, is_last);
    }
    queue_decoded(
        user,
        Direction::Up,
        process,
        reception,
        (tti, config.decoding()),
    );
    user.prbs_now[Direction::Up as usize] += prbs;
    user.up
        .payload(process)
        .record(attempts + 1, bler, reception)
}
