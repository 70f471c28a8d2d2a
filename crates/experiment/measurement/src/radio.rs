//! Rows and events of the radio access network.

use net::Packet;
use radio::handover::Cause;
use radio::ran::{ConnectionEvent, ControlRecord, Direction, TtiRecord};
use results::{ControlRow, TtiRow, UplinkRow};
use units::Instant;

/// Returns the row of a TTI.
pub(crate) fn tti_row(at: Instant, record: &TtiRecord) -> TtiRow {
    let block = record.block;
    TtiRow {
        t_ns: at.as_nanos(),
        ue: record.user,
        cell: record.cell,
        uplink: u32::from(record.direction == Direction::Up),
        sinr_db: f64::from(record.sinr_db),
        cqi: u32::from(record.cqi),
        mcs: u32::from(block.map_or(record.mcs, |block| block.mcs)),
        tbs_bytes: block.map_or(0, |block| block.bytes),
        payload_bytes: block.map_or(0, |block| block.payload),
        attempt: block.map_or(0, |block| u32::from(block.attempt)),
        bler: block.map_or(f64::NAN, |block| f64::from(block.bler)),
        decoded: block.map_or(0, |block| u32::from(block.decoded)),
        prbs: block.map_or(0, |block| u32::from(block.prbs)),
        wasted: u32::from(record.wasted),
        queue_bytes: record.queue_bytes,
        queue_packets: record.queue_packets,
    }
}

/// Returns the row of the signalling of a cell in a TTI.
pub(crate) fn control_row(at: Instant, record: &ControlRecord) -> ControlRow {
    ControlRow {
        t_ns: at.as_nanos(),
        cell: record.cell,
        elements: record.elements,
        taken: record.occupied,
        blocked: record.blocked,
        reports: record.uplink.reports,
        requests: record.uplink.requests,
        grants: record.uplink.grants,
    }
}

/// Returns the row of a packet that a base station has received from a UE.
pub(crate) fn uplink_row(at: Instant, ue: u32, packet: &Packet) -> UplinkRow {
    UplinkRow {
        flow: packet.flow,
        ue,
        t_ns: at.as_nanos(),
        bytes: packet.size,
        delay_ms: at.saturating_since(packet.sent_at).as_secs_f64() * 1e3,
    }
}

/// Returns kind and detail of an event of an RRC connection.
pub(crate) fn describe_event(event: &ConnectionEvent) -> (&'static str, String) {
    match event {
        ConnectionEvent::HandoverBegins { source, target } => (
            "handover-begins",
            format!("from cell {source} to cell {target}"),
        ),
        ConnectionEvent::HandoverEnds { target } => ("handover", format!("in cell {target}")),
        ConnectionEvent::Failure { cell, cause } => {
            let cause = match cause {
                Cause::Physical => "out of sync",
                Cause::Rlc => "RLC gave up",
                Cause::Handover => "the target was not reached",
            };
            ("radio-link-failure", format!("in cell {cell}: {cause}"))
        }
        ConnectionEvent::Recovered { cell, context } => {
            let mode = if *context {
                "re-established"
            } else {
                "connected anew"
            };
            ("radio-link-recovered", format!("in cell {cell}, {mode}"))
        }
    }
}
