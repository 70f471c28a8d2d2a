//! Assembler: reassembles SDUs from segments in sequence (TS 36.322 clauses 5.1.2.2 and 5.1.3.2).

use super::{Sdu, Segment};

/// Reassembly of one SDU at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Assembler {
    /// The SDU whose first segments have arrived, and the offset of its next segment.
    open: Option<(Sdu, u32)>,
}

impl Assembler {
    /// Processes the next segment in sequence. A segment that does not continue the open SDU drops that SDU.
    pub(super) fn push(&mut self, segment: &Segment, delivered: &mut Vec<Sdu>) {
        let continues = match self.open {
            Some((sdu, next)) => sdu == segment.sdu && next == segment.offset,
            None => false,
        };
        if !continues && segment.offset != 0 {
            self.open = None;
            return;
        }
        if segment.is_last() {
            self.open = None;
            delivered.push(segment.sdu);
        } else {
            self.open = Some((segment.sdu, segment.offset + segment.len));
        }
    }

    /// Drops the open SDU, because its next segment is lost.
    pub(super) fn on_gap(&mut self) {
        self.open = None;
    }
}
