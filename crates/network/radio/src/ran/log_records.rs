//! Records and events of a radio access network.

use super::{Direction, UserId};
use crate::handover::{Cause, CellId};

/// One TTI of one user and direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TtiRecord {
    /// Index of the TTI.
    pub tti: u64,
    /// User of the record.
    pub user: UserId,
    /// The cell that serves it.
    pub cell: CellId,
    /// Direction of the data.
    pub direction: Direction,
    /// Effective SINR over the whole carrier, in dB: that of a flat channel with the same mutual information.
    pub sinr_db: f32,
    /// CQI that the scheduler of the downlink has; 0 for none.
    pub cqi: u8,
    /// Block that is sent; `None` if the user sends or gets nothing.
    pub block: Option<BlockRecord>,
    /// The scheme that would be used on the whole carrier.
    pub mcs: u8,
    /// Whether there was nothing to send, although the user could have been served.
    pub wasted: bool,
    /// Bytes of packets that wait for their first transmission.
    pub queue_bytes: u64,
    /// Packets that wait.
    pub queue_packets: u32,
    /// Bytes that the TTI could have carried, downlink and uplink, on the resource blocks that no other user has and
    /// without retransmissions.
    pub capacity: [u32; 2],
}

/// Signalling of one cell in one TTI.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ControlRecord {
    /// Cell of the record.
    pub cell: CellId,
    /// Control channel elements of the PDCCH.
    pub elements: u32,
    /// Number of elements that carry messages.
    pub occupied: u32,
    /// Number of messages without room.
    pub blocked: u32,
    /// Counts of the uplink.
    pub uplink: UplinkSignals,
}

/// Signals of the uplink of one cell in one TTI.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct UplinkSignals {
    /// Buffer status reports that UEs have sent.
    pub reports: u32,
    /// Scheduling requests and random accesses that UEs have sent.
    pub requests: u32,
    /// Grants that UEs were given.
    pub grants: u32,
}

/// A transport block on air.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlockRecord {
    /// Modulation and coding scheme.
    pub mcs: u8,
    /// Transport block size in bytes.
    pub bytes: u32,
    /// Bytes of packets in it, without headers, status reports and padding.
    pub payload: u32,
    /// Number of its transmissions, this one included.
    pub attempt: u8,
    /// Block error rate after this attempt.
    pub bler: f32,
    /// Whether this attempt is the first that was decoded; a later one follows a lost acknowledgement.
    pub decoded: bool,
    /// Resource blocks.
    pub prbs: u16,
}

/// Event of the connection of a user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionEvent {
    /// The command to leave was sent.
    HandoverBegins {
        /// The cell that is left.
        source: CellId,
        /// The target cell.
        target: CellId,
    },
    /// The user has arrived.
    HandoverEnds {
        /// The cell.
        target: CellId,
    },
    /// The connection is lost.
    Failure {
        /// The cell that served.
        cell: CellId,
        /// The reason.
        cause: Cause,
    },
    /// The connection has been recovered.
    Recovered {
        /// The cell.
        cell: CellId,
        /// Whether the context of the user, with its buffers, was kept.
        context: bool,
    },
}
