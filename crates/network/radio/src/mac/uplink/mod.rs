//! Uplink: scheduling requests, buffer status reports and grants.
//!
//! Two protocols decide when a report is sent: [`Kim2016`], the flow charts of kim2016-thesis
//! chapter 3 with exact byte counts, and [`Ts36321`], TS 36.321 clauses 5.4.4 and 5.4.5. Both have
//! the enhancement of the thesis as an option: the grant with which the grants since the last report add up to the
//! reported bytes carries a regular report.
//!
//! The order within a subframe is: [`BsrReporter::poll`], grants, new data. A PDU is built when its grant
//! arrives and sent four subframes later.

mod bsr_table;
mod grants;
mod kim2016;
mod scheduling_request;
mod ts36321;

use bsr_table::reported_bytes;
pub use grants::GrantAccount;
pub use kim2016::Kim2016;
pub use scheduling_request::{RequestConfig, SchedulingRequest};
pub use ts36321::Ts36321;

pub use crate::settings::GrantProtocol;
use crate::settings::Technology;

/// Subframes from a grant to the transmission it allows (FDD, TS 36.213 clause 8).
pub const GRANT_TO_TRANSMISSION: u64 = 4;

/// Expiry of a timer that does not run.
const NEVER: u64 = u64::MAX;

/// periodicBSR-Timer and retxBSR-Timer, in subframes (TS 36.331 clause 6.3.2, MAC-MainConfig).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timers {
    periodic: Option<u64>,
    retransmission: u64,
}

/// Values of periodicBSR-Timer, apart from infinity, in subframes.
pub(crate) const PERIODIC_BSR: [u64; 14] = [
    5, 10, 16, 20, 32, 40, 64, 80, 128, 160, 320, 640, 1_280, 2_560,
];

/// Values of retxBSR-Timer, in subframes.
pub(crate) const RETX_BSR: [u64; 6] = [320, 640, 1_280, 2_560, 5_120, 10_240];

/// Values of periodicBSR-Timer in NR, apart from infinity, in subframes (TS 38.331 clause 6.3.2,
/// BSR-Config).
pub(crate) const NR_PERIODIC_BSR: [u64; 15] = [
    1, 5, 10, 16, 20, 32, 40, 64, 80, 128, 160, 320, 640, 1_280, 2_560,
];

/// Values of retxBSR-Timer in NR, in subframes (same clause).
pub(crate) const NR_RETX_BSR: [u64; 11] =
    [10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240];

impl Timers {
    /// Returns timers with these lengths in subframes; `None` is infinity.
    pub const fn new(periodic: Option<u64>, retransmission: u64) -> Self {
        Self {
            periodic,
            retransmission,
        }
    }
}

/// Expiry of both timers, in subframes.
#[derive(Clone, Copy, Debug)]
struct Expiry {
    periodic: u64,
    retransmission: u64,
}

impl Expiry {
    const STOPPED: Self = Self {
        periodic: NEVER,
        retransmission: NEVER,
    };

    fn started(timers: Timers, at: u64) -> Self {
        Self {
            periodic: timers.periodic.map_or(NEVER, |period| at + period),
            retransmission: at + timers.retransmission,
        }
    }
}

/// Cause of a report (TS 36.321 clause 5.4.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Data arrived at an empty buffer, retxBSR-Timer expired, or the enhancement asked for it.
    Regular,
    /// periodicBSR-Timer expired.
    Periodic,
    /// There was room left in the PDU.
    Padding,
}

/// A buffer status report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// Bytes that wait, as the eNB reads them.
    pub bytes: u64,
    /// Cause of the report.
    pub reason: Reason,
}

/// Answer of a UE to a grant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmission {
    /// Subframe in which it is sent.
    pub at: u64,
    /// Bytes of data.
    pub data: u64,
    /// Report in it.
    pub report: Option<Report>,
}

/// Signal that a UE sends without a grant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// Report without data; the thesis does not specify its transmission to the eNB.
    Report(Report),
    /// Scheduling request on the control channel.
    Request,
    /// Random access, after too many scheduling requests without an answer.
    RandomAccess,
}

/// Reporting side of a UE, with either protocol.
#[derive(Clone, Debug)]
pub enum BsrReporter {
    /// Protocol of kim2016-thesis.
    Kim2016(Kim2016),
    /// Protocol of TS 36.321.
    Ts36321(Ts36321),
}

impl BsrReporter {
    /// Returns a UE with an empty buffer.
    pub fn new(
        protocol: GrantProtocol,
        technology: Technology,
        is_enhanced: bool,
        timers: Timers,
        request: RequestConfig,
    ) -> Self {
        match protocol {
            GrantProtocol::Kim2016 => Self::Kim2016(Kim2016::new(timers, is_enhanced)),
            GrantProtocol::Standard => {
                Self::Ts36321(Ts36321::new(technology, timers, is_enhanced, request))
            }
        }
    }

    /// Returns the bytes that wait.
    pub(crate) fn buffered(&self) -> u64 {
        match self {
            Self::Kim2016(ue) => ue.buffered,
            Self::Ts36321(ue) => ue.buffered,
        }
    }

    /// Returns whether a scheduling request has been sent and is pending. The thesis has none.
    pub(crate) fn awaits_grant(&self) -> bool {
        match self {
            Self::Kim2016(_) => false,
            Self::Ts36321(ue) => ue.awaits_grant(),
        }
    }

    /// Sets the bytes that wait, as RLC counts them.
    pub(crate) fn set_buffered(&mut self, bytes: u64) {
        match self {
            Self::Kim2016(ue) => ue.set_buffered(bytes),
            Self::Ts36321(ue) => ue.set_buffered(bytes),
        }
    }

    /// Adds new data to the bytes that wait.
    pub fn enqueue(&mut self, bytes: u64) {
        self.set_buffered(self.buffered() + bytes);
    }

    /// Advances the timers and returns the signal of a subframe. Call it once in each subframe, in order.
    pub fn poll(&mut self, subframe: u64) -> Option<Signal> {
        match self {
            Self::Kim2016(ue) => ue.poll(subframe),
            Self::Ts36321(ue) => ue.poll(subframe),
        }
    }

    /// Builds the PDU for a grant of `bytes` received in `subframe`.
    pub fn grant(&mut self, subframe: u64, bytes: u64) -> Transmission {
        match self {
            Self::Kim2016(ue) => ue.grant(subframe, bytes),
            Self::Ts36321(ue) => ue.grant(subframe, bytes),
        }
    }
}
