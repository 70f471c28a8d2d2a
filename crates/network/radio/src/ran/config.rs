//! Configuration of the radio access network: the settings with its users, and the settings in TTIs.

use std::sync::{Arc, LazyLock};

use units::Duration;

use super::AirInterface;
use crate::channel::{Activity, FadedSinr, Reception};
use crate::handover::CellId;
use crate::mac::drx::{self, Drx};
use crate::mac::scheduler::{Policy, SubbandRate};
use crate::mac::{harq, headroom, uplink};
use crate::rlc::pdcp::SnLength;
use crate::settings::{
    Access, Cqi, Handover, Load, Radio, Rlc, RlcMode, Scheduler, Technology, Timer,
};

/// Cells on one carrier and their users.
#[derive(Clone, Debug)]
pub struct RanConfig {
    /// Carrier of all cells, which the settings describe.
    pub air: Arc<AirInterface>,
    /// Settings. Their cells and UEs are those of the users' channels.
    pub radio: Radio,
    /// Users.
    pub users: Vec<User>,
}

/// One user.
#[derive(Clone, Debug)]
pub struct User {
    /// Reception of the user.
    pub channel: Channel,
    /// Speed, if it does not follow from the positions, m/s.
    pub speed_mps: Option<f64>,
    /// Whether its capacity is computed and its TTIs are logged.
    pub observed: bool,
}

/// Reception of a user.
#[derive(Clone, Debug)]
pub enum Channel {
    /// A mean SINR over time from one cell, of index 0, with fading.
    Traced(Box<FadedSinr>),
    /// The signals of all cells at the position of the user.
    Placed(Box<Reception>),
}

/// Index of a user in [`RanConfig::users`].
pub type UserId = u32;

/// Direction of data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// To the user.
    Down,
    /// From the user.
    Up,
}

impl RanConfig {
    /// Converts a time to TTIs, rounded down.
    pub(super) fn ttis(&self, time: Duration) -> u64 {
        time.as_nanos() / self.air.tti.as_nanos().max(1)
    }

    /// Returns the number of cells.
    pub fn cells(&self) -> usize {
        self.radio.cells.len().max(1)
    }

    /// Returns the policy of the downlink's scheduler.
    pub(super) fn policy(&self) -> Policy {
        let downlink = &self.radio.downlink;
        match downlink.scheduler {
            Scheduler::ProportionalFair => Policy::ProportionalFair {
                time_constant: self.ttis(downlink.time_constant) as f64,
            },
            Scheduler::RoundRobin => Policy::RoundRobin,
            Scheduler::MaxRate => Policy::MaxRate,
        }
    }

    /// Returns the rule for the rate of a block over several sub-bands; `None` if users report the whole carrier only.
    pub(super) fn subband_rule(&self) -> Option<SubbandRate> {
        let downlink = &self.radio.downlink;
        (downlink.cqi == Cqi::Subband).then_some(downlink.subband_rate)
    }

    /// Returns hybrid ARQ of the downlink; the uplink has more processes.
    pub(super) fn harq(&self) -> harq::HarqConfig {
        harq::HarqConfig {
            processes: self.radio.harq_processes() as u8,
            round_trip: self.ttis(self.radio.harq_round_trip()),
            max_transmissions: self.radio.harq.transmissions as u8,
        }
    }

    /// Returns the TTIs from a transmission until the receiving RLC has its data and the acknowledgement is sent: 4 in LTE
    /// (TS 36.213 clause 7.3). All but the first are processing time.
    pub(super) fn decoding(&self) -> u64 {
        self.ttis(self.radio.decoding())
    }

    /// Returns RLC of all bearers, with the width of the sequence number.
    pub(super) fn rlc(&self) -> Rlc {
        let default_bits = match (self.radio.technology, self.radio.rlc.mode) {
            (Technology::Nr, RlcMode::Am) => 18,
            (Technology::Nr, RlcMode::Um) => 12,
            (Technology::Lte, _) => 10,
        };
        Rlc {
            sn_bits: self.radio.rlc.sn_bits.or(Some(default_bits)),
            ..self.radio.rlc
        }
    }

    /// Returns the sequence numbers of PDCP: the usual ones of LTE (TS 36.323 clause 6.3.2), and those of NR that its
    /// rates need (TS 38.323 clause 6.3.2). Less than half of them may be in flight in a handover.
    pub(super) const fn pdcp_sn(&self) -> SnLength {
        match self.radio.technology {
            Technology::Lte => SnLength::Bits12,
            Technology::Nr => SnLength::Bits18,
        }
    }

    /// Returns the buffer status reporter of a user; `None` if users have configured grants. The requests of users are spread
    /// over their period.
    pub(super) fn bsr_reporter(&self, id: UserId) -> Option<uplink::BsrReporter> {
        let settings = &self.radio.uplink;
        if settings.access == Access::Configured {
            return None;
        }
        let periodic = match settings.periodic_bsr {
            Timer::After(time) => Some(self.ttis(time)),
            Timer::Infinity => None,
        };
        let period = self.ttis(settings.sr_period).max(1);
        let request = uplink::RequestConfig {
            period,
            offset: u64::from(id) % period,
            prohibit: u64::from(settings.sr_prohibit),
            max_transmissions: settings.sr_transmissions,
        };
        let timers = uplink::Timers::new(periodic, self.ttis(settings.retx_bsr));
        let (protocol, enhanced) = (settings.protocol, settings.enhanced);
        Some(uplink::BsrReporter::new(
            protocol,
            self.radio.technology,
            enhanced,
            timers,
            request,
        ))
    }

    /// Returns the timers of power headroom reports.
    pub(super) fn headroom_reports(&self) -> headroom::ReportConfig {
        let settings = &self.radio.uplink.headroom;
        headroom::ReportConfig {
            periodic: match settings.periodic {
                Timer::After(time) => Some(self.ttis(time)),
                Timer::Infinity => None,
            },
            prohibit: self.ttis(settings.prohibit),
            path_loss_change_db: settings.path_loss_change.get(),
        }
    }

    /// Returns the DRX state of a user; `None` without DRX.
    pub(super) fn drx(&self) -> Option<Drx> {
        let settings = self.radio.drx.as_ref()?;
        Some(Drx::new(drx::DrxConfig {
            on_duration: self.ttis(settings.on_duration),
            inactivity: self.ttis(settings.inactivity),
            retransmission: self.ttis(settings.retransmission),
            uplink_retransmission: match self.radio.technology {
                Technology::Lte => 1,
                Technology::Nr => self.ttis(settings.retransmission),
            },
            harq_round_trip: self.harq().round_trip,
            long_cycle: self.ttis(settings.long_cycle),
            offset: self.ttis(settings.offset),
            short: settings
                .short_cycle
                .map(|cycle| (self.ttis(cycle), u64::from(settings.short_cycles))),
        }))
    }

    /// Returns the times of handovers; the defaults without handovers. Measurements, and forwarding after a failure, use them,
    /// too.
    pub(super) fn handover_times(&self) -> &Handover {
        static USUAL: LazyLock<Handover> = LazyLock::new(Handover::default);
        self.radio.handover.as_ref().unwrap_or(&USUAL)
    }

    /// Returns the share of their power that cells transmit with; `shares` are those of the resource blocks in use.
    pub(super) const fn activity<'a>(&self, shares: &'a [f32]) -> Activity<'a> {
        match self.radio.propagation.load {
            Load::Full => Activity::Full,
            Load::Actual => Activity::Shares(shares),
        }
    }

    /// Returns the cell that serves a user first: the strongest at the start.
    pub(super) fn first_cell(&self, user: &User) -> CellId {
        match &user.channel {
            Channel::Traced(_) => 0,
            Channel::Placed(reception) => {
                let power =
                    |cell: &CellId| reception.rsrp_dbm(units::Instant::ZERO, *cell as usize);
                let cells = 0..self.cells() as CellId;
                cells
                    .max_by(|a, b| power(a).total_cmp(&power(b)))
                    .unwrap_or(0)
            }
        }
    }
}
