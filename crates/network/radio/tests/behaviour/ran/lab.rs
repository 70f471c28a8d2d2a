//! Lab: a radio access network under test, with a record of what arrives.

use std::collections::BTreeMap;

use radio::channel::{FadedSinr, Fading, FadingConfig, LinkId, Receiver, SinrTrace};
use radio::phy::lte::McsTable;
use radio::ran::{
    AirInterface, Carrier, Channel, ConnectionEvent, Direction, LteCarrier, Outcome, Ran,
    RanConfig, TtiRecord, User, UserId,
};
use radio::settings::{Radio, Uplink};
use units::{Bytes, Duration, Instant};

pub fn ms(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

/// Returns a 20 MHz cell of one layer with proportional fair scheduling and 750 packets of buffer.
pub fn lte(prbs: u32, users: Vec<User>) -> RanConfig {
    let carrier = Carrier::Lte(LteCarrier {
        prbs,
        cfi: 1,
        antenna_ports: 1,
        table: McsTable::Qam64,
        layers: 1,
    });
    RanConfig {
        air: AirInterface::shared(&carrier).unwrap(),
        radio: Radio {
            uplink: Uplink {
                first_grant: Bytes::new(100),
                prescheduling: None,
                random_access: Duration::from_millis(15),
                ..Uplink::default()
            },
            log: true,
            ..Radio::default()
        },
        users,
    }
}

/// Returns a user at a constant SINR without fading.
pub fn steady(sinr_db: f64) -> User {
    let trace = SinrTrace::new(vec![(Instant::ZERO, sinr_db)]).unwrap();
    User {
        channel: Channel::Traced(Box::new(FadedSinr::unfaded(trace))),
        speed_mps: None,
        observed: true,
    }
}

/// Returns a user with fading around a mean SINR.
pub fn faded(
    config: &RanConfig,
    number: u32,
    sinr_db: f64,
    fading: FadingConfig,
    seed: u64,
) -> User {
    let trace = SinrTrace::new(vec![(Instant::ZERO, sinr_db)]).unwrap();
    let link = LinkId {
        ue: number,
        cell: 0,
    };
    let grid = config.air.grid();
    let fading = Fading::new(fading, &grid, seed, link).unwrap();
    let channel = FadedSinr::new(trace, fading, Receiver::IDEAL, &grid);
    User {
        channel: Channel::Traced(Box::new(channel)),
        speed_mps: None,
        observed: true,
    }
}

/// Network with a record of the packets sent.
pub struct Lab {
    pub ran: Ran,
    pub outcome: Outcome,
    pub sent: BTreeMap<u64, (UserId, Direction, Instant, u32)>,
    /// Name and delay, in order of arrival.
    pub arrived: Vec<(u64, Duration)>,
    pub lost: Vec<u64>,
    pub rejected: u64,
    pub delivered_bytes: BTreeMap<(UserId, bool), u64>,
    pub log: Vec<TtiRecord>,
    next: u64,
}

impl Lab {
    pub fn new(config: RanConfig) -> Self {
        Self {
            ran: Ran::new(config, 7),
            outcome: Outcome::default(),
            sent: BTreeMap::new(),
            arrived: Vec::new(),
            lost: Vec::new(),
            rejected: 0,
            delivered_bytes: BTreeMap::new(),
            log: Vec::new(),
            next: 0,
        }
    }

    pub fn send(&mut self, now: Instant, user: UserId, direction: Direction, bytes: u32) -> bool {
        let taken = self.ran.enqueue(now, user, direction, self.next, bytes);
        if taken {
            self.sent.insert(self.next, (user, direction, now, bytes));
        } else {
            self.rejected += 1;
        }
        self.next += 1;
        taken
    }

    /// Runs one TTI.
    pub fn tick(&mut self) {
        let now = self.ran.next_event();
        self.ran.run_tti(&mut self.outcome);
        for (user, fate) in self.outcome.packets.drain(..) {
            let (owner, direction, since, bytes) = self
                .sent
                .remove(&fate.packet_id)
                .expect("nothing arrives that was not sent, or twice");
            assert_eq!((owner, direction), (user, fate.direction));
            if fate.delivered {
                self.arrived
                    .push((fate.packet_id, now.saturating_since(since)));
                *self
                    .delivered_bytes
                    .entry((user, direction == Direction::Up))
                    .or_default() += u64::from(bytes);
            } else {
                self.lost.push(fate.packet_id);
            }
        }
        self.log.append(&mut self.outcome.log);
    }

    /// Runs until `until` with a full buffer for `user` in `direction`.
    pub fn saturate(&mut self, until: Instant, user: UserId, direction: Direction) {
        while self.ran.next_event() < until {
            self.fill(user, direction, 100);
            self.tick();
        }
    }

    /// Sends until `packets` wait. Those on their way over X2 count too.
    pub fn fill(&mut self, user: UserId, direction: Direction, packets: usize) {
        let missing = packets.saturating_sub(self.ran.queued(user, direction).0);
        let now = self.ran.next_event();
        let is_such =
            |sent: &&(UserId, Direction, Instant, u32)| (sent.0, sent.1) == (user, direction);
        let in_flight = self.sent.values().filter(is_such).count();
        for _ in 0..missing.min((5 * packets).saturating_sub(in_flight)) {
            assert!(self.send(now, user, direction, 1500));
        }
    }

    /// Returns the numbers of handovers and failures of the connection of `user`.
    pub fn mobility(&self, user: UserId) -> (usize, usize) {
        let events = self.outcome.events.iter().filter(|(id, _)| *id == user);
        let (mut handovers, mut failures) = (0, 0);
        for (_, event) in events {
            handovers += usize::from(matches!(event, ConnectionEvent::HandoverEnds { .. }));
            failures += usize::from(matches!(event, ConnectionEvent::Failure { .. }));
        }
        (handovers, failures)
    }

    pub fn run(&mut self, until: Instant) {
        while self.ran.next_event() < until {
            self.tick();
        }
    }

    pub fn mbps(&self, user: UserId, up: bool, seconds: f64) -> f64 {
        let bytes = self.delivered_bytes.get(&(user, up)).copied().unwrap_or(0);
        bytes as f64 * 8e-6 / seconds
    }
}
