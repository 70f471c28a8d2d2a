//! Downlink of one TTI: scheduling, transmission of blocks, and their reception.

use units::Instant;

use super::air_interface::Formats;
use super::cell::CellState;
use super::log_records::BlockRecord;
use super::user::{Decoded, UserState};
use super::{Direction, RanConfig};
use crate::mac::harq::{Feedback, Reception};
use crate::mac::pdcch::{Aggregation, Pdcch};
use crate::mac::scheduler::{Demand, Rates, UNUSED, usable_rate};
use crate::phy::{Modulation, TransportFormat, effective_sinr_mi};

/// Redundancy versions in the order in which they are sent (TS 36.321 clause 5.4.2.2).
pub(super) const VERSIONS: [u8; 4] = [0, 2, 3, 1];

/// RLC, PDCP and MAC headers that a small packet needs in addition to its bytes.
const HEADERS: u64 = 8;

/// A transport block that a cell sends in this TTI.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScheduledBlock {
    pub(super) user: usize,
    process: usize,
    /// Groups of resource blocks, a bit each.
    groups: u64,
}

/// Schedules and sends the blocks of a cell in `tti`; returns the resource blocks used.
pub(super) fn schedule(
    cell: &mut CellState,
    users: &mut [UserState],
    config: &RanConfig,
    (tti, now): (u64, Instant),
    scheduled: &mut Vec<ScheduledBlock>,
) -> u32 {
    let Some(formats) = config.air.downlink(tti) else {
        return 0;
    };
    let carrier_prbs = config.air.prbs();
    let groups = config.air.group_prbs.len();
    let subband_rule = config.subband_rule();
    cell.demands.clear();
    cell.rates.clear();
    let mut is_anyone_available = false;
    for member in &cell.members {
        let user = member.map(|user| &mut users[user as usize]);
        let demand = user.map_or_else(Demand::default, |user| {
            // The rate precedes the feedback that `demand` processes.
            let offset_db = user.offset_db();
            let demand = demand(user, tti, now);
            // The rate of a user without data is not needed.
            if demand.available {
                let rate =
                    |mcs: u8| formats.get(mcs, carrier_prbs).bits as f32 / carrier_prbs as f32;
                match (
                    user.scheme_with_offset(tti, (formats, carrier_prbs), config, offset_db),
                    subband_rule,
                ) {
                    (Some((_, mcs)), None) => cell.rates.push(rate(mcs)),
                    (Some(_), Some(_)) => {
                        user.push_subband_rates(tti, formats, config, &mut cell.rates);
                    }
                    (None, _) => {}
                }
            }
            demand
        });
        // One rate, or one per group, also without a report.
        let count = cell.demands.len() + 1;
        let per_user = if subband_rule.is_some() { groups } else { 1 };
        cell.rates.resize(count * per_user, 0.0);
        is_anyone_available |= demand.available;
        cell.demands.push(demand);
    }
    if !is_anyone_available {
        return 0;
    }
    let rates = if subband_rule.is_some() {
        Rates::Subband(&cell.rates)
    } else {
        Rates::Wideband(&cell.rates)
    };
    let (control, members) = (&mut cell.control, &cell.members);
    let place = |index: usize| {
        let Some(user) = members[index] else {
            return false;
        };
        place_message(control, &mut users[user as usize], config, tti)
    };
    cell.scheduler
        .assign(&cell.demands, rates, place, &mut cell.assignment);
    cell.shares.clear();
    cell.shares.resize(cell.members.len(), (0, 0));
    for (group, &owner) in cell.assignment.iter().enumerate() {
        if owner != UNUSED {
            let (mask, prbs) = &mut cell.shares[usize::from(owner)];
            *mask |= 1 << group;
            *prbs += u32::from(config.air.group_prbs[group]);
        }
    }
    let mut used_prbs = 0;
    for index in 0..cell.members.len() {
        let (mask, prbs) = cell.shares[index];
        let Some(id) = cell.members[index].filter(|_| mask != 0) else {
            continue;
        };
        let user = &mut users[id as usize];
        let process = match user.down.retransmission(tti) {
            Some(process) => Some(process),
            None => {
                let rate = subband_rule.map(|rule| {
                    let rates = &cell.rates[index * groups..(index + 1) * groups];
                    usable_rate(
                        rule,
                        index as u16,
                        &cell.assignment,
                        rates,
                        &config.air.group_prbs,
                    )
                });
                fill(user, (tti, now), (formats, prbs, rate), config)
            }
        };
        let Some(process) = process else {
            continue;
        };
        used_prbs += prbs;
        (user.prbs_now[0], user.groups_now) = (prbs as u16, mask);
        scheduled.push(ScheduledBlock {
            user: id as usize,
            process,
            groups: mask,
        });
    }
    used_prbs
}

/// Places a message for the user in the control region, if there is room. The worse the channel of the user, the more
/// elements it needs.
pub(super) fn place_message(
    control: &mut Pdcch,
    user: &mut UserState,
    config: &RanConfig,
    tti: u64,
) -> bool {
    control.place(user.id as u16 + 1, aggregation(user, config, tti))
}

/// Returns the size of a control message to the user, by its latest report.
fn aggregation(user: &mut UserState, config: &RanConfig, tti: u64) -> Aggregation {
    let report = user.reporter.latest(tti);
    let cqi = report.map_or(0, |report| report.wideband);
    let sinr_db = config.air.down.adaptation.sinr_db_of_cqi(cqi);
    config.air.control.aggregation(sinr_db)
}

/// Returns whether the user misses the message about a block. Its `sinr_db` must be up to date.
fn misses_assignment(user: &mut UserState, config: &RanConfig, tti: u64) -> bool {
    if config.radio.downlink.control_errors.is_none() {
        return false;
    }
    let sinr_db = effective_sinr_mi(&user.sinr_db, Modulation::Qpsk);
    let aggregation = aggregation(user, config, tti);
    let error_rate = config.air.control.miss_rate(aggregation, sinr_db);
    user.down_errors.misses_control(tti, error_rate)
}

/// Processes the feedback that has arrived, and returns the demand of a user.
fn demand(user: &mut UserState, tti: u64, now: Instant) -> Demand {
    while let Some((process, feedback)) = user.down.feedback(tti) {
        if user.down.attempts(process) == 1
            && let Some(outer) = &mut user.outer_loop
        {
            outer.on_first_transmission(feedback == Feedback::Acknowledged);
        }
    }
    let retransmission = user.down.retransmission(tti);
    let reported = user
        .reporter
        .latest(tti)
        .is_some_and(|report| report.wideband > 0);
    let bytes = if reported && user.down.idle_process().is_some() {
        user.bearer.available(Direction::Down, now)
    } else {
        0
    };
    Demand {
        bits: if bytes > 0 { 8 * (bytes + HEADERS) } else { 0 },
        retransmission_prbs: retransmission.map_or(0, |process| user.down.payload(process).prbs),
        available: user.is_awake
            && user.mobility.is_connected()
            && (retransmission.is_some() || bytes > 0),
    }
}

/// Puts new data into a process; `rate` is that of the allocated sub-bands, in bits per resource block.
fn fill(
    user: &mut UserState,
    (tti, now): (u64, Instant),
    (formats, prbs, rate): (&Formats, u32, Option<f32>),
    config: &RanConfig,
) -> Option<usize> {
    let process = user.down.idle_process()?;
    let (_, mut mcs) = user.scheme(tti, (formats, prbs), config)?;
    if let Some(rate) = rate {
        mcs = formats.scheme_of_rate(rate, config.air.prbs())?;
    }
    let format = *formats.get(mcs, prbs);
    let payload = user.down.new_data(process);
    user.bearer
        .fill(Direction::Down, now, format.bits / 8, &mut payload.block);
    if payload.block.is_empty() {
        return None;
    }
    (payload.format, payload.mcs, payload.prbs) = (Some(format), mcs, prbs as u16);
    Some(process)
}

/// Sends a block and draws whether it is decoded. The `sinr_db` of the user must be up to date.
pub(super) fn transmit(
    user: &mut UserState,
    scheduled_block: &ScheduledBlock,
    config: &RanConfig,
    tti: u64,
    scratch: &mut Vec<f32>,
) -> BlockRecord {
    let air = &config.air;
    let (process, attempts) = (
        scheduled_block.process,
        user.down.attempts(scheduled_block.process),
    );
    if misses_assignment(user, config, tti) {
        user.down.send_dtx(tti, process, &user.down_errors);
        let payload = user.down.payload(process);
        return payload.record(attempts + 1, 1.0, Reception::Failed);
    }
    if let Some(drx) = &mut user.drx
        && attempts == 0
    {
        drx.new_transmission(tti);
    }
    let payload = user.down.payload(process);
    let (mcs, format) = (payload.mcs, payload.format());
    let is_whole_carrier = scheduled_block.groups.count_ones() as usize == air.group_prbs.len();
    let sinr_db = if is_whole_carrier {
        effective_sinr_mi(&user.sinr_db, format.modulation)
    } else {
        scratch.clear();
        let groups =
            (0..air.group_prbs.len()).filter(|group| scheduled_block.groups >> group & 1 == 1);
        scratch.extend(groups.map(|group| user.sinr_db[group]));
        effective_sinr_mi(scratch, format.modulation)
    };
    let mut bler = 0.0;
    let version = VERSIONS[usize::from(attempts) % VERSIONS.len()];
    let reception = user.down.attempt(tti, process, &user.down_errors, |soft| {
        bler = combine(soft, &format, version, sinr_db);
        bler
    });
    if attempts == 0 && is_whole_carrier && format == *air.down.get(mcs, air.prbs()) {
        user.carrier_bler = Some((mcs, bler));
    }
    queue_decoded(
        user,
        Direction::Down,
        process,
        reception,
        (tti, config.decoding()),
    );
    if let Some(drx) = &mut user.drx {
        drx.received(tti, process, reception != Reception::Failed);
    }
    user.down
        .payload(process)
        .record(attempts + 1, bler, reception)
}

/// Combines an attempt with earlier ones; returns the error rate.
pub(super) fn combine(
    soft: &mut Option<crate::phy::SoftBuffer>,
    format: &TransportFormat,
    version: u8,
    sinr_db: f64,
) -> f64 {
    let soft = soft.get_or_insert_with(|| format.soft_buffer());
    soft.receive(version, format.coded_bits, sinr_db);
    soft.bler()
}

/// Queues a decoded block for RLC, which gets it after its processing time.
pub(super) fn queue_decoded(
    user: &mut UserState,
    direction: Direction,
    process: usize,
    reception: Reception,
    (tti, decoding): (u64, u64),
) {
    if reception == Reception::Decoded {
        user.decoded.push_back(Decoded {
            due: tti + decoding,
            sent: tti,
            direction,
            process,
        });
    }
}
