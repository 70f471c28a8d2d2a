//! Grants: the eNB's estimate of the bytes that wait at a UE.

use std::collections::VecDeque;

/// Reported buffer minus granted bytes.
#[derive(Clone, Debug, Default)]
pub struct GrantAccount {
    ungranted: u64,
    /// Subframe and bytes of granted transmissions that are not due yet.
    granted: VecDeque<(u64, u64)>,
}

impl GrantAccount {
    /// Returns the bytes that are reported and not granted.
    pub fn ungranted(&self) -> u64 {
        self.ungranted
    }

    /// Processes a report of `bytes` that was sent in `subframe`. It counts the bytes that remained after that
    /// transmission, so grants for later ones are still to be subtracted.
    pub fn report(&mut self, subframe: u64, bytes: u64) {
        self.expire(subframe);
        let later: u64 = self.granted.iter().map(|(_, bytes)| bytes).sum();
        self.ungranted = bytes.saturating_sub(later);
    }

    /// Processes a scheduling request, which is answered by a grant of at least `bytes`.
    pub fn request(&mut self, bytes: u64) {
        self.ungranted = self.ungranted.max(bytes);
    }

    /// Notes that `bytes` are granted for a transmission in `subframe`.
    pub fn grant(&mut self, subframe: u64, bytes: u64) {
        self.ungranted = self.ungranted.saturating_sub(bytes);
        self.granted.push_back((subframe, bytes));
    }

    /// Removes grants for transmissions up to `subframe`.
    pub(crate) fn expire(&mut self, subframe: u64) {
        while self.granted.front().is_some_and(|&(at, _)| at <= subframe) {
            self.granted.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_on_their_way_count_against_a_report() {
        let mut ledger = GrantAccount::default();
        ledger.report(100, 3_000);
        for subframe in 108..111 {
            ledger.grant(subframe, 1_000);
        }
        assert_eq!(ledger.ungranted(), 0);
        // Built in 104 and sent in 108, when 2500 bytes were left; 2000 are granted already.
        ledger.report(108, 2_500);
        assert_eq!(ledger.ungranted(), 500);
    }
}
