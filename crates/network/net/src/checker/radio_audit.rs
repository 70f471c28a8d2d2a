//! Radio audit: the checker's account of the radio access network, from its log.

use config::Buffer;
use radio::ran::{Direction, RanConfig, TtiRecord, UserId};
use units::Instant;

use super::Verdict;

/// Verifies that no user gets more bytes than were decoded for it, or than its capacity.
///
/// The capacity of a user is that of the resource blocks of its cell that no other user was given. So if no user is above
/// its capacity, no cell is.
pub(super) struct RadioAudit {
    prbs: u64,
    max_transmissions: u64,
    /// Limits of the buffer by direction.
    limits: [Buffer; 2],
    users: Vec<[UserAudit; 2]>,
    /// Resource blocks used so far in the current TTI, by cell and direction.
    used: Vec<[u64; 2]>,
    tti: Option<u64>,
}

#[derive(Clone, Copy, Default)]
struct UserAudit {
    /// Whether its TTIs are in the log.
    is_logged: bool,
    /// Bytes of packets in blocks that were decoded.
    decoded: u64,
    /// Bytes of packets that have arrived.
    arrived: u64,
    capacity: Capacity,
}

/// Expected capacity so far: a block counts without the share of it that is expected to be retransmitted.
#[derive(Clone, Copy, Default)]
struct Capacity {
    bytes: f64,
    /// Sum of the squares of the bytes of each TTI.
    squares: f64,
}

impl Capacity {
    /// Allowed standard deviations above the expectation: one in three million runs exceeds 5.
    const MAX_DEVIATIONS: f64 = 5.0;

    fn add(&mut self, bytes: u32) {
        self.bytes += f64::from(bytes);
        self.squares += f64::from(bytes) * f64::from(bytes);
    }

    /// Returns the maximum number of bytes. Whether a block takes a second TTI is a draw, whose standard deviation is at
    /// most half of the block.
    fn max_bytes(&self) -> u64 {
        (self.bytes + Self::MAX_DEVIATIONS * (self.squares / 4.0).sqrt()) as u64
    }
}

impl RadioAudit {
    pub(super) fn new(config: &RanConfig) -> Self {
        let settings = &config.radio;
        let audit = |observed| UserAudit {
            is_logged: observed && settings.log,
            ..UserAudit::default()
        };
        Self {
            prbs: config.air.grid().prbs() as u64,
            max_transmissions: u64::from(settings.harq.transmissions),
            limits: [settings.rlc.buffer, settings.rlc.uplink_buffer],
            users: config
                .users
                .iter()
                .map(|user| [audit(user.observed); 2])
                .collect(),
            used: vec![[0; 2]; config.cells()],
            tti: None,
        }
    }

    pub(super) fn on_tti(&mut self, at: Instant, record: &TtiRecord) -> Verdict {
        let direction = record.direction as usize;
        // There is one record of the downlink in each TTI.
        if record.direction == Direction::Down {
            let audits = &mut self.users[record.user as usize];
            for (audit, bytes) in audits.iter_mut().zip(record.capacity) {
                audit.capacity.add(bytes);
            }
        }
        if self.tti != Some(record.tti) {
            self.tti = Some(record.tti);
            self.used.fill([0; 2]);
        }
        let check_max = |what, actual: u64, max: u64| {
            if actual <= max {
                Ok(())
            } else {
                Err(excess_of(record.user, at, what, actual, max))
            }
        };
        match self.limits[direction] {
            Buffer::Packets(max) => {
                check_max("packets waiting", u64::from(record.queue_packets), max)?;
            }
            Buffer::Bytes(max) => check_max("bytes waiting", record.queue_bytes, max.get())?,
            // The settings reject it.
            Buffer::Bdp(_) | Buffer::Time(_) => {}
        }
        let Some(block) = record.block else {
            return Ok(());
        };
        check_max(
            "payload of a block",
            block.payload.into(),
            block.bytes.into(),
        )?;
        check_max("attempts", block.attempt.into(), self.max_transmissions)?;
        let used = &mut self.used[record.cell as usize][direction];
        *used += u64::from(block.prbs);
        check_max("resource blocks", *used, self.prbs)?;
        if block.decoded {
            self.users[record.user as usize][direction].decoded += u64::from(block.payload);
        }
        Ok(())
    }

    /// Verifies the arrival of a packet of `bytes`.
    pub(super) fn arrive(
        &mut self,
        user: UserId,
        direction: Direction,
        bytes: u32,
        at: Instant,
    ) -> Verdict {
        let audit = &mut self.users[user as usize][direction as usize];
        audit.arrived += u64::from(bytes);
        let limits = [
            ("bytes arrived, of those decoded,", audit.decoded),
            (
                "bytes arrived, of the capacity,",
                audit.capacity.max_bytes(),
            ),
        ];
        let exceeded = limits
            .into_iter()
            .find(|(_, max)| audit.is_logged && audit.arrived > *max);
        match exceeded {
            None => Ok(()),
            Some((what, max)) => Err(excess_of(user, at, what, audit.arrived, max)),
        }
    }
}

fn excess_of(user: UserId, at: Instant, what: &str, actual: u64, max: u64) -> String {
    format!("user {user} of the radio at {at:?}: {what} is {actual}, at most {max} is possible")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use radio::channel::{FadedSinr, SinrTrace};
    use radio::ran::{BlockRecord, Channel, User};
    use radio::settings::Radio;
    use units::Duration;

    use super::*;

    fn audit() -> RadioAudit {
        let radio = Radio {
            log: true,
            ..Radio::default()
        };
        let sinr = SinrTrace::new(vec![(Instant::ZERO, 20.0)]).unwrap();
        RadioAudit::new(&RanConfig {
            air: Arc::clone(&radio.air_interface().unwrap()),
            radio,
            users: vec![User {
                channel: Channel::Traced(Box::new(FadedSinr::unfaded(sinr))),
                speed_mps: None,
                observed: true,
            }],
        })
    }

    /// A TTI of 20 MHz whose block, of `bytes`, is decoded at once.
    fn decoded(tti: u64, bytes: u32, capacity: u32) -> TtiRecord {
        TtiRecord {
            tti,
            user: 0,
            cell: 0,
            direction: Direction::Down,
            sinr_db: 20.0,
            cqi: 13,
            block: Some(BlockRecord {
                mcs: 25,
                bytes,
                payload: bytes,
                attempt: 1,
                bler: 0.0,
                decoded: true,
                prbs: 100,
            }),
            mcs: 25,
            wasted: false,
            queue_bytes: 0,
            queue_packets: 0,
            capacity: [capacity, 0],
        }
    }

    /// Runs `ttis` TTIs with blocks of 7000 bytes, all of which arrive.
    fn run(ttis: u64, capacity: impl Fn(u64) -> u32) -> Verdict {
        let mut audit = audit();
        for tti in 0..ttis {
            let at = Instant::ZERO + Duration::from_millis(tti);
            audit.on_tti(at, &decoded(tti, 7_000, capacity(tti)))?;
            audit.arrive(0, Direction::Down, 7_000, at)?;
        }
        Ok(())
    }

    #[test]
    fn bytes_above_the_capacity_of_a_cell_are_found() {
        // Blocks by sub-band reports carry 11 % more than the capacity that follows from the wideband report.
        let violation = run(2_000, |_| 6_300).unwrap_err().to_string();
        let expected = "bytes arrived, of the capacity, is";
        assert!(violation.contains(expected), "{violation}");
        // More than a TTI can carry is detected at once.
        assert!(run(1, |_| 0).is_err());
        assert_eq!(run(2_000, |_| 7_000), Ok(()));
    }

    #[test]
    fn luck_with_repetitions_is_no_violation() {
        // One block in ten is expected to fail, and none does for a while.
        let lucky = |tti| if tti < 100 { 6_364 } else { 7_000 };
        assert_eq!(run(2_000, lucky), Ok(()));
    }
}
