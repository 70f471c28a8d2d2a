//! Segment outcomes: how each data segment ended, recorded with a capture to validate its analysis.

use std::collections::HashMap;

use net::{DropReason, Packet};
use results::FateRow;
use units::Instant;

/// Returns the name of the reason of a drop in the tables.
pub(crate) const fn name_of(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Mtu => "mtu",
        DropReason::Overflow => "overflow",
        DropReason::Aqm => "aqm",
        DropReason::Policer => "policer",
        DropReason::Loss => "loss",
        DropReason::Reset => "reset",
        DropReason::Radio => "radio",
    }
}

/// Data segments of a run, in the order of sending.
#[derive(Clone, Debug, Default)]
pub(crate) struct SegmentOutcomes {
    rows: Vec<FateRow>,
    /// End of the highest byte reported to the sender of each flow.
    reported: HashMap<u32, u64>,
    /// Row of each packet on its way.
    under_way: HashMap<u64, usize>,
}

impl SegmentOutcomes {
    /// Adds a data segment, with the sequence number of its first byte and its length, bytes.
    pub(crate) fn on_sent(&mut self, at: Instant, packet: &Packet, (seq, len): (u64, u32)) {
        self.under_way.insert(packet.id, self.rows.len());
        self.rows.push(FateRow {
            flow: packet.flow,
            seq,
            len,
            sent_ns: at.as_nanos(),
            ended_ns: u64::MAX,
            reported: self.reported.get(&packet.flow).copied().unwrap_or(0),
            fate: "under way".to_owned(),
        });
    }

    /// Processes an ACK or SACK block up to `edge` that has reached the sender of a flow.
    pub(crate) fn on_report(&mut self, flow: u32, edge: u64) {
        let highest = self.reported.entry(flow).or_default();
        *highest = edge.max(*highest);
    }

    pub(crate) fn on_received(&mut self, at: Instant, packet: &Packet) {
        self.end(at, packet, "received");
    }

    pub(crate) fn on_dropped(&mut self, at: Instant, packet: &Packet, reason: DropReason) {
        self.end(at, packet, name_of(reason));
    }

    fn end(&mut self, at: Instant, packet: &Packet, fate: &str) {
        if let Some(row) = self.under_way.remove(&packet.id) {
            let row = &mut self.rows[row];
            row.ended_ns = at.as_nanos();
            fate.clone_into(&mut row.fate);
        }
    }

    pub(crate) fn finish(self) -> Vec<FateRow> {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_segment_has_one_row_with_its_end() {
        let mut fates = SegmentOutcomes::default();
        let packet = |id| Packet {
            id,
            ..Packet::default()
        };
        for id in 0..3 {
            fates.on_sent(Instant::from_nanos(id), &packet(id), (id * 100, 100));
        }
        fates.on_dropped(Instant::from_nanos(10), &packet(1), DropReason::Overflow);
        fates.on_received(Instant::from_nanos(20), &packet(0));
        let rows = fates.finish();
        assert_eq!(rows[2].reported, 0);
        let outcomes: Vec<_> = rows
            .iter()
            .map(|r| (r.seq, r.fate.as_str(), r.ended_ns))
            .collect();
        assert_eq!(
            outcomes,
            [
                (0, "received", 20),
                (100, "overflow", 10),
                (200, "under way", u64::MAX)
            ]
        );
    }
}
