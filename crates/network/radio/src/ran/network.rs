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
    pub fates: Vec<(UserId, PacketOutcome)>,
    /// Events of connections.
    pub events: Vec<(UserId, ConnectionEvent)>,
    /// TTIs of users that are observed, where a log is wanted.
    pub log: Vec<TtiRecord>,
    /// Uplink packets of which a base station has got the headers, before their fates; none unless
    /// [`Ran::report_headers`] has asked for them.
    pub heads: Vec<(UserId, u64)>,
    /// Signalling of cells, where the settings ask for it.
    pub control: Vec<ControlRecord>,
}

/// Radio access network: cells, users, and the links between them.
///
/// Packets are named by numbers of the caller. One that waits at the base station or the user is sent
/// in the TTIs to come; its outcome is returned by [`run_tti`](Self::run_tti).
pub struct Ran {
    config: RanConfig,
    /// The next TTI.
    tti: u64,
    users: Vec<UserState>,
    cells: Vec<CellState>,
    /// Share of the resource blocks each cell uses in this TTI.
    activity: Vec<f32>,
    sendings: Vec<ScheduledBlock>,
    fates: Vec<PacketOutcome>,
    events: Vec<ConnectionEvent>,
    scratch: Vec<f32>,
    blocks: Vec<(UserId, Direction, BlockRecord)>,
    /// Resource blocks of each cell that its members use in this TTI.
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
    /// Makes the network of `config` in the run with `seed`.
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
            sendings: Vec::new(),
            fates: Vec::new(),
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

    /// Queues a packet with this size at the IP layer; false if the buffer is full.
    pub fn enqueue(
        &mut self,
        now: Instant,
        user: UserId,
        direction: Direction,
        name: u64,
        bytes: u32,
    ) -> bool {
        let user = &mut self.users[user as usize];
        let elsewhere = user.is_elsewhere();
        if direction == Direction::Down && (elsewhere || user.bearer.is_forwarding()) {
            // The gateway still sends to the cell of before, or packets from there are on their way.
            let due = if elsewhere {
                now + self.config.timing().x2_delay
            } else {
                now
            };
            user.bearer.forward_fresh(due, name, bytes);
            return true;
        }
        user.bearer.enqueue(direction, name, bytes)
    }

    /// Has [`Outcome::heads`] filled from now on.
    pub fn tell_heads(&mut self) {
        for user in &mut self.users {
            user.bearer.report_headers();
        }
    }

    /// Discards packets towards a user that `gone` selects by their names and of which nothing has been sent
    /// (TS 36.322 clause 5.3), and returns their names. They have no other fate.
    pub fn discard(&mut self, now: Instant, user: UserId, gone: &dyn Fn(u64) -> bool) -> Vec<u64> {
        self.users[user as usize].bearer.discard(now, gone)
    }

    /// Returns whether RLC is to get a packet, of at most so many bytes, that waits for a discipline above it. It gets what
    /// the blocks of a TTI may carry, and nothing in a handover.
    pub fn wants(&self, user: UserId, direction: Direction, bytes: u32) -> bool {
        let user = &self.users[user as usize];
        let enough = self.config.air.most_bytes(direction);
        let is_served = direction == Direction::Up || !user.is_elsewhere();
        is_served && user.bearer.wants(direction, enough, bytes)
    }

    /// Sets the uplink bytes that wait for a discipline above RLC. Buffer status reports include them (TS 36.323 clause
    /// 4.5).
    pub fn set_waiting(&mut self, user: UserId, bytes: u64) {
        self.users[user as usize].bearer.set_waiting(bytes);
    }

    /// Packets and bytes that wait for their first transmission.
    pub fn queued(&self, user: UserId, direction: Direction) -> (usize, u64) {
        self.users[user as usize].bearer.queued(direction)
    }

    /// Returns the radio hints of `user` at `now`.
    pub fn hints(&self, user: UserId, now: Instant) -> RadioHints {
        self.users[user as usize].hints(now)
    }

    /// Returns the number of packets that are neither delivered nor dropped yet.
    pub fn under_way(&self, user: UserId, direction: Direction) -> usize {
        self.users[user as usize].bearer.under_way(direction)
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

    /// Its configuration.
    pub fn config(&self) -> &RanConfig {
        &self.config
    }

    /// Handovers and failures of a user so far.
    pub fn mobility(&self, user: UserId) -> (u32, u32) {
        let mobility = &self.users[user as usize].mobility;
        (mobility.handovers(), mobility.failures())
    }

    /// Runs the next TTI and appends what came of it to `outcome`.
    pub fn run_tti(&mut self, outcome: &mut Outcome) {
        let tti = self.tti;
        let now = self.start_of(tti);
        let at = (tti, now);
        for user in &mut self.users {
            (user.prbs_now, user.groups_now) = ([0; 2], 0);
            user.full_bler = None;
            user.deliver(tti, now, &mut self.fates);
            user.bearer.advance(now, &mut self.fates);
            connection::run(
                user,
                &mut self.cells,
                &self.config,
                at,
                &self.activity,
                &mut self.fates,
                &mut self.events,
            );
            if user.mobility.is_connected() {
                user.bearer.take_forwarded(now, &mut self.fates);
            }
            user.awake = user.drx.as_mut().is_none_or(|drx| drx.start(tti));
            let id = user.id;
            let heads = user.bearer.take_headers();
            outcome.heads.extend(heads.map(|name| (id, name)));
            outcome
                .fates
                .extend(self.fates.drain(..).map(|fate| (id, fate)));
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
        self.sendings.clear();
        let whole = self.config.air.prbs() as f32;
        for (cell, activity) in self.cells.iter_mut().zip(&mut self.activity) {
            let (users, config) = (&mut self.users, &self.config);
            let used = downlink::schedule(cell, users, config, (tti, now), &mut self.sendings);
            *activity = used as f32 / whole;
        }
        for sending in &self.sendings {
            let user = &mut self.users[sending.user];
            user.update_sinr(tti, now, &self.config, &self.activity);
            let record = downlink::transmit(user, sending, &self.config, tti, &mut self.scratch);
            if self.config.radio.log && user.observed {
                self.blocks.push((user.id, Direction::Down, record));
            }
        }
    }

    /// Runs the uplink of the cells whose grants come before the assignments of the TTI, or of all others.
    fn uplink(&mut self, tti: u64, now: Instant, first: bool) {
        let (log, blocks) = (self.config.radio.log, &mut self.blocks);
        for cell in self
            .cells
            .iter_mut()
            .filter(|cell| cell.grants_first == first)
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

    /// Users measure the quality of the channel where it is time.
    fn measure(&mut self, tti: u64, now: Instant) {
        for user in &mut self.users {
            if user.reporter.is_due(tti) && user.mobility.is_connected() {
                user.update_sinr(tti, now, &self.config, &self.activity);
                user.reporter
                    .measure(tti, &user.sinr_db, &self.config.air.down.adaptation);
            }
        }
    }

    /// Follows what observed users could have got, and writes the log.
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
        let whole = self.config.air.prbs();
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
                    whole.saturating_sub(others)
                }),
                groups: !used_blocks.groups | user.groups_now,
            };
            user.update_sinr(tti, now, &self.config, &self.activity);
            let capacity = user.follow(tti, now, &free, &self.config);
            if self.config.radio.log {
                self.write_down(tti, index, capacity, outcome);
            }
        }
    }

    fn write_down(&mut self, tti: u64, index: usize, capacity: [u32; 2], outcome: &mut Outcome) {
        let whole = self.config.air.prbs();
        let user = &mut self.users[index];
        let (cqi, mcs) = user
            .scheme(tti, (&self.config.air.down, whole), &self.config)
            .unwrap_or((0, 0));
        let serves = self.config.air.downlink(tti).is_some() && user.mobility.is_connected();
        for direction in [Direction::Down, Direction::Up] {
            let mut blocks = self
                .blocks
                .iter()
                .filter(|(id, way, _)| *id == user.id && *way == direction)
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
                wasted: idle && serves && cqi > 0 && queue_packets == 0,
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
