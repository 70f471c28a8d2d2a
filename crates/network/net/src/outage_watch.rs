//! Outage watch: the outages of a wire as the link changes that a middlebox is notified of.

use link_trace::Outage;
use units::Instant;

use crate::blackout::Blackouts;
use crate::{HostId, LinkCapacity, LinkChange, LinkSubscription};

/// Watch of a link: its next change.
pub(crate) struct OutageWatch {
    /// Neighbour to which the link leads.
    pub(crate) to: HostId,
    capacity: LinkCapacity,
    blackouts: Blackouts,
    subscription: LinkSubscription,
    next: Option<(Instant, LinkChange)>,
    /// Outage that the next change belongs to.
    outage: Outage,
}

impl OutageWatch {
    /// Creates the watch of a link with this capacity and these blackouts.
    pub(crate) fn new(
        to: HostId,
        capacity: &LinkCapacity,
        blackouts: &Blackouts,
        subscription: LinkSubscription,
    ) -> Self {
        let mut created = Self {
            to,
            capacity: capacity.clone(),
            blackouts: blackouts.clone(),
            subscription,
            next: None,
            outage: Outage {
                start: Instant::ZERO,
                end: Instant::ZERO,
            },
        };
        created.schedule_outage(Instant::ZERO);
        created
    }

    /// Returns the time of the next change; [`Instant::NEVER`] if there is none.
    pub(crate) fn next_at(&self) -> Instant {
        self.next.map_or(Instant::NEVER, |(at, _)| at)
    }

    /// Removes and returns the change that is due by `now`.
    pub(crate) fn pop_until(&mut self, now: Instant) -> Option<LinkChange> {
        let (_, change) = self.next.filter(|(at, _)| *at <= now)?;
        let Outage { start, end } = self.outage;
        match change {
            LinkChange::Expected => self.next = Some((start, LinkChange::Interrupted)),
            LinkChange::Interrupted if end == Instant::NEVER => self.next = None,
            LinkChange::Interrupted => self.next = Some((end, LinkChange::Restored)),
            LinkChange::Restored => self.schedule_outage(end),
        }
        Some(change)
    }

    /// Schedules the first change of the first outage after `from`.
    fn schedule_outage(&mut self, from: Instant) {
        let min_length = self.subscription.min_length;
        let outages = [
            self.capacity.next_outage(from, Instant::NEVER, min_length),
            self.blackouts.next_outage(from, min_length),
        ];
        let next_outage = outages.into_iter().flatten();
        let next_outage = next_outage.min_by_key(|outage| outage.start);
        self.next = next_outage.map(|outage| {
            self.outage = outage;
            if self.subscription.warning.is_zero() {
                return (outage.start, LinkChange::Interrupted);
            }
            let until_outage = outage.start.since_start();
            let warned_at = Instant::ZERO + until_outage.saturating_sub(self.subscription.warning);
            (warned_at.max(from), LinkChange::Expected)
        });
    }
}

#[cfg(test)]
mod tests {
    use units::{Duration, Instant, Rate};

    use super::OutageWatch;
    use crate::blackout::{Blackout, Blackouts};
    use crate::{HostId, LinkCapacity, LinkChange, LinkSubscription};

    #[test]
    fn a_link_is_expected_to_fail_fails_and_comes_back() {
        let steps = [(0, 8), (1_000, 0), (1_500, 8), (1_600, 0), (2_000, 8)]
            .map(|(at, rate)| (Duration::from_millis(at), Rate::from_bits_per_second(rate)));
        let capacity = LinkCapacity::steps(&steps).unwrap();
        let watch = LinkSubscription {
            warning: Duration::from_millis(200),
            min_length: Duration::from_millis(100),
        };
        let blackout = Blackout {
            at: Duration::from_millis(2_500),
            duration: Duration::from_millis(300),
        };
        let blackouts = Blackouts::new(&[blackout]);
        let mut link = OutageWatch::new(HostId(1), &capacity, &blackouts, watch);
        let mut seen = Vec::new();
        while link.next_at() != Instant::NEVER {
            let at = link.next_at();
            seen.push((at.since_start().as_millis(), link.pop_until(at).unwrap()));
        }
        use LinkChange::{Expected, Interrupted, Restored};
        let first = [(800, Expected), (1_000, Interrupted), (1_500, Restored)];
        let second = [(1_500, Expected), (1_600, Interrupted), (2_000, Restored)];
        let blackout = [(2_300, Expected), (2_500, Interrupted), (2_800, Restored)];
        assert_eq!(seen, [first, second, blackout].concat());
    }
}
