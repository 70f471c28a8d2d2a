//! Radio access network: its state, advanced by TTI.

use std::sync::Arc;

use units::{Bytes, Instant};

use super::bearer::PacketOutcome;
use super::cell::CellState;
use super::downlink::{self, ScheduledBlock};
use super::log_records::{BlockRecord, ConnectionEvent, ControlRecord, TtiRecord};
use super::power::PowerControl;
use super::user::{FreeBlocks, UserState};
use super::{Direction, RadioHints, RanConfig, UserId, connection, uplink};
use crate::phy::{Modulation, effective_sinr_mi};

/// Outcome of a TTI; its memory is reused.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Packets that have arrived, or never will.
    pub packets: Vec<(UserId, PacketOutcome)>,
    /// Events of connections.
    pub events: Vec<(UserId, ConnectionEvent)>,
    /// TTIs of observed users, if the settings ask for a log.
    pub log: Vec<TtiRecord>,
    /// Ids of uplink packets whose headers a base station has received; none unless [`Ran::report_headers`] was called.
    pub headers: Vec<(UserId, u64)>,
    /// Signalling of cells, if the settings ask for it.
    pub control: Vec<ControlRecord>,
}

/// Radio access network: cells, users, and the links between them.
///
/// The caller chooses the ids of packets. A packet that waits at the base station or the user is sent in
/// later TTIs; [`run_tti`](Self::run_tti) returns its outcome.
pub struct Ran {
    config: RanConfig,
    /// The next TTI.
    tti: u64,
    users: Vec<UserState>,
    cells: Vec<CellState>,
    /// Share of the resource blocks each cell uses in this TTI.
    activity: Vec<f32>,
    scheduled: Vec<ScheduledBlock>,
    packet_outcomes: Vec<PacketOutcome>,
    events: Vec<ConnectionEvent>,
    scratch: Vec<f32>,
    blocks: Vec<(UserId, Direction, BlockRecord)>,
    /// Resource blocks in use in this TTI, by cell.
    used_blocks: Vec<UsedBlocks>,
}

/// Resource blocks of a cell in use.
#[derive(Clone, Copy, Debug, Default)]
struct UsedBlocks {
    /// Number in each direction.
    prbs: [u32; 2],
    /// Groups of the downlink, a bit each.
    groups: u64,
}

impl Ran {
    /// Returns the network of `config` in the run with `seed`.
    pub fn new(config: RanConfig, seed: u64) -> Self {
        let mut cells: Vec<_> = (0..config.cells())
            .map(|_| CellState::new(&config))
            .collect();
        let power = Arc::new(PowerControl::new(&config));
        let users: Vec<_> = (0..)
            .zip(&config.users)
            .map(|(id, user)| UserState::new(&config, id, user, seed, Arc::clone(&power)))
            .collect();
        for user in &users {
            cells[user.mobility.serving() as usize].join(user.id);
        }
        Self {
            activity: vec![1.0; cells.len()],
            used_blocks: vec![UsedBlocks::default(); cells.len()],
            tti: 0,
            users,
            cells,
            scheduled: Vec::new(),
            packet_outcomes: Vec::new(),
            events: Vec::new(),
            scratch: Vec::new(),
            blocks: Vec::new(),
            config,
        }
    }

    /// Returns the time at which the next TTI begins.
    pub fn next_event(&self) -> Instant {
        self.start_of(self.tti)
    }

    fn start_of(&self, tti: u64) -> Instant {
        Instant::ZERO + self.config.air.tti * tti
    }

    /// Queues a packet of `bytes` at the IP layer; false if the buffer is full.
    pub fn enqueue(
        &mut self,
        now: Instant,
        user: UserId,
        direction: Direction,
        packet_id: u64,
        bytes: u32,
    ) -> bool {
        let user = &mut self.users[user as usize];
        let is_elsewhere = user.is_elsewhere();
        if direction == Direction::Down && (is_elsewhere || user.bearer.is_forwarding()) {
            // The gateway still sends to the previous cell, or packets from there are on their way.
            let due = if is_elsewhere {
                now + self.config.handover_times().x2_delay
            } else {
                now
            };
            user.bearer.forward_from_gateway(due, packet_id, bytes);
            return true;
        }
        user.bearer.enqueue(direction, packet_id, bytes)
    }

    /// Enables [`Outcome::headers`].
    pub fn report_headers(&mut self) {
        for user in &mut self.users {
            user.bearer.report_headers();
        }
    }

    /// Discards packets towards a user that `is_discarded` selects by their ids and of which nothing has been sent
    /// (TS 36.322 clause 5.3). Returns their ids. They have no [`PacketOutcome`].
    pub fn discard(
        &mut self,
        now: Instant,
        user: UserId,
        is_discarded: &dyn Fn(u64) -> bool,
    ) -> Vec<u64> {
        self.users[user as usize].bearer.discard(now, is_discarded)
    }

    /// Returns whether RLC should get a packet of up to `bytes` from the queue above it. RLC gets as much as the blocks of
    /// a TTI may carry, and nothing in a handover.
    pub fn wants(&self, user: UserId, direction: Direction, bytes: u32) -> bool {
        let user = &self.users[user as usize];
        let max_queued = self.config.air.max_bytes(direction);
        let is_served = direction == Direction::Up || !user.is_elsewhere();
        is_served && user.bearer.wants(direction, max_queued, bytes)
    }

    /// Sets the uplink bytes that wait in the queue above RLC. Buffer status reports include them (TS 36.323 clause
    /// 4.5).
    pub fn set_waiting(&mut self, user: UserId, bytes: u64) {
        self.users[user as usize].bearer.set_waiting(bytes);
    }

    /// Returns the number of packets and bytes that wait for their first transmission.
    pub fn queued(&self, user: UserId, direction: Direction) -> (usize, u64) {
        self.users[user as usize].bearer.queued(direction)
    }

    /// Returns the radio hints of `user` at `now`.
    pub fn hints(&self, user: UserId, now: Instant) -> RadioHints {
        self.users[user as usize].hints(now)
    }

    /// Returns the capacity of an observed user in the TTIs that begin from `from` on and before `to`, bytes. It counts all
    /// resource blocks of no other user, less retransmissions. Future TTIs are unknown and count as zero.
    pub fn capacity(
        &self,
        user: UserId,
        direction: Direction,
        from: Instant,
        to: Instant,
    ) -> Bytes {
        let tti = self.config.air.tti.as_nanos();
        let index = |at: Instant| at.as_nanos().div_ceil(tti);
        let capacity = &self.users[user as usize].capacity[direction as usize];
        Bytes::new(capacity.between(index(from), index(to)))
    }

    /// Returns the configuration.
    pub fn config(&self) -> &RanConfig {
        &self.config
    }

    /// Runs the next TTI and appends its results to `outcome`.
    pub fn run_tti(&mut self, outcome: &mut Outcome) {
        let tti = self.tti;
        let now = self.start_of(tti);
        let at = (tti, now);
        for user in &mut self.users {
            (user.prbs_now, user.groups_now) = ([0; 2], 0);
            user.carrier_bler = None;
            user.deliver(tti, now, &mut self.packet_outcomes);
            user.bearer.advance(now, &mut self.packet_outcomes);
            connection::run(
                user,
                &mut self.cells,
                &self.config,
                at,
                &self.activity,
                &mut self.packet_outcomes,
                &mut self.events,
            );
            if user.mobility.is_connected() {
                user.bearer.take_forwarded(now, &mut self.packet_outcomes);
            }
            user.is_awake = user.drx.as_mut().is_none_or(|drx| drx.start(tti));
            let id = user.id;
            let headers = user.bearer.take_headers();
            outcome
                .headers
                .extend(headers.map(|packet_id| (id, packet_id)));
            outcome.packets.extend(
                self.packet_outcomes
                    .drain(..)
                    .map(|packet_outcome| (id, packet_outcome)),
            );
            outcome
                .events
                .extend(self.events.drain(..).map(|event| (id, event)));
        }
        for cell in &mut self.cells {
            cell.start(tti, &self.config);
        }
        self.uplink(tti, now, true);
        self.downlink(tti, now);
        self.uplink(tti, now, false);
        self.observe(tti, now, outcome);
        self.measure(tti, now);
        if self.config.radio.control_log == Some(true) {
            let cells = (0..).zip(&self.cells);
            outcome
                .control
                .extend(cells.map(|(cell, state)| state.record(cell)));
        }
        self.blocks.clear();
        self.tti += 1;
    }

    fn downlink(&mut self, tti: u64, now: Instant) {
        self.scheduled.clear();
        let carrier_prbs = self.config.air.prbs() as f32;
        for (cell, activity) in self.cells.iter_mut().zip(&mut self.activity) {
            let (users, config) = (&mut self.users, &self.config);
            let used_prbs =
                downlink::schedule(cell, users, config, (tti, now), &mut self.scheduled);
            *activity = used_prbs as f32 / carrier_prbs;
        }
        for block in &self.scheduled {
            let user = &mut self.users[block.user];
            user.update_sinr(tti, now, &self.config, &self.activity);
            let record = downlink::transmit(user, block, &self.config, tti, &mut self.scratch);
            if self.config.radio.log && user.observed {
                self.blocks.push((user.id, Direction::Down, record));
            }
        }
    }

    /// Runs the uplink of the cells that place grants before assignments in this TTI (`grants_first`), or of the other
    /// cells.
    fn uplink(&mut self, tti: u64, now: Instant, grants_first: bool) {
        let (log, blocks) = (self.config.radio.log, &mut self.blocks);
        for cell in self
            .cells
            .iter_mut()
            .filter(|cell| cell.grants_first == grants_first)
        {
            let record_block = |user: &mut UserState, record| {
                if log && user.observed {
                    blocks.push((user.id, Direction::Up, record));
                }
            };
            uplink::run(
                cell,
                &mut self.users,
                &self.config,
                (tti, now),
                record_block,
            );
        }
    }

    /// Lets users with a report due measure the channel.
    fn measure(&mut self, tti: u64, now: Instant) {
        for user in &mut self.users {
            if user.reporter.is_due(tti) && user.mobility.is_connected() {
                user.update_sinr(tti, now, &self.config, &self.activity);
                user.reporter
                    .measure(tti, &user.sinr_db, &self.config.air.down.adaptation);
            }
        }
    }

    /// Computes the capacity of observed users, and writes the log.
    fn observe(&mut self, tti: u64, now: Instant, outcome: &mut Outcome) {
        for (cell, used_blocks) in self.cells.iter().zip(&mut self.used_blocks) {
            *used_blocks = UsedBlocks::default();
            for &user in cell.members.iter().flatten() {
                let user = &self.users[user as usize];
                used_blocks.prbs[0] += u32::from(user.prbs_now[0]);
                used_blocks.prbs[1] += u32::from(user.prbs_now[1]);
                used_blocks.groups |= user.groups_now;
            }
        }
        let carrier_prbs = self.config.air.prbs();
        for index in 0..self.users.len() {
            if !self.users[index].observed {
                continue;
            }
            let user = &mut self.users[index];
            // A user between two cells is a member of neither, and has no blocks.
            let used_blocks = self.used_blocks[user.mobility.serving() as usize];
            let free = FreeBlocks {
                prbs: [0, 1].map(|direction| {
                    let others = used_blocks.prbs[direction] - u32::from(user.prbs_now[direction]);
                    carrier_prbs.saturating_sub(others)
                }),
                groups: !used_blocks.groups | user.groups_now,
            };
            user.update_sinr(tti, now, &self.config, &self.activity);
            let capacity = user.add_capacity(tti, now, &free, &self.config);
            if self.config.radio.log {
                self.log_tti(tti, index, capacity, outcome);
            }
        }
    }

    fn log_tti(&mut self, tti: u64, index: usize, capacity: [u32; 2], outcome: &mut Outcome) {
        let carrier_prbs = self.config.air.prbs();
        let user = &mut self.users[index];
        let (cqi, mcs) = user
            .scheme(tti, (&self.config.air.down, carrier_prbs), &self.config)
            .unwrap_or((0, 0));
        let could_serve = self.config.air.downlink(tti).is_some() && user.mobility.is_connected();
        for direction in [Direction::Down, Direction::Up] {
            let mut blocks = self
                .blocks
                .iter()
                .filter(|(id, block_direction, _)| *id == user.id && *block_direction == direction)
                .map(|&(_, _, block)| block)
                .peekable();
            let idle = blocks.peek().is_none();
            if direction == Direction::Up && idle {
                continue;
            }
            let (queue_packets, queue_bytes) = user.bearer.queued(direction);
            let record = |block: Option<BlockRecord>| TtiRecord {
                tti,
                user: user.id,
                cell: user.mobility.serving(),
                direction,
                sinr_db: effective_sinr_mi(&user.sinr_db, Modulation::Qam64) as f32,
                cqi,
                block,
                mcs,
                wasted: idle && could_serve && cqi > 0 && queue_packets == 0,
                queue_bytes,
                queue_packets: queue_packets as u32,
                capacity,
            };
            if idle {
                outcome.log.push(record(None));
            } else {
                outcome.log.extend(blocks.map(|block| record(Some(block))));
            }
        }
    }
}
