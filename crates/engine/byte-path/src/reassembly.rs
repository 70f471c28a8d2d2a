//! Reassembly: the bytes that a receiver can deliver to its application, from the data that reached it.

use std::collections::BTreeMap;

/// The sequence numbers (64 bits) that have arrived at one receiver.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    next: Option<u64>,
    /// Ends of ranges that arrived out of order, by their starts.
    beyond: BTreeMap<u64, u64>,
}

impl Reassembly {
    /// Sets the number of the first byte.
    pub(crate) fn begin(&mut self, seq: u64) {
        self.next.get_or_insert(seq);
    }

    /// Adds data that arrives and returns how many more bytes are in order.
    pub(crate) fn arrive(&mut self, seq: u64, len: u32) -> u64 {
        let previous = *self.next.get_or_insert(seq);
        let end = seq + u64::from(len);
        let mut next = previous;
        if seq <= next {
            next = next.max(end);
        } else {
            let known = self.beyond.entry(seq).or_insert(end);
            *known = end.max(*known);
        }
        while let Some(first) = self.beyond.first_entry() {
            if *first.key() > next {
                break;
            }
            next = next.max(first.remove());
        }
        self.next = Some(next);
        next - previous
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_holds_back_what_is_behind_it() {
        let mut receiver = Reassembly::default();
        receiver.begin(100);
        assert_eq!(receiver.arrive(100, 10), 10);
        assert_eq!(receiver.arrive(120, 10), 0);
        assert_eq!(receiver.arrive(130, 10), 0);
        assert_eq!(receiver.arrive(120, 10), 0);
        assert_eq!(receiver.arrive(105, 15), 30);
        assert_eq!(receiver.arrive(100, 10), 0);
    }
}
