//! Status reports and their size (clauses 5.2.3 and 6.2.1.6).

use super::SnLength;
use super::receiver::Receiver;
use crate::rlc::{Nack, StatusPdu};
use crate::settings::Rlc;
use units::Instant;

impl SnLength {
    /// Returns the bits of a status report without negative acknowledgements: D/C, CPT, ACK_SN, E1.
    const fn status_bits(self) -> u32 {
        match self {
            Self::Bits10 => 1 + 3 + 10 + 1,
            Self::Bits16 => 1 + 3 + 16 + 1,
            Self::Bits12 => 1 + 3 + 12 + 1 + 7,
            Self::Bits18 => 1 + 3 + 18 + 1 + 1,
        }
    }

    /// Returns the bits of NACK_SN, E1 and E2, with SOstart and SOend for a part of a PDU.
    const fn nack_bits(self, is_part: bool) -> u32 {
        match (self, is_part) {
            (Self::Bits10, false) => 10 + 2,
            (Self::Bits10, true) => 10 + 2 + 2 * 15,
            (Self::Bits16, false) => 16 + 2,
            (Self::Bits16, true) => 16 + 2 + 2 * 16,
            (Self::Bits12, false) => 12 + 3 + 1,
            (Self::Bits12, true) => 12 + 3 + 1 + 2 * 16,
            (Self::Bits18, false) => 18 + 3 + 3,
            (Self::Bits18, true) => 18 + 3 + 3 + 2 * 16,
        }
    }
}

/// Returns a sequence number as its field has it.
fn wrapped_sn(config: &Rlc, sn: u64) -> u32 {
    (sn % config.am_sn().modulus()) as u32
}

impl Receiver {
    /// Returns the bytes of the report that would be sent now; zero if none is due.
    pub(super) fn status_bytes(&self, now: Instant) -> u64 {
        if !self.status_triggered || now < self.prohibited_until {
            return 0;
        }
        let mut bits = self.config.am_sn().status_bits();
        self.for_each_missing(|_, parts| {
            bits += if parts == 0 {
                self.config.am_sn().nack_bits(false)
            } else {
                parts * self.config.am_sn().nack_bits(true)
            };
            true
        });
        u64::from(bits.div_ceil(8))
    }

    /// Calls `on_missing` with each missing PDU below VR(MS) and its number of missing parts (zero for the whole PDU) until
    /// `on_missing` returns false. Returns the number at which it stopped.
    fn for_each_missing(&self, mut on_missing: impl FnMut(u64, u32) -> bool) -> u64 {
        for sn in self.next..self.max_status {
            let parts = match self.slot(sn) {
                Some(slot) if slot.is_complete => continue,
                Some(slot) => {
                    let mut parts = 0;
                    slot.missing(|_, _| parts += 1);
                    parts
                }
                None => 0,
            };
            if !on_missing(sn, parts) {
                return sn;
            }
        }
        self.max_status
    }

    /// Writes a report of at most `room` bytes. Returns false if not even an empty one fits. Missing PDUs that do
    /// not fit are above ACK_SN (clause 5.2.3).
    pub(super) fn write_report(&mut self, now: Instant, room: u32, status: &mut StatusPdu) -> bool {
        let config = self.config;
        let mut bits = config.am_sn().status_bits();
        let limit = room.saturating_mul(8);
        status.nacks.clear();
        if bits > limit {
            return false;
        }
        let ack = self.for_each_missing(|sn, parts| {
            let number = wrapped_sn(&config, sn);
            let parts_bits = parts * config.am_sn().nack_bits(true);
            if parts > 0 && bits + parts_bits <= limit {
                bits += parts_bits;
                if let Some(slot) = self.slot(sn) {
                    slot.missing(|from, to| {
                        let range = Some((from, to));
                        status.nacks.push(Nack { sn: number, range });
                    });
                }
                return true;
            }
            // A request for the whole PDU takes less room than the list of its missing parts.
            let whole_bits = config.am_sn().nack_bits(false);
            if bits + whole_bits > limit {
                return false;
            }
            bits += whole_bits;
            let range = None;
            status.nacks.push(Nack { sn: number, range });
            true
        });
        status.ack_sn = wrapped_sn(&config, ack);
        status.bytes = bits.div_ceil(8);
        self.status_triggered = false;
        self.prohibited_until = now + config.status_prohibit;
        true
    }
}
