//! Blackout: a time in which a link loses every packet that it transmits; the packets do not wait for its end.

use config::{FieldContext, FieldError, check_positive, invalid_value, table};
use link_trace::Outage;
use units::{Duration, Instant};

table! {
    /// Time in which a link loses all packets, while it goes on to transmit.
    pub struct Blackout {
        /// Its start; default 0s.
        pub at: Duration,
        /// Its length; compulsory.
        pub duration: Duration,
    }
}

impl Blackout {
    /// Checks that the blackouts of a link have a length, and follow each other.
    pub fn check(all: &[Self]) -> Result<(), FieldError> {
        let mut end = Duration::ZERO;
        for (index, blackout) in all.iter().enumerate() {
            check_positive("duration", blackout.duration).in_table(index)?;
            if blackout.at < end {
                return invalid_value(
                    format!("{index}.at"),
                    blackout.at.to_string(),
                    format!("{end}, the end of the one before, or later"),
                );
            }
            end = blackout.at + blackout.duration;
        }
        Ok(())
    }
}

/// Blackouts of a link in the order of time.
#[derive(Clone, Debug)]
pub(crate) struct Blackouts {
    all: Vec<Blackout>,
    /// Index of the first one that has not ended.
    next: usize,
}

impl Blackouts {
    pub(crate) fn new(all: &[Blackout]) -> Self {
        Self {
            all: all.to_vec(),
            next: 0,
        }
    }

    /// Returns the first blackout of at least `min_length` after `from`; what was before `from` is cut off.
    pub(crate) fn next_outage(&self, from: Instant, min_length: Duration) -> Option<Outage> {
        let outages = self.all.iter().map(|blackout| Outage {
            start: from.max(Instant::ZERO + blackout.at),
            end: Instant::ZERO + blackout.at + blackout.duration,
        });
        let mut following = outages.filter(|outage| outage.end > from);
        following.find(|outage| outage.is_at_least(min_length))
    }

    /// Returns whether a transmission that ends at `at` is lost. Times may not decrease.
    #[inline]
    pub(crate) fn covers(&mut self, at: Instant) -> bool {
        while let Some(blackout) = self.all.get(self.next) {
            let since_start = at.since_start();
            if since_start < blackout.at {
                return false;
            }
            if since_start < blackout.at + blackout.duration {
                return true;
            }
            self.next += 1;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_transmitted_from_the_start_until_the_end_is_lost() {
        let blackout = |at, duration| Blackout {
            at: Duration::from_millis(at),
            duration: Duration::from_millis(duration),
        };
        let mut blackouts = Blackouts::new(&[blackout(10, 5), blackout(15, 1), blackout(30, 2)]);
        let lost: Vec<u64> = (0..40)
            .filter(|&ms| blackouts.covers(Instant::ZERO + Duration::from_millis(ms)))
            .collect();
        assert_eq!(lost, [10, 11, 12, 13, 14, 15, 30, 31]);
    }
}
