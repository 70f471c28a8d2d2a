//! Air ledger: the checker's account of the radio access network, kept from its log.

use config::Buffer;
use radio::ran::{Direction, RanConfig, TtiRecord, UserId};
use units::Instant;

use super::Violation;

/// The account of all users: nobody may get more than was decoded for them.
pub(super) struct AirLedger {
    prbs: u64,
    max_transmissions: u64,
    /// Of the buffer in each direction.
    limits: [Buffer; 2],
    users: Vec<[Account; 2]>,
    /// Resource blocks seen so far in the present TTI, by cell and direction.
    used: Vec<[u64; 2]>,
    tti: Option<u64>,
}

#[derive(Clone, Copy, Default)]
struct Account {
    /// Whether its TTIs are in the log.
    known: bool,
    /// Bytes of packets in blocks that were decoded.
    decoded: u64,
    /// Bytes of packets that have arrived.
    arrived: u64,
}

impl AirLedger {
    pub(super) fn new(config: &RanConfig) -> Self {
        let settings = &config.radio;
        let account = |observed| Account {
            known: observed && settings.log,
            ..Account::default()
        };
        Self {
            prbs: config.air.grid().prbs() as u64,
            max_transmissions: u64::from(settings.harq.transmissions),
            limits: [settings.rlc.buffer, settings.rlc.uplink_buffer],
            users: config
                .users
                .iter()
                .map(|user| [account(user.observed); 2])
                .collect(),
            used: vec![[0; 2]; config.cells()],
            tti: None,
        }
    }

    pub(super) fn tti(&mut self, at: Instant, record: &TtiRecord) -> Result<(), Violation> {
        let way = record.direction as usize;
        if self.tti != Some(record.tti) {
            self.tti = Some(record.tti);
            self.used.fill([0; 2]);
        }
        let within = |what, found: u64, most: u64| {
            if found <= most {
                Ok(())
            } else {
                Err(Violation::Radio {
                    user: record.user,
                    at,
                    what,
                    found,
                    most,
                })
            }
        };
        match self.limits[way] {
            Buffer::Packets(most) => {
                within("packets waiting", u64::from(record.queue_packets), most)?;
            }
            Buffer::Bytes(most) => within("bytes waiting", record.queue_bytes, most.get())?,
            // The check of the settings refuses it.
            Buffer::Bdp(_) => {}
        }
        let Some(block) = record.block else {
            return Ok(());
        };
        within(
            "payload of a block",
            block.payload.into(),
            block.bytes.into(),
        )?;
        within("attempts", block.attempt.into(), self.max_transmissions)?;
        let used = &mut self.used[record.cell as usize][way];
        *used += u64::from(block.prbs);
        within("resource blocks", *used, self.prbs)?;
        if block.decoded {
            self.users[record.user as usize][way].decoded += u64::from(block.payload);
        }
        Ok(())
    }

    /// Verifies the arrival of a packet of `bytes`.
    pub(super) fn arrived(
        &mut self,
        user: UserId,
        direction: Direction,
        bytes: u32,
        at: Instant,
    ) -> Result<(), Violation> {
        let account = &mut self.users[user as usize][direction as usize];
        account.arrived += u64::from(bytes);
        if account.known && account.arrived > account.decoded {
            return Err(Violation::Radio {
                user,
                at,
                what: "bytes arrived",
                found: account.arrived,
                most: account.decoded,
            });
        }
        Ok(())
    }
}
