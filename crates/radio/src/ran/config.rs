//! What a radio access network is made of.

use std::sync::{Arc, LazyLock};

use super::AirInterface;
use crate::channel::{Activity, FadedSinr, Reception, SinrTrace};
use crate::handover::CellId;
use crate::mac::scheduler::{Policy, SubbandRate};
use crate::mac::{drx, harq, uplink};
use crate::rlc;
use crate::rlc::pdcp::SnLength;
pub use crate::settings::Load;
use crate::settings::{Handover, LinkFailure};

/// Cells on one carrier and their users.
#[derive(Clone, Debug)]
pub struct RanConfig {
    /// The carrier of all cells.
    pub air: Arc<AirInterface>,
    /// How many cells there are.
    pub cells: usize,
    /// Who sends what in the downlink.
    pub downlink: Downlink,
    /// Hybrid ARQ of both directions; the uplink repeats a round trip after the attempt, or in the next
    /// uplink interval.
    pub harq: harq::HarqConfig,
    /// TTIs from a transmission until its data are with RLC on the other side and its
    /// acknowledgement is on the way: 4 in LTE (TS 36.213 clause 7.3), what lies between an
    /// interval's end and its end being processing.
    pub decoding: u64,
    /// RLC of all bearers.
    pub rlc: RlcMode,
    /// Sequence numbers of PDCP.
    pub pdcp_sn: SnLength,
    /// How users come to send.
    pub uplink: Uplink,
    /// Discontinuous reception, if any.
    pub drx: Option<drx::DrxConfig>,
    /// Handover between the cells; `None` for none.
    pub handover: Option<Handover>,
    /// Radio link failure.
    pub link_failure: LinkFailure,
    /// How much of their power other cells transmit.
    pub load: Load,
    /// The users.
    pub users: Vec<User>,
    /// Whether every TTI of a user that is observed is written down.
    pub log: bool,
}

/// Scheduling and link adaptation of the downlink.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Downlink {
    /// Who gets resource blocks.
    pub policy: Policy,
    /// Whether users report sub-bands, and what a block gets that spans several.
    pub subbands: Option<SubbandRate>,
    /// TTIs between reports of channel quality.
    pub cqi_period: u32,
    /// TTIs from a measurement until its report is used.
    pub cqi_delay: u32,
    /// Taken off the SINR that a report promises, in dB.
    pub margin_db: f64,
    /// Outer loop: target block error rate, step and limit in dB.
    pub outer_loop: Option<(f64, f64, f64)>,
    /// TTIs for which an evaluation of the channel is taken to hold; 1 is exact.
    pub channel_period: u32,
}

/// RLC of a bearer, with what may wait at the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RlcMode {
    /// Acknowledged mode.
    Acknowledged {
        /// Both sides, apart from the buffer of the user.
        config: rlc::am::AmConfig,
        /// The user's buffer.
        uplink: rlc::Limit,
    },
    /// Unacknowledged mode.
    Unacknowledged {
        /// Both sides, apart from the buffer of the user.
        config: rlc::um::UmConfig,
        /// The user's buffer.
        uplink: rlc::Limit,
    },
}

/// How users come to send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Uplink {
    /// With grants or without.
    pub access: Access,
    /// SINR of users whose downlink comes from a trace, in dB over the blocks they send on.
    pub traced_sinr_db: f64,
    /// Power of users that have a place, in dBm.
    pub power_dbm: f64,
    /// Noise figure of the base stations, in dB.
    pub noise_figure_db: f64,
    /// Most that a scheduling request is answered with, in bytes.
    pub first_grant: u64,
    /// Grants that nobody asked for, if any.
    pub prescheduling: Option<Prescheduling>,
    /// TTIs of a random access that takes the place of a scheduling request.
    pub random_access: u64,
}

/// Small grants without a request, for some time after the last uplink data: what has come since the last
/// report is told in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prescheduling {
    /// TTIs from one to the next, at least 1.
    pub interval: u64,
    /// TTIs after the last data.
    pub duration: u64,
    /// Bytes of each, at the most.
    pub grant: u64,
}

/// What a user needs before it sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// A grant, asked for by scheduling request and buffer status report.
    Granted {
        /// Who decides when a report is sent.
        protocol: uplink::GrantProtocol,
        /// Whether reports are brought forward as kim2016-thesis has it.
        enhanced: bool,
        /// Timers of reports, in TTIs.
        timers: uplink::Timers,
        /// Scheduling requests, in TTIs.
        request: uplink::RequestConfig,
    },
    /// Nothing: every uplink interval is open to it (configured grants, TS 38.321 clause 5.8.2).
    Configured,
}

/// One user.
#[derive(Clone, Debug)]
pub struct User {
    /// What it receives.
    pub channel: Channel,
    /// How fast it moves where that does not follow from its place, m/s.
    pub speed_mps: Option<f64>,
    /// Whether its capacity is followed and its TTIs are written down.
    pub observed: bool,
}

/// What a user receives.
#[derive(Clone, Debug)]
pub enum Channel {
    /// A mean over time from one cell, number 0, with fading around it.
    Traced(Box<FadedSinr<SinrTrace>>),
    /// What arrives from all cells where it is.
    Placed(Box<Reception>),
}

/// A user, by its place in [`RanConfig::users`].
pub type UserId = u32;

/// Where data go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// To the user.
    Down,
    /// From the user.
    Up,
}

impl RanConfig {
    /// Returns the times of handovers. Users measure, and buffers are forwarded after a failure, also where there is
    /// no handover.
    pub(super) fn timing(&self) -> &Handover {
        static USUAL: LazyLock<Handover> = LazyLock::new(Handover::default);
        self.handover.as_ref().unwrap_or(&USUAL)
    }

    /// What of their power cells transmit, where each uses its share of the resource blocks.
    pub(super) const fn activity<'a>(&self, shares: &'a [f32]) -> Activity<'a> {
        match self.load {
            Load::Full => Activity::Full,
            Load::Actual => Activity::Shares(shares),
        }
    }

    /// The cell that serves a user first is the strongest at the start.
    pub(super) fn first_cell(&self, user: &User) -> CellId {
        match &user.channel {
            Channel::Traced(_) => 0,
            Channel::Placed(reception) => {
                let power =
                    |cell: &CellId| reception.rsrp_dbm(units::Instant::ZERO, *cell as usize);
                let cells = 0..self.cells as CellId;
                cells
                    .max_by(|a, b| power(a).total_cmp(&power(b)))
                    .unwrap_or(0)
            }
        }
    }
}
