//! PDCP as far as it affects TCP: its header, and delivery in order without duplicates over a handover (TS 36.323
//! clause 5.1.2.1.2).
//!
//! The id of an SDU is its COUNT, which both sides store.

use super::Sdu;

/// Length of the sequence number (TS 36.323 clause 6.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SnLength {
    /// 12 bits.
    #[default]
    Bits12,
    /// 18 bits.
    Bits18,
}

impl SnLength {
    /// Returns the bytes of the header of a data PDU (clauses 6.2.3, 6.2.4 and 6.2.11).
    pub const fn header(self) -> u32 {
        match self {
            Self::Bits12 => 2,
            Self::Bits18 => 3,
        }
    }

    /// Returns Reordering_Window (clause 7.2).
    const fn window(self) -> u64 {
        match self {
            Self::Bits12 => 1 << 11,
            Self::Bits18 => 1 << 17,
        }
    }
}

/// Sending side of a bearer. It outlives its RLC entity.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sender {
    sn: SnLength,
    next: u64,
}

impl Sender {
    /// Returns a sender whose first PDU has COUNT zero.
    pub fn new(sn: SnLength) -> Self {
        Self { sn, next: 0 }
    }

    /// Returns the PDU, as an SDU for RLC, of a packet of `len` bytes. Its `id` is its COUNT.
    pub fn number(&mut self, len: u32) -> Sdu {
        let id = self.next;
        self.next += 1;
        Sdu {
            id,
            len: len + self.sn.header(),
        }
    }
}

/// Receiving side of a bearer on RLC AM. It outlives its RLC entity.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    sn: SnLength,
    /// COUNT after the last one delivered.
    next: u64,
    /// PDUs beyond a gap, in order. Only a handover leaves any.
    stored: Vec<Sdu>,
}

impl Receiver {
    /// Returns a receiver that has delivered nothing.
    pub fn new(sn: SnLength) -> Self {
        Self {
            sn,
            ..Self::default()
        }
    }

    /// Processes a PDU from RLC. `is_reestablishing` says whether RLC delivers it because it is being re-established. Only
    /// then may the target cell still fill a gap.
    pub fn receive(&mut self, pdu: Sdu, is_reestablishing: bool, delivered: &mut Vec<Sdu>) {
        if pdu.id < self.next || pdu.id - self.next >= self.sn.window() {
            return;
        }
        match self
            .stored
            .binary_search_by_key(&pdu.id, |stored| stored.id)
        {
            Ok(_) => return,
            Err(at) if !self.stored.is_empty() || (is_reestablishing && pdu.id != self.next) => {
                self.stored.insert(at, pdu);
            }
            Err(_) => {
                self.next = pdu.id + 1;
                delivered.push(pdu);
                return;
            }
        }
        // Nothing fills the gaps before this PDU any more: all before it is delivered (TS 36.323 clause 5.1.2.1.2).
        if !is_reestablishing {
            self.next = pdu.id;
        }
        let mut deliverable = 0;
        for stored in &self.stored {
            if stored.id < self.next {
                deliverable += 1;
            } else if stored.id == self.next {
                deliverable += 1;
                self.next += 1;
            } else {
                break;
            }
        }
        delivered.extend(self.stored.drain(..deliverable));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(steps: &[(u64, bool)]) -> Vec<u64> {
        let mut receiver = Receiver::new(SnLength::Bits12);
        let mut delivered = Vec::new();
        for &(id, is_reestablishing) in steps {
            receiver.receive(Sdu { id, len: 100 }, is_reestablishing, &mut delivered);
        }
        delivered.iter().map(|sdu| sdu.id).collect()
    }

    /// TS 36.323 clause 5.1.2.1.2: PDUs that re-established RLC delivers beyond a gap wait for the forwarded ones to
    /// fill it, and duplicates are discarded.
    #[test]
    fn a_handover_neither_reorders_nor_duplicates() {
        let steps = [
            (0, false),
            (2, true),
            (4, true),
            (1, false),
            (3, false),
            (4, false),
            (5, false),
        ];
        assert_eq!(run(&steps), [0, 1, 2, 3, 4, 5]);
    }

    /// Same clause: a PDU that did not come by re-establishment releases all that have a lower COUNT.
    #[test]
    fn what_the_target_does_not_send_again_is_given_up() {
        assert_eq!(
            run(&[(0, false), (2, true), (5, false), (3, false)]),
            [0, 2, 5]
        );
    }

    /// Clause 6.2.3: a data PDU with a 12-bit number has a header of two bytes.
    #[test]
    fn the_header_counts() {
        let mut sender = Sender::new(SnLength::Bits12);
        assert_eq!(sender.number(1_500), Sdu { id: 0, len: 1_502 });
        assert_eq!(sender.number(40), Sdu { id: 1, len: 42 });
    }
}
