//! Connection of a user as it moves: measurements, handovers, failures.

use units::{Duration, Instant};

use super::bearer::PacketOutcome;
use super::cell::CellState;
use super::log_records::ConnectionEvent;
use super::user::UserState;
use super::{Channel, RanConfig};
use crate::handover::{Action, CellId, Measurement};
use crate::phy::{Modulation, effective_sinr_mi};
use crate::rlc::Forwarding;

/// Interval at which the quality of the serving cell is evaluated (TS 36.133 clause 7.6.2.1).
const RADIO_FRAME: Duration = Duration::from_millis(10);

/// Lets a user measure, and carries out the actions of its mobility.
pub(super) fn run(
    user: &mut UserState,
    cells: &mut [CellState],
    config: &RanConfig,
    (tti, now): (u64, Instant),
    activity: &[f32],
    outcomes: &mut Vec<PacketOutcome>,
    events: &mut Vec<ConnectionEvent>,
) {
    if is_due(now, RADIO_FRAME, config) && user.mobility.is_connected() {
        user.update_sinr(tti, now, config, activity);
        let quality = effective_sinr_mi(&user.sinr_db, Modulation::Qpsk);
        user.mobility.sample(now, quality);
    }
    if user.bearer.has_failed()
        && let Some(action) = user.mobility.rlc_failed(now)
    {
        carry_out(user, cells, config, (tti, now), action, (outcomes, events));
    }
    // Users measure one after the other, not all in the same TTI.
    let shift = config.air.tti * u64::from(user.id);
    if cells.len() > 1
        && is_due(
            now + shift,
            config.handover_times().measurement_period,
            config,
        )
    {
        let measured = measure(user, config, now, activity);
        let reachable_cells = reachable(user, config, now);
        let action = user
            .mobility
            .measure(now, &measured, |cell| reachable_cells[cell as usize]);
        if let Some(action) = action {
            carry_out(user, cells, config, (tti, now), action, (outcomes, events));
        }
    }
    while user.mobility.next_deadline() <= now {
        let reachable_cells = reachable(user, config, now);
        let Some(action) = user
            .mobility
            .advance(now, |cell| reachable_cells[cell as usize])
        else {
            return;
        };
        carry_out(user, cells, config, (tti, now), action, (outcomes, events));
    }
}

/// Returns whether a period starts in the TTI at `now`.
fn is_due(now: Instant, period: Duration, config: &RanConfig) -> bool {
    now.as_nanos() % period.as_nanos() < config.air.tti.as_nanos()
}

/// Measures RSRP and RSRQ of all cells.
fn measure(
    user: &UserState,
    config: &RanConfig,
    now: Instant,
    activity: &[f32],
) -> Vec<Measurement> {
    let Channel::Placed(reception) = &user.channel else {
        return Vec::new();
    };
    let activity = config.activity(activity);
    (0..config.cells())
        .map(|cell| Measurement {
            cell: cell as CellId,
            rsrp_dbm: reception.rsrp_dbm(now, cell),
            rsrq_db: reception.rsrq_db(now, cell, activity),
        })
        .collect()
}

/// Returns for each cell whether messages get through: its signal is above the level at which the control channel
/// is lost.
fn reachable(user: &UserState, config: &RanConfig, now: Instant) -> Vec<bool> {
    let cells = 0..config.cells() as CellId;
    let out_of_sync_db = config.radio.link_failure.out_of_sync.get();
    cells
        .map(|cell| user.mean_db(now, cell) >= out_of_sync_db)
        .collect()
}

/// Carries out an action of the mobility of a user.
fn carry_out(
    user: &mut UserState,
    cells: &mut [CellState],
    config: &RanConfig,
    (tti, now): (u64, Instant),
    action: Action,
    (outcomes, events): (&mut Vec<PacketOutcome>, &mut Vec<ConnectionEvent>),
) {
    let x2 = now + config.handover_times().x2_delay;
    match action {
        Action::Prepare(_) => {}
        Action::Command(target) => {
            let source = user.mobility.serving();
            events.push(ConnectionEvent::HandoverBegins { source, target });
        }
        Action::Detach {
            source, forwarding, ..
        } => {
            leave(user, cells, config, now, source, outcomes);
            user.bearer.detach(forwarding, x2, outcomes);
        }
        Action::Attach(target) => {
            enter(user, cells, tti, target);
            events.push(ConnectionEvent::HandoverEnds { target });
        }
        Action::PathSwitch(cell) => user.gateway_cell = cell,
        Action::Failure(cause) => {
            let cell = user.mobility.serving();
            leave(user, cells, config, now, cell, outcomes);
            events.push(ConnectionEvent::Failure { cell, cause });
        }
        Action::Recovered {
            source,
            cell,
            context,
        } => {
            if context {
                let due = if source == cell { now } else { x2 };
                user.bearer.detach(Forwarding::Lossless, due, outcomes);
            } else {
                user.bearer.restart(outcomes);
                user.gateway_cell = cell;
            }
            enter(user, cells, tti, cell);
            events.push(ConnectionEvent::Recovered { cell, context });
        }
    }
}

/// Removes the user from its cell. Decoded data remains.
fn leave(
    user: &mut UserState,
    cells: &mut [CellState],
    config: &RanConfig,
    now: Instant,
    cell: CellId,
    outcomes: &mut Vec<PacketOutcome>,
) {
    user.deliver(u64::MAX, now, outcomes);
    user.reset_mac(config);
    cells[cell as usize].leave(user.id);
}

/// Adds the user to a cell. The grant for its RRC message to this cell is a new transmission, after which it listens.
fn enter(user: &mut UserState, cells: &mut [CellState], tti: u64, cell: CellId) {
    user.reset_measurements();
    if let Some(drx) = &mut user.drx {
        drx.new_transmission(tti);
    }
    user.bearer.attach();
    cells[cell as usize].join(user.id);
}
